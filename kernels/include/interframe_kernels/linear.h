// SPDX-License-Identifier: Apache-2.0
// y[t, n] = sum over k of x[t, k] * w[n, k] (+ bias[n]).
// Numeric contract: a weight is decoded to float32 (Q8_0 as code * scale, Q4_1 as
// fma(code, scale, minimum)); lane j of 16 sums k = j, j + 16, ... in ascending order by fma, then
// lanes are added as a tree (i with i + 8, then + 4, + 2, + 1), then the bias. So a result's bits
// depend on its row of x and its row of w, not on T, threads or instruction set.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr::kernels {

class CpuExecutor;

struct LinearParams {
  const float* x = nullptr;         // [num_tokens, K] (or the rows that x_rows picks)
  const int32_t* x_rows = nullptr;  // [num_tokens]: row of x that row t reads; null: t itself
  WeightMatrix weight;              // [N, K]
  const float* bias = nullptr;      // [N], or null
  float* y = nullptr;               // [num_tokens, N]; overlaps nothing read
  int64_t num_tokens = 0;
  int64_t x_row_stride = 0;  // elements; 0: K
  int64_t y_row_stride = 0;  // elements; 0: N
};

[[nodiscard]] inline OperatorCost linear_cost(const LinearParams& p) {
  const int64_t n = p.weight.num_rows;
  const int64_t k = p.weight.row_len;
  return {weight_bytes(p.weight) + 4 * p.num_tokens * (k + n), 2 * p.num_tokens * n * k};
}

[[nodiscard]] LaunchStatus linear_reference(const LinearParams& params, CpuExecutor& executor);

}  // namespace ifr::kernels
