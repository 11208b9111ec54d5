// SPDX-License-Identifier: Apache-2.0
// Which tensors a model needs and where in memory they go; then the copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "interframe_kernels/weight_matrix.h"
#include "memory/slab.h"
#include "model/model_file.h"

namespace ifr {

// Destinations are written by load() and must stay where they are until then. A tensor that the
// file does not have is remembered and refused by load().
class WeightPlan {
 public:
  explicit WeightPlan(const ModelFile& file) : file_(file) {}

  // As stored: [product of the leading extents, last extent].
  void matrix(const std::string& name, kernels::WeightMatrix* out);
  // Converted to float32, flat.
  void vector(const std::string& name, const float** out);

  // What load() would take of the budget.
  [[nodiscard]] uint64_t slab_bytes() const { return lay_out(nullptr); }
  // All of them in one slab of `budget`, each aligned to kSlabAlignment. Reads at most
  // kMaxReadBytes at a time and looks at progress.cancel before each. The destinations point into
  // the slab.
  [[nodiscard]] Expected<Slab> load(MemoryBudget& budget, LoadProgress& progress) const;

 private:
  // 4 MiB: some milliseconds of a disk of 1 GB/s, so a cancel is seen well within 100 ms.
  static constexpr uint64_t kMaxReadBytes = uint64_t{4} << 20;

  struct Entry {
    const TensorInfo* tensor = nullptr;
    kernels::WeightMatrix* matrix = nullptr;
    const float** vector = nullptr;
  };

  [[nodiscard]] Status copy(const Entry& entry, std::byte* out, std::vector<std::byte>& staging,
                            LoadProgress& progress) const;
  void add(const std::string& name, Entry entry);
  uint64_t lay_out(std::vector<uint64_t>* offsets) const;

  const ModelFile& file_;
  std::vector<Entry> entries_;
  std::string missing_;  // first name that the file does not have
};

}  // namespace ifr
