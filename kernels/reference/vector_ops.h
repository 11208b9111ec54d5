// SPDX-License-Identifier: Apache-2.0
// The inner loops of the CPU operators, once per instruction set, all with the same bits: a sum
// over n runs in 16 lanes (lane j takes j, j + 16, ..., ascending, by fma) and then down a fixed
// tree (i with i + 8, then + 4, + 2, + 1).
#pragma once

#include <cstdint>

#include "interframe_kernels/data_type.h"

namespace ifr::kernels {

// A run of output columns of a linear product, for all rows of x.
struct LinearTile {
  const float* x = nullptr;         // [num_tokens, row_len] rows x_row_stride apart
  const int32_t* x_rows = nullptr;  // [num_tokens], or null
  const uint8_t* weight = nullptr;  // row 0 of the matrix
  const float* bias = nullptr;      // by column, or null
  float* y = nullptr;               // rows y_row_stride apart, columns as the matrix's rows
  DataType type = DataType::kF32;
  int64_t num_tokens = 0;
  int64_t row_len = 0;
  int64_t row_bytes = 0;
  int64_t x_row_stride = 0;
  int64_t y_row_stride = 0;
  int64_t row_begin = 0;
  int64_t row_end = 0;
};

// One token of one head of the gated delta rule.
struct DeltaStep {
  float* state = nullptr;    // [key_dim, value_dim]
  const float* q = nullptr;  // [key_dim], normalised and scaled
  const float* k = nullptr;  // [key_dim], normalised
  const float* v = nullptr;  // [value_dim]
  float* out = nullptr;      // [value_dim]
  float decay = 1.0F;
  float beta = 0.0F;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
};

struct VectorOps {
  const char* name;
  void (*linear)(const LinearTile& tile);
  float (*dot)(const float* a, const float* b, int64_t len);
  // out[i] = dot(a, rows[i]).
  void (*dot_rows)(const float* a, const float* const* rows, int64_t num_rows, int64_t len,
                   float* out);
  // y = y * keep + sum over i of weights[i] * rows[i], by fma; even i, ascending, upon y * keep,
  // odd i upon 0, then the two added.
  void (*weighted_rows)(float* y, float keep, const float* weights, const float* const* rows,
                        int64_t num_rows, int64_t len);
  // x[i] = exp(x[i] - subtracted), the difference not above 0; returns the sum in 16 lanes.
  float (*exp_rows)(float* x, float subtracted, int64_t len);
  void (*delta_step)(const DeltaStep& step);
};

// The widest set that this machine runs.
[[nodiscard]] const VectorOps& vector_ops();

// One set by itself; null when this build or machine lacks it. For tests.
[[nodiscard]] const VectorOps& vector_ops_portable();
[[nodiscard]] const VectorOps* vector_ops_avx2();
[[nodiscard]] const VectorOps* vector_ops_avx512();

}  // namespace ifr::kernels
