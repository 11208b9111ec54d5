// SPDX-License-Identifier: Apache-2.0
// 16 lanes as two AVX2 registers. Compiled with AVX2, FMA and F16C; runs only where vector_ops.cpp
// found them. Nothing inline is shared with other files.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "reference/vector_ops.h"

namespace ifr::kernels {
namespace {

struct Vec {
  __m256 low;
  __m256 high;
};

constexpr int kMicroTokens = 2;
constexpr int kMicroRows = 2;

inline void prefetch(const uint8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0);
}
inline Vec vec_zero() {
  return {_mm256_setzero_ps(), _mm256_setzero_ps()};
}
inline Vec vec_broadcast(float value) {
  return {_mm256_set1_ps(value), _mm256_set1_ps(value)};
}
inline Vec vec_load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
inline Vec vec_load_partial(const float* p, int64_t count) {
  float lane[16] = {};
  std::memcpy(lane, p, static_cast<size_t>(count) * sizeof(float));
  return vec_load(lane);
}
inline void vec_store(float* p, const Vec& v) {
  _mm256_storeu_ps(p, v.low);
  _mm256_storeu_ps(p + 8, v.high);
}
inline void vec_store_partial(float* p, const Vec& v, int64_t count) {
  float lane[16];
  vec_store(lane, v);
  std::memcpy(p, lane, static_cast<size_t>(count) * sizeof(float));
}
inline Vec vec_fma(const Vec& a, const Vec& b, const Vec& c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline Vec vec_mul(const Vec& a, const Vec& b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Vec vec_add(const Vec& a, const Vec& b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
// The larger; b where either is NaN.
inline Vec vec_max(const Vec& a, const Vec& b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
inline __m256 pow2_half(__m256 n) {
  const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}
// 2^n for whole n in [-126, 127]; anything for NaN.
inline Vec vec_pow2(const Vec& n) {
  return {pow2_half(n.low), pow2_half(n.high)};
}
inline Vec vec_sub(const Vec& a, const Vec& b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}

inline float vec_sum(const Vec& v) {
  const __m256 by8 = _mm256_add_ps(v.low, v.high);
  const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
  const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
  return _mm_cvtss_f32(_mm_add_ss(by2, _mm_movehdup_ps(by2)));
}

template <int kCount>
inline void vec_sums(const Vec (&v)[kCount], float* sums) {
  for (int i = 0; i < kCount; ++i) {
    sums[i] = vec_sum(v[i]);
  }
}

inline __m128i load_16_bytes(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

inline Vec vec_from_f16(const uint8_t* p) {
  return {_mm256_cvtph_ps(load_16_bytes(p)), _mm256_cvtph_ps(load_16_bytes(p + 16))};
}

inline __m256 from_bf16(__m128i bits) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

inline Vec vec_from_bf16(const uint8_t* p) {
  return {from_bf16(load_16_bytes(p)), from_bf16(load_16_bytes(p + 16))};
}

// Two float16 numbers into lanes 0 and 1.
inline __m128 load_f16_pair(const uint8_t* p) {
  int32_t bits;
  std::memcpy(&bits, p, sizeof(bits));
  return _mm_cvtph_ps(_mm_cvtsi32_si128(bits));
}

inline __m256 from_signed(__m128i codes) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes));
}

inline void vec_from_q8_0(const uint8_t* block, Vec& low, Vec& high) {
  uint16_t bits;
  std::memcpy(&bits, block, sizeof(bits));
  const __m256 scale = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
  const __m128i first = load_16_bytes(block + 2);
  const __m128i second = load_16_bytes(block + 18);
  low = {_mm256_mul_ps(from_signed(first), scale),
         _mm256_mul_ps(from_signed(_mm_srli_si128(first, 8)), scale)};
  high = {_mm256_mul_ps(from_signed(second), scale),
          _mm256_mul_ps(from_signed(_mm_srli_si128(second, 8)), scale)};
}

inline Vec scaled_codes(__m128i codes, __m256 scale, __m256 minimum) {
  return {_mm256_fmadd_ps(from_signed(codes), scale, minimum),
          _mm256_fmadd_ps(from_signed(_mm_srli_si128(codes, 8)), scale, minimum)};
}

inline void vec_from_q4_1(const uint8_t* block, Vec& low, Vec& high) {
  const __m128 pair = load_f16_pair(block);
  const __m256 scale = _mm256_broadcastss_ps(pair);
  const __m256 minimum = _mm256_broadcastss_ps(_mm_movehdup_ps(pair));
  const __m128i codes = load_16_bytes(block + 4);
  const __m128i nibble = _mm_set1_epi8(15);
  low = scaled_codes(_mm_and_si128(codes, nibble), scale, minimum);
  high = scaled_codes(_mm_and_si128(_mm_srli_epi16(codes, 4), nibble), scale, minimum);
}

#include "reference/vector_linear.inc"
#include "reference/vector_rows.inc"

}  // namespace

extern const VectorOps vector_ops_table_avx2;
constinit const VectorOps vector_ops_table_avx2 = make_vector_ops("avx2");

}  // namespace ifr::kernels
