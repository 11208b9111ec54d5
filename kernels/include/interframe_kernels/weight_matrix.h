// SPDX-License-Identifier: Apache-2.0
// A weight matrix as its file stores it: rows of typed numbers, one after the other.
#pragma once

#include <cstdint>

#include "interframe_kernels/data_type.h"

namespace ifr::kernels {

struct WeightMatrix {
  const void* data = nullptr;      // [num_rows, row_len]; not owned; any alignment
  DataType type = DataType::kF32;  // kF32, kF16, kBf16, kQ8_0 or kQ4_1
  int64_t num_rows = 0;
  int64_t row_len = 0;  // elements; a multiple of block_len(type)
};

// Types that weights of these operators may have.
[[nodiscard]] constexpr bool is_weight_type(DataType type) {
  return type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBf16 ||
         type == DataType::kQ8_0 || type == DataType::kQ4_1;
}

[[nodiscard]] constexpr int64_t row_bytes(const WeightMatrix& weight) {
  return tensor_bytes(weight.type, weight.row_len);
}

[[nodiscard]] constexpr int64_t weight_bytes(const WeightMatrix& weight) {
  return weight.num_rows * row_bytes(weight);
}

}  // namespace ifr::kernels
