// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding of the first rotary_dim channels of each head, in place:
//   (a, b) -> (a cos - b sin, b cos + a sin), angle = float32(position * inverse_frequency[i]),
// pair i being channels (i, i + rotary_dim/2) or (2i, 2i + 1). The inverse frequency and the angle
// are each rounded to float32, which is visible at long positions; sine and cosine are taken of
// that angle.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

enum class RotaryPairing : int32_t {
  kHalves = 0,    // channels i and i + rotary_dim / 2
  kAdjacent = 1,  // channels 2i and 2i + 1 (llama weights as GGUF stores them)
};

struct RotaryParams {
  float* x = nullptr;                        // [num_tokens, num_heads, head_dim], in place
  const float* inverse_frequency = nullptr;  // [rotary_dim / 2]
  int64_t num_tokens = 0;
  int64_t num_heads = 0;
  int64_t head_stride = 0;     // elements between heads of a token, >= rotary_dim
  int64_t row_stride = 0;      // elements between tokens
  int64_t rotary_dim = 0;      // even, <= head_dim; 0: nothing turns
  int64_t first_position = 0;  // of row 0; row t stands at first_position + t
  RotaryPairing pairing = RotaryPairing::kHalves;
};

[[nodiscard]] inline OperatorCost rotary_cost(const RotaryParams& p) {
  const int64_t elements = p.num_tokens * p.num_heads * p.rotary_dim;
  return {8 * elements, 3 * elements};
}

// inverse_frequency[i] = 1 / theta^(2i / rotary_dim): power and reciprocal each rounded to float32.
// inverse_frequency: [rotary_dim / 2].
void rotary_inverse_frequencies(double theta, int64_t rotary_dim, float* inverse_frequency);

[[nodiscard]] LaunchStatus rotary_reference(const RotaryParams& params, CpuExecutor& executor);

}  // namespace ifr::kernels
