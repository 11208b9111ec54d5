// SPDX-License-Identifier: Apache-2.0
// Operators that touch each element once.
//   silu:          y = x * sigmoid(x)
//   swiglu:        y = silu(gate) * up
//   sigmoid_gate:  x *= sigmoid(gate), per head, the gate possibly interleaved with the query
//   residual_add:  x += y
// sigmoid(v) = 1 / (1 + exp(-v)) in float32.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

struct SiluParams {
  const float* x = nullptr;  // [num_elements]
  float* y = nullptr;        // [num_elements]; may be x
  int64_t num_elements = 0;
  float scale = 1.0F;  // y = silu(scale * x)
};

struct SwigluParams {
  const float* gate = nullptr;  // [num_tokens, width]
  const float* up = nullptr;    // [num_tokens, width]
  float* y = nullptr;           // [num_tokens, width]; may be gate or up with equal strides
  int64_t num_tokens = 0;
  int64_t width = 0;
  int64_t gate_row_stride = 0;  // elements; 0: width
  int64_t up_row_stride = 0;    // elements; 0: width
  int64_t y_row_stride = 0;     // elements; 0: width
};

struct SigmoidGateParams {
  float* x = nullptr;           // [num_tokens, num_heads, head_dim] contiguous, in place
  const float* gate = nullptr;  // [num_tokens, num_heads, head_dim], strided
  int64_t num_tokens = 0;
  int64_t num_heads = 0;
  int64_t head_dim = 0;
  int64_t gate_row_stride = 0;   // elements; with q_proj's [q | gate] a head: heads * 2 * head_dim
  int64_t gate_head_stride = 0;  // elements; with q_proj's [q | gate] a head: 2 * head_dim
};

struct ResidualAddParams {
  float* x = nullptr;        // [num_elements], in place
  const float* y = nullptr;  // [num_elements]
  int64_t num_elements = 0;
};

[[nodiscard]] inline OperatorCost silu_cost(const SiluParams& p) {
  return {8 * p.num_elements, 5 * p.num_elements};
}
[[nodiscard]] inline OperatorCost swiglu_cost(const SwigluParams& p) {
  return {12 * p.num_tokens * p.width, 6 * p.num_tokens * p.width};
}
[[nodiscard]] inline OperatorCost sigmoid_gate_cost(const SigmoidGateParams& p) {
  const int64_t elements = p.num_tokens * p.num_heads * p.head_dim;
  return {12 * elements, 5 * elements};
}
[[nodiscard]] inline OperatorCost residual_add_cost(const ResidualAddParams& p) {
  return {12 * p.num_elements, p.num_elements};
}

[[nodiscard]] LaunchStatus silu_reference(const SiluParams& params, CpuExecutor& executor);
[[nodiscard]] LaunchStatus swiglu_reference(const SwigluParams& params, CpuExecutor& executor);
[[nodiscard]] LaunchStatus sigmoid_gate_reference(const SigmoidGateParams& params,
                                                  CpuExecutor& executor);
[[nodiscard]] LaunchStatus residual_add_reference(const ResidualAddParams& params,
                                                  CpuExecutor& executor);

}  // namespace ifr::kernels
