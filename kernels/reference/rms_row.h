// SPDX-License-Identifier: Apache-2.0
// One root-mean-square norm, for the operators that contain it.
#pragma once

#include <cmath>
#include <cstdint>

#include "interframe_kernels/rms_norm.h"
#include "reference/vector_ops.h"

namespace ifr::kernels {

// y = x * rsqrt(mean(x^2) + eps) * (w or 1 + w). All [len]; y may be x.
inline void rms_row(const VectorOps& ops, const float* x, const float* weight, int64_t len,
                    float eps, NormCentre centre, float* y) {
  const float mean = ops.dot(x, x, len) / static_cast<float>(len);
  const float scale = 1.0F / std::sqrt(mean + eps);
  if (centre == NormCentre::kZero) {
    for (int64_t i = 0; i < len; ++i) {
      y[i] = x[i] * scale * (1.0F + weight[i]);
    }
  } else {
    for (int64_t i = 0; i < len; ++i) {
      y[i] = x[i] * scale * weight[i];
    }
  }
}

}  // namespace ifr::kernels
