// SPDX-License-Identifier: Apache-2.0
// The gated delta rule, one sequence a call. Per value head h (key head h / (Vh / Kh)) and token:
//   q, k = l2norm(q) / sqrt(Dk), l2norm(k), l2norm(x) = x * rsqrt(sum x^2 + 1e-6)
//   M *= exp(-exp(a_log) * softplus(a + dt_bias));  d = sigmoid(b) * (v - M^T k)
//   M += k d^T;  o = M^T q
// All float32, always token after token, so the state does not depend on how a prompt was cut.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

struct GatedDeltaNetParams {
  const float* qkv = nullptr;    // [num_tokens, 2 * Kh * Dk + Vh * Dv]: all q, all k, all v, after
                                 // convolution and silu
  const float* a = nullptr;      // [num_tokens, Vh]
  const float* b = nullptr;      // [num_tokens, Vh]
  const float* a_log = nullptr;  // [Vh]
  const float* dt_bias = nullptr;  // [Vh]
  float* state = nullptr;          // [Vh, Dk, Dv], zero at the start; advanced in place
  float* out = nullptr;            // [num_tokens, Vh, Dv]
  float* scratch = nullptr;        // [gated_delta_net_scratch_len]
  int64_t num_tokens = 0;
  int64_t num_key_heads = 0;    // Kh
  int64_t num_value_heads = 0;  // Vh, a multiple of Kh
  int64_t key_dim = 0;          // Dk
  int64_t value_dim = 0;        // Dv
};

// Elements of scratch; it does not grow with the tokens.
[[nodiscard]] constexpr int64_t gated_delta_net_scratch_len(int64_t num_value_heads,
                                                            int64_t key_dim) {
  return num_value_heads * 2 * key_dim;
}

[[nodiscard]] inline OperatorCost gated_delta_net_cost(const GatedDeltaNetParams& p) {
  const int64_t state = p.num_value_heads * p.key_dim * p.value_dim;
  const int64_t row = 2 * p.num_key_heads * p.key_dim + 2 * p.num_value_heads * (p.value_dim + 1);
  return {8 * state + 4 * p.num_tokens * row, 7 * p.num_tokens * state};
}

[[nodiscard]] LaunchStatus gated_delta_net_reference(const GatedDeltaNetParams& params,
                                                     CpuExecutor& executor);

}  // namespace ifr::kernels
