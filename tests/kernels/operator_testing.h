// SPDX-License-Identifier: Apache-2.0
// What the tests of the CPU operators share: seeded inputs, typed weights with their exact values,
// comparison with float64, the chunkings and thread counts that must not change a bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "interframe_kernels/cpu_executor.h"
#include "interframe_kernels/launch.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr::kernels::testing {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
size_t size_of(T count) {
  return static_cast<size_t>(count);
}

inline std::vector<float> random_floats(int64_t count, uint32_t seed, float scale = 1.0F) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  std::vector<float> values(size_of(count));
  std::generate(values.begin(), values.end(), [&] { return normal(generator); });
  return values;
}

// Outputs start as NaN: what an operator forgets to write is seen.
inline std::vector<float> unwritten(int64_t count) {
  return std::vector<float>(size_of(count), kNan);
}

struct TypedMatrix {
  std::vector<uint8_t> bytes;
  std::vector<double> values;  // what the bytes mean
  WeightMatrix view;

  [[nodiscard]] double at(int64_t row, int64_t column) const {
    return values[size_of(row * view.row_len + column)];
  }
};

// Cut to float16; what is below its normal numbers becomes 0.
inline uint16_t to_f16(double value) {
  const int sign = value < 0 ? 1 : 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  if (fraction == 0.0 || exponent < -13) {
    return static_cast<uint16_t>(sign << 15);
  }
  const int mantissa = static_cast<int>(std::ldexp(fraction, 11)) - 1024;
  return static_cast<uint16_t>((sign << 15) | ((exponent + 14) << 10) | mantissa);
}

inline double from_f16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

inline void append_bytes(std::vector<uint8_t>& bytes, const void* data, size_t size) {
  const auto* p = static_cast<const uint8_t*>(data);
  bytes.insert(bytes.end(), p, p + size);
}

inline void append_plain(TypedMatrix& matrix, DataType type, float value) {
  if (type == DataType::kF32) {
    append_bytes(matrix.bytes, &value, 4);
    matrix.values.push_back(value);
  } else if (type == DataType::kBf16) {
    const auto bits = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
    append_bytes(matrix.bytes, &bits, 2);
    matrix.values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
  } else {
    const uint16_t bits = to_f16(value);
    append_bytes(matrix.bytes, &bits, 2);
    matrix.values.push_back(from_f16(bits));
  }
}

inline void append_block(TypedMatrix& matrix, DataType type, std::mt19937& generator, float scale) {
  std::uniform_int_distribution<int> byte(0, 255);
  const uint16_t d = to_f16(scale * (0.5 + byte(generator) / 256.0) / 16);
  append_bytes(matrix.bytes, &d, 2);
  if (type == DataType::kQ8_0) {
    for (int i = 0; i < 32; ++i) {
      const auto code = static_cast<int8_t>(byte(generator) - 128);
      append_bytes(matrix.bytes, &code, 1);
      matrix.values.push_back(code * from_f16(d));
    }
    return;
  }
  const uint16_t m = to_f16(-scale * (0.25 + byte(generator) / 512.0));
  append_bytes(matrix.bytes, &m, 2);
  uint8_t codes[16];
  std::generate(codes, codes + 16, [&] { return static_cast<uint8_t>(byte(generator)); });
  append_bytes(matrix.bytes, codes, 16);
  for (int i = 0; i < 32; ++i) {
    const int code = i < 16 ? codes[i] & 15 : codes[i - 16] >> 4;
    matrix.values.push_back(code * from_f16(d) + from_f16(m));
  }
}

inline TypedMatrix random_matrix(DataType type, int64_t rows, int64_t columns, uint32_t seed,
                                 float scale = 1.0F) {
  TypedMatrix matrix;
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  for (int64_t i = 0; i < rows * columns / block_len(type); ++i) {
    if (block_len(type) == 1) {
      append_plain(matrix, type, normal(generator));
    } else {
      append_block(matrix, type, generator, scale);
    }
  }
  matrix.view = {matrix.bytes.data(), type, rows, columns};
  return matrix;
}

inline constexpr DataType kWeightTypes[] = {DataType::kF32, DataType::kF16, DataType::kBf16,
                                            DataType::kQ8_0, DataType::kQ4_1};

// Places of inf and NaN first; then |actual - expected| <= tolerance * (|expected| + scale), where
// scale is the size of what was added up. Reports the worst.
inline void expect_close(const std::vector<float>& actual, const std::vector<double>& expected,
                         double tolerance, double scale = 1.0) {
  ASSERT_EQ(actual.size(), expected.size());
  size_t worst = 0;
  double worst_error = 0.0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double value = actual[i];
    if (!std::isfinite(value) || !std::isfinite(expected[i])) {
      ASSERT_TRUE(value == expected[i] || (std::isnan(value) && std::isnan(expected[i])))
          << "at " << i << ": " << value << " instead of " << expected[i];
      continue;
    }
    const double error = std::fabs(value - expected[i]) / (std::fabs(expected[i]) + scale);
    if (error > worst_error) {
      worst_error = error;
      worst = i;
    }
  }
  EXPECT_LE(worst_error, tolerance)
      << "worst at " << worst << ": " << actual[worst] << " instead of " << expected[worst];
}

template <typename T>
void expect_same_bits(const std::vector<T>& actual, const std::vector<T>& expected,
                      const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  if (!actual.empty()) {
    EXPECT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(T)), 0) << what;
  }
}

// Calls run(begin, end) over [0, total) in pieces of `chunk`.
template <typename F>
void in_chunks(int64_t total, int64_t chunk, F&& run) {
  for (int64_t begin = 0; begin < total; begin += chunk) {
    run(begin, std::min(begin + chunk, total));
  }
}

inline constexpr int64_t kChunks[] = {1, 2, 3, 7, 64, 100000};

// produce(executor, chunk) -> a vector; equal in bits for 1 and 3 threads and every chunk.
template <typename F>
auto expect_one_answer(F&& produce) {
  CpuExecutor one(1);
  CpuExecutor three(3);
  auto expected = produce(one, int64_t{100000});
  for (const int64_t chunk : kChunks) {
    expect_same_bits(produce(one, chunk), expected, "1 thread, chunk " + std::to_string(chunk));
    expect_same_bits(produce(three, chunk), expected, "3 threads, chunk " + std::to_string(chunk));
  }
  return expected;
}

inline void expect_ok(const LaunchStatus& status) {
  EXPECT_TRUE(status.is_ok()) << status.what << " (" << status.value << ")";
}

inline void expect_refused(const LaunchStatus& status, const std::string& what) {
  EXPECT_FALSE(status.is_ok());
  EXPECT_NE(std::string(status.what).find(what), std::string::npos) << status.what;
}

inline double sigmoid64(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

inline double silu64(double x) {
  return x * sigmoid64(x);
}

// x: [groups * len]; weight: [groups * len] or [len]; factor = w + offset.
inline std::vector<double> rms64(const float* x, const float* weight, int64_t groups, int64_t len,
                                 double eps, double offset, bool shared_weight) {
  std::vector<double> y;
  for (int64_t g = 0; g < groups; ++g) {
    double squares = 0.0;
    for (int64_t i = 0; i < len; ++i) {
      squares += static_cast<double>(x[g * len + i]) * x[g * len + i];
    }
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(len) + eps);
    for (int64_t i = 0; i < len; ++i) {
      y.push_back(x[g * len + i] * scale * (offset + weight[shared_weight ? i : g * len + i]));
    }
  }
  return y;
}

// Halves pairing in float64 from the float32 angle that the contract rounds to.
template <typename T>
void rotate64(T* x, int64_t rotary_dim, int64_t position, const std::vector<float>& frequency) {
  for (int64_t i = 0; i < rotary_dim / 2; ++i) {
    const double angle = static_cast<float>(position) * frequency[size_of(i)];
    const double a = x[i];
    const double b = x[i + rotary_dim / 2];
    x[i] = a * std::cos(angle) - b * std::sin(angle);
    x[i + rotary_dim / 2] = b * std::cos(angle) + a * std::sin(angle);
  }
}

}  // namespace ifr::kernels::testing
