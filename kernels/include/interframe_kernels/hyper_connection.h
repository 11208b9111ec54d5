// SPDX-License-Identifier: Apache-2.0
// Low-rank mix of the C residual streams S [T, C * H]:
//   n = grouped_rms(S, 1 + w);  d = silu(W_down n / C);  g = sigmoid(W_up d)
//   m = mean over c of g[c] * n[c];  inject = 2 * sigmoid(W_inject n / C)
// and the way back, S[c] += inject[c] * y. All float32; products as linear.h says.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr::kernels {

class CpuExecutor;

struct HyperConnectionMixParams {
  const float* streams = nullptr;      // [num_tokens, C * H]
  const float* norm_weight = nullptr;  // [C * H], zero-centred
  WeightMatrix down;                   // [R, C * H]
  WeightMatrix up;                     // [C * H, R]
  WeightMatrix inject_weight;          // [C, C * H]; data null at the model's end, which has none
  float* mixed = nullptr;              // [num_tokens, H]
  float* inject = nullptr;             // [num_tokens, C]; not used when inject_weight.data is null
  float* scratch = nullptr;            // [hyper_connection_scratch_len]
  int64_t num_tokens = 0;
  int64_t num_streams = 0;  // C
  int64_t hidden = 0;       // H
  float eps = 1e-6F;
};

struct HyperConnectionInjectParams {
  float* streams = nullptr;       // [num_tokens, C, H], in place
  const float* inject = nullptr;  // [num_tokens, C]
  const float* y = nullptr;       // [num_tokens, H]
  int64_t num_tokens = 0;
  int64_t num_streams = 0;  // C
  int64_t hidden = 0;       // H
};

// Elements of scratch; rank = rows of `down`.
[[nodiscard]] constexpr int64_t hyper_connection_scratch_len(int64_t num_tokens,
                                                             int64_t num_streams, int64_t hidden,
                                                             int64_t rank) {
  return num_tokens * (2 * num_streams * hidden + rank);
}

[[nodiscard]] inline OperatorCost hyper_connection_mix_cost(const HyperConnectionMixParams& p) {
  const int64_t width = p.num_streams * p.hidden;
  const int64_t injects = p.inject_weight.data != nullptr ? p.num_streams : 0;
  const int64_t weights =
      weight_bytes(p.down) + weight_bytes(p.up) + (injects > 0 ? weight_bytes(p.inject_weight) : 0);
  return {weights + 4 * p.num_tokens * (width + p.hidden + injects) + 4 * width,
          p.num_tokens * width * (4 * p.down.num_rows + 2 * injects + 10)};
}

[[nodiscard]] inline OperatorCost hyper_connection_inject_cost(
    const HyperConnectionInjectParams& p) {
  const int64_t width = p.num_streams * p.hidden;
  return {4 * p.num_tokens * (2 * width + p.hidden + p.num_streams), 2 * p.num_tokens * width};
}

[[nodiscard]] LaunchStatus hyper_connection_mix_reference(const HyperConnectionMixParams& params,
                                                          CpuExecutor& executor);
[[nodiscard]] LaunchStatus hyper_connection_inject_reference(
    const HyperConnectionInjectParams& params, CpuExecutor& executor);

}  // namespace ifr::kernels
