// SPDX-License-Identifier: Apache-2.0
// Root-mean-square norms, all arithmetic in float32.
//   rms_norm:       y = x * rsqrt(mean(x^2) + eps) * w, per group; w or (1 + w) as `centre` says
//   gated_rms_norm: y = x * rsqrt(mean(x^2) + eps) * w * act(z), per head
// The mean of squares is summed in 16 lanes and a fixed tree, so a row's bits depend on the row
// alone.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

enum class NormCentre : int32_t {
  kAsIs = 0,  // factor w
  kZero = 1,  // weights are stored zero-centred: factor 1 + w
};

enum class GateActivation : int32_t { kSigmoid = 0, kSilu = 1 };

// Strides in elements. Heads inside a wider row (query beside its gate) are groups with a stride.
struct RmsNormParams {
  const float* x = nullptr;       // [num_tokens, num_groups, group_len]
  const float* weight = nullptr;  // [num_groups, group_len], or [group_len] with
                                  // weight_group_stride 0
  float* y = nullptr;  // [num_tokens, num_groups, group_len]; may be x with equal strides
  int64_t num_tokens = 0;
  int64_t num_groups = 1;
  int64_t group_len = 0;
  int64_t x_row_stride = 0;
  int64_t x_group_stride = 0;
  int64_t y_row_stride = 0;
  int64_t y_group_stride = 0;
  int64_t weight_group_stride = 0;  // 0: one weight for every group
  float eps = 1e-6F;
  NormCentre centre = NormCentre::kAsIs;
};

struct GatedRmsNormParams {
  const float* x = nullptr;  // [num_tokens, num_heads, head_dim]
  const float* z = nullptr;  // [num_tokens, num_heads, head_dim]: the gate before its activation
  const float* weight = nullptr;  // [head_dim], not zero-centred
  float* y = nullptr;             // [num_tokens, num_heads, head_dim]; may be x
  int64_t num_tokens = 0;
  int64_t num_heads = 0;
  int64_t head_dim = 0;
  float eps = 1e-6F;
  GateActivation activation = GateActivation::kSigmoid;
};

// A params with contiguous rows: [T, groups * group_len] in and out.
// weight: [groups * group_len].
[[nodiscard]] inline RmsNormParams rms_norm_contiguous(const float* x, const float* weight,
                                                       float* y, int64_t num_tokens,
                                                       int64_t num_groups, int64_t group_len) {
  RmsNormParams p;
  p.x = x;
  p.weight = weight;
  p.y = y;
  p.num_tokens = num_tokens;
  p.num_groups = num_groups;
  p.group_len = group_len;
  p.x_row_stride = num_groups * group_len;
  p.x_group_stride = group_len;
  p.y_row_stride = num_groups * group_len;
  p.y_group_stride = group_len;
  p.weight_group_stride = group_len;
  return p;
}

[[nodiscard]] inline OperatorCost rms_norm_cost(const RmsNormParams& p) {
  const int64_t weights = p.weight_group_stride == 0 ? p.group_len : p.num_groups * p.group_len;
  const int64_t elements = p.num_tokens * p.num_groups * p.group_len;
  return {4 * (2 * elements + weights), 4 * elements};
}

[[nodiscard]] inline OperatorCost gated_rms_norm_cost(const GatedRmsNormParams& p) {
  const int64_t elements = p.num_tokens * p.num_heads * p.head_dim;
  return {4 * (3 * elements + p.head_dim), 9 * elements};
}

[[nodiscard]] LaunchStatus rms_norm_reference(const RmsNormParams& params, CpuExecutor& executor);
[[nodiscard]] LaunchStatus gated_rms_norm_reference(const GatedRmsNormParams& params,
                                                    CpuExecutor& executor);

}  // namespace ifr::kernels
