// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/causal_conv.h"

#include <cstring>

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

constexpr int64_t kStripLen = 64;  // channels that one step keeps in registers and cache

// Row of input `row`, counted from the call's first; negative ones are in the state.
const float* input_row(const CausalConvParams& params, int64_t row) {
  if (row >= 0) {
    return params.x + row * stride_or(params.x_row_stride, params.num_channels);
  }
  const int64_t state_rows = causal_conv_state_rows(params.num_taps, params.dilation);
  return params.state + (state_rows + row) * params.num_channels;
}

void convolve_row(const CausalConvParams& params, int64_t token, int64_t first, int64_t len) {
  float sum[kStripLen] = {};
  for (int64_t j = 0; j < params.num_taps; ++j) {
    const float* x = input_row(params, token - (params.num_taps - 1 - j) * params.dilation) + first;
    const float* weight = params.weight + first * params.num_taps + j;
    for (int64_t c = 0; c < len; ++c) {
      sum[c] += weight[c * params.num_taps] * x[c];
    }
  }
  float* y = params.y + token * params.num_channels + first;
  if (params.activation == ConvActivation::kSilu) {
    for (int64_t c = 0; c < len; ++c) {
      y[c] = silu(sum[c]);
    }
  } else {
    std::memcpy(y, sum, static_cast<size_t>(len) * sizeof(float));
  }
}

// The last rows of [state, x] become the state; ascending, so that no row is read after it changed.
void advance_state(const CausalConvParams& params, int64_t first, int64_t len) {
  const int64_t state_rows = causal_conv_state_rows(params.num_taps, params.dilation);
  for (int64_t i = 0; i < state_rows; ++i) {
    const float* from = input_row(params, params.num_tokens - state_rows + i) + first;
    std::memcpy(params.state + i * params.num_channels + first, from,
                static_cast<size_t>(len) * sizeof(float));
  }
}

}  // namespace

LaunchStatus causal_conv_reference(const CausalConvParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_channels <= 0) {
    return invalid("num_tokens or num_channels", params.num_tokens);
  }
  if (params.num_taps < 1 || params.dilation < 1) {
    return invalid("num_taps or dilation", params.num_taps);
  }
  if (params.x == nullptr || params.weight == nullptr || params.y == nullptr ||
      (params.state == nullptr && params.num_taps > 1)) {
    return invalid("x, weight, y or state is null");
  }
  const int64_t num_strips = (params.num_channels + kStripLen - 1) / kStripLen;
  const int64_t work = kStripLen * params.num_tokens * (params.num_taps + 8);
  for_each_item(executor, num_strips, work, [&](int64_t i) {
    const int64_t first = i * kStripLen;
    const int64_t len = std::min(kStripLen, params.num_channels - first);
    for (int64_t t = 0; t < params.num_tokens; ++t) {
      convolve_row(params, t, first, len);
    }
    advance_state(params, first, len);
  });
  return {};
}

}  // namespace ifr::kernels
