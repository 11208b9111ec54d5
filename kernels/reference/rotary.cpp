// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/rotary.h"

#include <cmath>

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"
#include "reference/rotary_row.h"

namespace ifr::kernels {

void rotary_inverse_frequencies(double theta, int64_t rotary_dim, float* inverse_frequency) {
  for (int64_t i = 0; i < rotary_dim / 2; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rotary_dim);
    const float power = static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    inverse_frequency[i] = 1.0F / power;
  }
}

LaunchStatus rotary_reference(const RotaryParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0 || params.rotary_dim == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_heads <= 0 || params.first_position < 0) {
    return invalid("num_tokens, num_heads or first_position", params.num_tokens);
  }
  if (params.rotary_dim < 0 || params.rotary_dim % 2 != 0 ||
      (params.num_heads > 1 && params.head_stride < params.rotary_dim)) {
    return invalid("rotary_dim", params.rotary_dim);
  }
  if (params.x == nullptr || params.inverse_frequency == nullptr) {
    return invalid("x or inverse_frequency is null");
  }
  const int64_t half = params.rotary_dim / 2;
  const bool halves = params.pairing == RotaryPairing::kHalves;
  // Sine and cosine cost as much as several heads' turns: a token's heads share them.
  const int64_t work = half * (32 + 4 * params.num_heads);
  for_each_item(executor, params.num_tokens, work, [&](int64_t t) {
    float* row = params.x + t * params.row_stride;
    for (int64_t i = 0; i < half; ++i) {
      const RotaryAngle angle =
          rotary_angle(params.first_position + t, params.inverse_frequency[i]);
      const int64_t a = halves ? i : 2 * i;
      const int64_t b = halves ? i + half : 2 * i + 1;
      for (int64_t h = 0; h < params.num_heads; ++h) {
        float* x = row + h * params.head_stride;
        rotate_pair(angle, x[a], x[b]);
      }
    }
  });
  return {};
}

}  // namespace ifr::kernels
