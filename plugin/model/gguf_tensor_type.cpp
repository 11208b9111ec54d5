// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_tensor_type.h"

#include <iterator>

namespace ifr {

std::optional<kernels::DataType> gguf_data_type(uint32_t type) {
  switch (type) {
    case 0:
      return kernels::DataType::kF32;
    case 1:
      return kernels::DataType::kF16;
    case 3:
      return kernels::DataType::kQ4_1;
    case 8:
      return kernels::DataType::kQ8_0;
    case 30:
      return kernels::DataType::kBf16;
    default:
      return std::nullopt;
  }
}

const char* gguf_tensor_type_name(uint32_t type) {
  // null: removed from the format.
  static constexpr const char* kNames[] = {
      "F32",     "F16",    "Q4_0",    "Q4_1",  nullptr,  nullptr, "Q5_0",  "Q5_1",
      "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
      "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
      "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16",  nullptr,
      nullptr,   nullptr,  "TQ1_0",   "TQ2_0", nullptr,  nullptr, nullptr, "MXFP4"};
  return type < std::size(kNames) ? kNames[type] : nullptr;
}

}  // namespace ifr
