// SPDX-License-Identifier: Apache-2.0
// y[t] = table[id[t]], decoded to float32 and repeated num_copies times along the row.
// An id outside the table is refused before anything is written.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr::kernels {

class CpuExecutor;

struct EmbeddingParams {
  const int32_t* ids = nullptr;  // [num_tokens], each in [0, table.num_rows)
  WeightMatrix table;            // [vocabulary, H]
  float* y = nullptr;            // [num_tokens, num_copies * H]
  int64_t num_tokens = 0;
  int64_t num_copies = 1;  // residual streams; 1 for a plain decoder
};

// Reads sizes only; pointers may be null.
[[nodiscard]] inline OperatorCost embedding_cost(const EmbeddingParams& p) {
  return {p.num_tokens * (row_bytes(p.table) + 4 * p.num_copies * p.table.row_len), 0};
}

[[nodiscard]] LaunchStatus embedding_reference(const EmbeddingParams& params,
                                               CpuExecutor& executor);

// Decodes one row of a typed matrix. row in [0, weight.num_rows); y: [row_len].
void decode_row(const WeightMatrix& weight, int64_t row, float* y);

}  // namespace ifr::kernels
