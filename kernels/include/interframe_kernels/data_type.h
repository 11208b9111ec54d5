// SPDX-License-Identifier: Apache-2.0
// How numbers of a tensor are stored, the block formats of GGUF among them.
#pragma once

#include <cstdint>

namespace ifr::kernels {

enum class DataType : int32_t {
  kF32 = 0,
  kF16 = 1,
  kBf16 = 2,
  kI32 = 3,
  kI64 = 4,
  kU8 = 5,
  // NOLINTBEGIN(readability-identifier-naming): GGUF's own names
  kQ8_0 = 16,  // 32 codes: f16 scale d, 32 x i8;             value = d * q;      34 bytes
  kQ4_1 = 17,  // 32 codes: f16 scale d, f16 minimum m, 16 B; value = d * q + m;  20 bytes; low
               // nibbles are codes 0..15
  // NOLINTEND(readability-identifier-naming)
};

// Elements that share one block: 1 for plain types. A row's length is a multiple of it.
[[nodiscard]] constexpr int64_t block_len(DataType type) {
  return type == DataType::kQ8_0 || type == DataType::kQ4_1 ? 32 : 1;
}

[[nodiscard]] constexpr int64_t block_bytes(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kI32:
      return 4;
    case DataType::kF16:
    case DataType::kBf16:
      return 2;
    case DataType::kI64:
      return 8;
    case DataType::kU8:
      return 1;
    case DataType::kQ8_0:
      return 34;
    case DataType::kQ4_1:
      return 20;
  }
  return 0;
}

[[nodiscard]] constexpr const char* data_type_name(DataType type) {
  switch (type) {
    case DataType::kF32:
      return "F32";
    case DataType::kF16:
      return "F16";
    case DataType::kBf16:
      return "BF16";
    case DataType::kI32:
      return "I32";
    case DataType::kI64:
      return "I64";
    case DataType::kU8:
      return "U8";
    case DataType::kQ8_0:
      return "Q8_0";
    case DataType::kQ4_1:
      return "Q4_1";
  }
  return "?";
}

// Bytes of `num_elements` (a multiple of block_len).
[[nodiscard]] constexpr int64_t tensor_bytes(DataType type, int64_t num_elements) {
  return num_elements / block_len(type) * block_bytes(type);
}

}  // namespace ifr::kernels
