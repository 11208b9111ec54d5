// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 to float32, exactly, in plain integer arithmetic.
#pragma once

#include <cstdint>
#include <cstring>

namespace ifr::kernels {

// static: the files that are compiled for one instruction set must not share these with the rest.
static inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static inline float float_from_bf16(uint16_t bits) {
  return float_from_bits(static_cast<uint32_t>(bits) << 16);
}

static inline float float_from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU;
  const uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1FU) {  // inf and NaN; quiet, as the conversion instructions leave it
    const uint32_t quiet = mantissa != 0 ? 0x400000U : 0U;
    return float_from_bits(sign | 0x7F800000U | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    constexpr float kSubnormalUnit = 5.9604644775390625e-08F;  // 2^-24
    const float magnitude = static_cast<float>(mantissa) * kSubnormalUnit;
    return sign != 0 ? -magnitude : magnitude;
  }
  return float_from_bits(sign | ((exponent + 112U) << 23) | (mantissa << 13));
}

static inline float load_f16_scalar(const uint8_t* p) {
  uint16_t bits;
  std::memcpy(&bits, p, sizeof(bits));
  return float_from_f16(bits);
}

}  // namespace ifr::kernels
