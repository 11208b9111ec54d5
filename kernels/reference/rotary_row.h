// SPDX-License-Identifier: Apache-2.0
// One head's rotation, for the operators that contain it.
#pragma once

#include <cmath>
#include <cstdint>

namespace ifr::kernels {

struct RotaryAngle {
  float cosine = 1.0F;
  float sine = 0.0F;
};

// Both factors are rounded to float32 before they meet, the angle after.
inline RotaryAngle rotary_angle(int64_t position, float inverse_frequency) {
  const float angle = static_cast<float>(position) * inverse_frequency;
  return {static_cast<float>(std::cos(static_cast<double>(angle))),
          static_cast<float>(std::sin(static_cast<double>(angle)))};
}

inline void rotate_pair(const RotaryAngle& angle, float& a, float& b) {
  const float turned_a = a * angle.cosine - b * angle.sine;
  const float turned_b = b * angle.cosine + a * angle.sine;
  a = turned_a;
  b = turned_b;
}

// Halves pairing of the first rotary_dim channels of x.
inline void rotate_halves(float* x, int64_t rotary_dim, int64_t position,
                          const float* inverse_frequency) {
  const int64_t half = rotary_dim / 2;
  for (int64_t i = 0; i < half; ++i) {
    rotate_pair(rotary_angle(position, inverse_frequency[i]), x[i], x[i + half]);
  }
}

}  // namespace ifr::kernels
