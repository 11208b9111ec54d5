// SPDX-License-Identifier: Apache-2.0
// 16 lanes in plain C++. Exact everywhere; without an fma instruction it is slow.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "reference/number_format.h"
#include "reference/vector_ops.h"

namespace ifr::kernels {
namespace {

struct Vec {
  float lane[16];
};

constexpr int kMicroTokens = 2;
constexpr int kMicroRows = 2;

template <typename F>
inline Vec each(F&& f) {
  Vec v;
  for (int i = 0; i < 16; ++i) {
    v.lane[i] = f(i);
  }
  return v;
}

// Left to the machine.
inline void prefetch(const uint8_t* /*p*/) {}

inline Vec vec_zero() {
  return each([](int) { return 0.0F; });
}
inline Vec vec_broadcast(float value) {
  return each([&](int) { return value; });
}
inline Vec vec_load(const float* p) {
  Vec v;
  std::memcpy(v.lane, p, sizeof(v.lane));
  return v;
}
inline Vec vec_load_partial(const float* p, int64_t count) {
  return each([&](int i) { return i < count ? p[i] : 0.0F; });
}
inline void vec_store(float* p, const Vec& v) {
  std::memcpy(p, v.lane, sizeof(v.lane));
}
inline void vec_store_partial(float* p, const Vec& v, int64_t count) {
  std::memcpy(p, v.lane, static_cast<size_t>(count) * sizeof(float));
}
inline Vec vec_fma(const Vec& a, const Vec& b, const Vec& c) {
  return each([&](int i) { return std::fma(a.lane[i], b.lane[i], c.lane[i]); });
}
inline Vec vec_mul(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] * b.lane[i]; });
}
inline Vec vec_add(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] + b.lane[i]; });
}
// The larger; b where either is NaN.
inline Vec vec_max(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
// 2^n for whole n in [-126, 127]; anything for NaN.
inline Vec vec_pow2(const Vec& n) {
  return each([&](int i) {
    const float whole = n.lane[i] == n.lane[i] ? n.lane[i] : 0.0F;
    return float_from_bits(static_cast<uint32_t>(static_cast<int32_t>(whole) + 127) << 23);
  });
}
inline Vec vec_sub(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] - b.lane[i]; });
}

inline float vec_sum(const Vec& v) {
  float lane[16];
  std::memcpy(lane, v.lane, sizeof(lane));
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) {
      lane[i] += lane[i + width];
    }
  }
  return lane[0];
}

// sums[i] = sum of v[i].
template <int kCount>
inline void vec_sums(const Vec (&v)[kCount], float* sums) {
  for (int i = 0; i < kCount; ++i) {
    sums[i] = vec_sum(v[i]);
  }
}

inline Vec vec_from_f16(const uint8_t* p) {
  return each([&](int i) { return load_f16_scalar(p + 2 * i); });
}

inline Vec vec_from_bf16(const uint8_t* p) {
  uint16_t bits[16];
  std::memcpy(bits, p, sizeof(bits));
  return each([&](int i) { return float_from_bf16(bits[i]); });
}

inline void vec_from_q8_0(const uint8_t* block, Vec& low, Vec& high) {
  const float scale = load_f16_scalar(block);
  int8_t codes[32];
  std::memcpy(codes, block + 2, sizeof(codes));
  low = each([&](int i) { return static_cast<float>(codes[i]) * scale; });
  high = each([&](int i) { return static_cast<float>(codes[16 + i]) * scale; });
}

inline void vec_from_q4_1(const uint8_t* block, Vec& low, Vec& high) {
  const float scale = load_f16_scalar(block);
  const float minimum = load_f16_scalar(block + 2);
  const uint8_t* codes = block + 4;
  low = each([&](int i) { return std::fma(static_cast<float>(codes[i] & 15), scale, minimum); });
  high = each([&](int i) { return std::fma(static_cast<float>(codes[i] >> 4), scale, minimum); });
}

#include "reference/vector_linear.inc"
#include "reference/vector_rows.inc"

constexpr VectorOps kVectorOps = make_vector_ops("portable");

}  // namespace

const VectorOps& vector_ops_portable() {
  return kVectorOps;
}

}  // namespace ifr::kernels
