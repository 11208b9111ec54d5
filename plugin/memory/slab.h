// SPDX-License-Identifier: Apache-2.0
// One block of host memory that the budget knows of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/status.h"
#include "memory/budget.h"

namespace ifr {

// Where every part of a slab may begin: a cache line, and the widest vector load.
inline constexpr uint64_t kSlabAlignment = 64;

// Move-only; freed and given back to the budget by the destructor.
class Slab {
 public:
  Slab() = default;
  // Contents undefined, first byte aligned to kSlabAlignment. 0 bytes is a valid, empty slab.
  // Errors: kOverBudget, kOutOfMemory; both name `what`.
  [[nodiscard]] static Expected<Slab> create(MemoryBudget& budget, MemoryKind kind, uint64_t bytes,
                                             const char* what);

  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] const std::byte* data() const { return data_.get(); }
  [[nodiscard]] uint64_t size_bytes() const { return reservation_.bytes(); }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  Reservation reservation_;  // outlives data_
  std::unique_ptr<std::byte, Free> data_;
};

// Where parts of a slab lie, found before the slab is made. Every part begins aligned.
class SlabLayout {
 public:
  // Offset of `bytes` more bytes.
  uint64_t add(uint64_t bytes) {
    const uint64_t offset = size_bytes_;
    size_bytes_ += (bytes + kSlabAlignment - 1) / kSlabAlignment * kSlabAlignment;
    return offset;
  }
  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }

 private:
  uint64_t size_bytes_ = 0;
};

}  // namespace ifr
