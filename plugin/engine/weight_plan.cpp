// SPDX-License-Identifier: Apache-2.0
#include "engine/weight_plan.h"

#include <algorithm>

#include "interframe_kernels/embedding.h"

namespace ifr {

using kernels::WeightMatrix;

void WeightPlan::add(const std::string& name, Entry entry) {
  entry.tensor = file_.find(name);
  if (entry.tensor == nullptr || !kernels::is_weight_type(entry.tensor->type)) {
    if (missing_.empty()) {
      missing_ = name;
    }
    return;
  }
  entries_.push_back(entry);
}

void WeightPlan::matrix(const std::string& name, WeightMatrix* out) {
  add(name, {.matrix = out});
}

void WeightPlan::vector(const std::string& name, const float** out) {
  add(name, {.vector = out});
}

uint64_t WeightPlan::lay_out(std::vector<uint64_t>* offsets) const {
  SlabLayout layout;
  for (const Entry& entry : entries_) {
    const uint64_t num_elements = static_cast<uint64_t>(entry.tensor->num_elements());
    const uint64_t offset = layout.add(entry.vector != nullptr ? num_elements * sizeof(float)
                                                               : entry.tensor->size_bytes);
    if (offsets != nullptr) {
      offsets->push_back(offset);
    }
  }
  return layout.size_bytes();
}

Expected<Slab> WeightPlan::load(MemoryBudget& budget, LoadProgress& progress) const {
  if (!missing_.empty()) {
    return make_error(Code::kInvalidFile, Part::kEngine,
                      "'%s' has no tensor '%s' of a type for weights (F32, F16, BF16, Q8_0, Q4_1)",
                      file_.path().c_str(), missing_.c_str());
  }
  std::vector<uint64_t> offsets;
  const uint64_t slab_bytes = lay_out(&offsets);
  uint64_t total_bytes = 0;
  for (const Entry& entry : entries_) {
    total_bytes += entry.tensor->size_bytes;
  }
  progress.total_bytes.store(total_bytes, std::memory_order_relaxed);
  IFR_ASSIGN_OR_RETURN(
      Slab slab, Slab::create(budget, MemoryKind::kWeights, slab_bytes, "loading the weights"));
  std::vector<std::byte> staging;
  for (size_t i = 0; i < entries_.size(); ++i) {
    IFR_TRY(copy(entries_[i], slab.data() + offsets[i], staging, progress));
  }
  return slab;
}

Status WeightPlan::copy(const Entry& entry, std::byte* out, std::vector<std::byte>& staging,
                        LoadProgress& progress) const {
  const TensorInfo& tensor = *entry.tensor;
  // A whole number of blocks of every type.
  const uint64_t piece_bytes = kMaxReadBytes /
                               static_cast<uint64_t>(kernels::block_bytes(tensor.type)) *
                               static_cast<uint64_t>(kernels::block_bytes(tensor.type));
  const uint64_t block_bytes = static_cast<uint64_t>(kernels::block_bytes(tensor.type));
  const int64_t block_len = kernels::block_len(tensor.type);
  for (uint64_t done = 0; done < tensor.size_bytes;) {
    if (progress.cancel.load(std::memory_order_relaxed)) {
      return make_error(Code::kCancelled, Part::kEngine, "loading '%s' was cancelled",
                        file_.path().c_str());
    }
    const uint64_t size = std::min(piece_bytes, tensor.size_bytes - done);
    if (entry.matrix != nullptr) {
      IFR_TRY(file_.read(tensor, done, {out + done, size}));
    } else {
      staging.resize(size);
      IFR_TRY(file_.read(tensor, done, staging));
      const WeightMatrix piece = {.data = staging.data(),
                                  .type = tensor.type,
                                  .num_rows = 1,
                                  .row_len = static_cast<int64_t>(size / block_bytes) * block_len};
      float* values =
          reinterpret_cast<float*>(out) + static_cast<int64_t>(done / block_bytes) * block_len;
      kernels::decode_row(piece, 0, values);
    }
    done += size;
    progress.done_bytes.fetch_add(size, std::memory_order_relaxed);
  }
  if (entry.vector != nullptr) {
    *entry.vector = reinterpret_cast<const float*>(out);
  } else {
    const int64_t row_len = tensor.shape.back();
    *entry.matrix = {.data = out,
                     .type = tensor.type,
                     .num_rows = tensor.num_elements() / row_len,
                     .row_len = row_len};
  }
  return {};
}

}  // namespace ifr
