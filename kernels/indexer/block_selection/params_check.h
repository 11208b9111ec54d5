// SPDX-License-Identifier: Apache-2.0
// What the reference and the launcher refuse alike.
#pragma once

#include <cstdint>

#include "interframe_kernels/block_selection.h"

namespace ifr::kernels::block_selection {

[[nodiscard]] inline bool is_aligned(const void* pointer, uintptr_t alignment) {
  return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

[[nodiscard]] inline LaunchStatus refuse(LaunchCode code, const char* what, int64_t value) {
  return {.code = code, .what = what, .value = value, .driver_code = 0};
}

[[nodiscard]] inline LaunchStatus refuse_alignment(const char* what, const void* pointer) {
  return refuse(LaunchCode::kInvalidArgument, what,
                static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer) & 0xff));
}

// Shape, stride, nulls and natural alignment. Zero rows pass whatever the pointers are.
[[nodiscard]] inline LaunchStatus check_params(const BlockSelectionParams& params) {
  if (const LaunchStatus status = check_block_selection_shape(params.shape); !status.is_ok()) {
    return status;
  }
  if (params.shape.num_rows == 0) {
    return {};
  }
  if (params.scores_stride < params.shape.row_len) {
    return refuse(LaunchCode::kInvalidArgument, "scores_stride is below row_len",
                  params.scores_stride);
  }
  if (params.scores == nullptr && params.shape.row_len > 0) {
    return refuse(LaunchCode::kInvalidArgument, "scores is null", 0);
  }
  if (params.indices == nullptr) {
    return refuse(LaunchCode::kInvalidArgument, "indices is null", 0);
  }
  if (params.counts == nullptr) {
    return refuse(LaunchCode::kInvalidArgument, "counts is null", 0);
  }
  if (!is_aligned(params.scores, alignof(float))) {
    return refuse_alignment("scores is misaligned (low address byte)", params.scores);
  }
  if (!is_aligned(params.live_counts, alignof(int32_t))) {
    return refuse_alignment("live_counts is misaligned (low address byte)", params.live_counts);
  }
  if (!is_aligned(params.indices, alignof(int32_t))) {
    return refuse_alignment("indices is misaligned (low address byte)", params.indices);
  }
  if (!is_aligned(params.counts, alignof(int32_t))) {
    return refuse_alignment("counts is misaligned (low address byte)", params.counts);
  }
  if (!is_aligned(params.chosen_scores, alignof(float))) {
    return refuse_alignment("chosen_scores is misaligned (low address byte)", params.chosen_scores);
  }
  return {};
}

}  // namespace ifr::kernels::block_selection
