// SPDX-License-Identifier: Apache-2.0
// What the CPU operators share: refusals, the split of work over threads, activations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "interframe_kernels/cpu_executor.h"
#include "interframe_kernels/launch.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr::kernels {

inline LaunchStatus invalid(const char* what, int64_t value = 0) {
  return {LaunchCode::kInvalidArgument, what, value, 0};
}

inline LaunchStatus unsupported(const char* what, int64_t value = 0) {
  return {LaunchCode::kUnsupported, what, value, 0};
}

// Work that a range must hold before another thread is worth waking, in multiply-adds or so.
inline constexpr int64_t kWorkPerRange = 32768;

[[nodiscard]] inline int64_t range_grain(int64_t work_per_item) {
  return std::max<int64_t>(1, kWorkPerRange / std::max<int64_t>(1, work_per_item));
}

// Calls function(i) for every i of [0, count), on any thread.
template <typename F>
void for_each_item(CpuExecutor& executor, int64_t count, int64_t work_per_item, F&& function) {
  executor.parallel_for(count, range_grain(work_per_item), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      function(i);
    }
  });
}

[[nodiscard]] inline int64_t stride_or(int64_t stride, int64_t contiguous) {
  return stride == 0 ? contiguous : stride;
}

[[nodiscard]] inline float sigmoid(float x) {
  return 1.0F / (1.0F + std::exp(-x));
}

[[nodiscard]] inline float silu(float x) {
  return x / (1.0F + std::exp(-x));
}

// Which part of a weight matrix is wrong; kOk when it can be read. Shapes of 0 are refused.
[[nodiscard]] inline LaunchStatus check_weight(const WeightMatrix& weight) {
  if (!is_weight_type(weight.type)) {
    return unsupported("weight type", static_cast<int64_t>(weight.type));
  }
  if (weight.data == nullptr) {
    return invalid("weight data is null");
  }
  if (weight.num_rows <= 0) {
    return invalid("weight rows", weight.num_rows);
  }
  if (weight.row_len <= 0 || weight.row_len % block_len(weight.type) != 0) {
    return invalid("weight row length", weight.row_len);
  }
  return {};
}

}  // namespace ifr::kernels
