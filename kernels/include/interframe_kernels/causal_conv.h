// SPDX-License-Identifier: Apache-2.0
// Causal depthwise convolution with carried state, one sequence a call:
//   y[t, c] = act(sum over j < taps of weight[c, j] * x[t - (taps - 1 - j) * dilation, c]);
// the last tap is the current token; rows before the call come from the state. Taps are added in
// ascending j, in float32.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

enum class ConvActivation : int32_t { kNone = 0, kSilu = 1 };

struct CausalConvParams {
  const float* x = nullptr;       // [num_tokens, num_channels], rows x_row_stride apart
  const float* weight = nullptr;  // [num_channels, num_taps]
  float* state = nullptr;  // [causal_conv_state_rows, num_channels]: the last input rows, oldest
                           // first, zero at the start; advanced in place
  float* y = nullptr;      // [num_tokens, num_channels] contiguous; overlaps nothing read
  int64_t num_tokens = 0;
  int64_t num_channels = 0;
  int64_t num_taps = 0;      // >= 1
  int64_t dilation = 1;      // >= 1
  int64_t x_row_stride = 0;  // elements; 0: num_channels
  ConvActivation activation = ConvActivation::kNone;
};

[[nodiscard]] constexpr int64_t causal_conv_state_rows(int64_t num_taps, int64_t dilation) {
  return (num_taps - 1) * dilation;
}

[[nodiscard]] inline OperatorCost causal_conv_cost(const CausalConvParams& p) {
  const int64_t state = causal_conv_state_rows(p.num_taps, p.dilation);
  return {4 * p.num_channels * (2 * p.num_tokens + p.num_taps + 2 * state),
          2 * p.num_tokens * p.num_channels * p.num_taps};
}

[[nodiscard]] LaunchStatus causal_conv_reference(const CausalConvParams& params,
                                                 CpuExecutor& executor);

}  // namespace ifr::kernels
