// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/block_selection.h"

#include "common/score_key.h"
#include "indexer/block_selection/params_check.h"
#include "interframe_kernels/cpu_executor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <span>

namespace ifr::kernels {
namespace {

static_assert(kBlockSelectionMaxRowLen <= (int64_t{1} << kIndexKeyBits),
              "the index part of a rank key must hold every index of a row");

// Keeps the best of what it was shown in twice the room that the largest k needs: when that is
// full, all but the best k go, so that the work stays linear in what was shown.
class BestKeys {
 public:
  explicit BestKeys(int32_t k) : k_(static_cast<size_t>(k)) {}

  void offer(uint64_t key) {
    if (key > threshold_) {
      keys_[size_++] = key;
      if (size_ == keys_.size()) {
        trim();
      }
    }
  }

  // Ends the offering.
  std::span<const uint64_t> sorted() {
    trim();
    std::sort(keys_.begin(), keys_.begin() + static_cast<ptrdiff_t>(size_), std::greater<>{});
    return {keys_.data(), size_};
  }

 private:
  void trim() {
    if (size_ > k_) {
      const auto last_kept = keys_.begin() + static_cast<ptrdiff_t>(k_ - 1);
      std::nth_element(keys_.begin(), last_kept, keys_.begin() + static_cast<ptrdiff_t>(size_),
                       std::greater<>{});
      size_ = k_;
      threshold_ = *last_kept;
    }
  }

  std::array<uint64_t, 2 * static_cast<size_t>(kBlockSelectionMaxK)> keys_;
  size_t size_ = 0;
  size_t k_;
  uint64_t threshold_ = 0;
};

void select_row(const BlockSelectionParams& params, int64_t row) {
  const int64_t row_len = params.shape.row_len;
  const int32_t k = params.shape.k;
  const int64_t live = params.live_counts == nullptr
                           ? row_len
                           : std::clamp<int64_t>(params.live_counts[row], 0, row_len);
  const float* scores = live == 0 ? nullptr : params.scores + row * params.scores_stride;
  BestKeys best(k);
  for (int64_t i = 0; i < live; ++i) {
    best.offer(rank_key(score_key(std::bit_cast<uint32_t>(scores[i])), static_cast<uint32_t>(i)));
  }
  const std::span<const uint64_t> keys = best.sorted();

  int32_t* indices = params.indices + row * k;
  std::transform(keys.begin(), keys.end(), indices,
                 [](uint64_t key) { return static_cast<int32_t>(rank_key_index(key)); });
  std::fill(indices + keys.size(), indices + k, -1);
  params.counts[row] = static_cast<int32_t>(keys.size());
  if (params.chosen_scores != nullptr) {
    float* chosen = params.chosen_scores + row * k;
    std::transform(keys.begin(), keys.end(), chosen,
                   [](uint64_t key) { return std::bit_cast<float>(rank_key_score_bits(key)); });
    std::fill(chosen + keys.size(), chosen + k, std::bit_cast<float>(kMinusInfBits));
  }
}

}  // namespace

LaunchStatus check_block_selection_shape(const BlockSelectionShape& shape) {
  using block_selection::refuse;
  if (shape.k < 1 || shape.k > kBlockSelectionMaxK) {
    return refuse(LaunchCode::kUnsupported, "k is outside 1..2048", shape.k);
  }
  if (shape.row_len < 0 || shape.row_len > kBlockSelectionMaxRowLen) {
    return refuse(LaunchCode::kUnsupported, "row_len is outside 0..262144", shape.row_len);
  }
  if (shape.num_rows < 0 || shape.num_rows > kBlockSelectionMaxRows) {
    return refuse(LaunchCode::kUnsupported, "num_rows is outside 0..1048576", shape.num_rows);
  }
  return {};
}

OperatorCost block_selection_cost(const BlockSelectionShape& shape) {
  constexpr int64_t kEntryBytes = 4;
  // A row's scores and live count in; its indices and count out.
  const int64_t entries_per_row = shape.row_len + 1 + shape.k + 1;
  return {.bytes = shape.num_rows * entries_per_row * kEntryBytes, .flops = 0};
}

LaunchStatus block_selection_reference(const BlockSelectionParams& params, CpuExecutor& executor) {
  if (const LaunchStatus status = block_selection::check_params(params); !status.is_ok()) {
    return status;
  }
  executor.parallel_for(params.shape.num_rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      select_row(params, row);
    }
  });
  return {};
}

}  // namespace ifr::kernels
