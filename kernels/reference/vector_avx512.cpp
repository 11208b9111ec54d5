// SPDX-License-Identifier: Apache-2.0
// 16 lanes as one AVX-512 register. Compiled with AVX-512F; runs only where vector_ops.cpp found
// it. Nothing inline is shared with other files.
#if defined(__GNUC__) && !defined(__clang__)
// GCC's own intrinsics leave a masked-off operand undefined and warn about it.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "reference/vector_ops.h"

namespace ifr::kernels {
namespace {

struct Vec {
  __m512 value;
};

constexpr int kMicroTokens = 4;
constexpr int kMicroRows = 4;

inline void prefetch(const uint8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0);
}
inline Vec vec_zero() {
  return {_mm512_setzero_ps()};
}
inline Vec vec_broadcast(float value) {
  return {_mm512_set1_ps(value)};
}
inline Vec vec_load(const float* p) {
  return {_mm512_loadu_ps(p)};
}
inline __mmask16 first_lanes(int64_t count) {
  return static_cast<__mmask16>((1U << static_cast<uint32_t>(count)) - 1U);
}
inline Vec vec_load_partial(const float* p, int64_t count) {
  return {_mm512_maskz_loadu_ps(first_lanes(count), p)};
}
inline void vec_store(float* p, const Vec& v) {
  _mm512_storeu_ps(p, v.value);
}
inline void vec_store_partial(float* p, const Vec& v, int64_t count) {
  _mm512_mask_storeu_ps(p, first_lanes(count), v.value);
}
inline Vec vec_fma(const Vec& a, const Vec& b, const Vec& c) {
  return {_mm512_fmadd_ps(a.value, b.value, c.value)};
}
inline Vec vec_mul(const Vec& a, const Vec& b) {
  return {_mm512_mul_ps(a.value, b.value)};
}
inline Vec vec_add(const Vec& a, const Vec& b) {
  return {_mm512_add_ps(a.value, b.value)};
}
// The larger; b where either is NaN.
inline Vec vec_max(const Vec& a, const Vec& b) {
  return {_mm512_max_ps(a.value, b.value)};
}
// 2^n for whole n in [-126, 127]; anything for NaN.
inline Vec vec_pow2(const Vec& n) {
  const __m512i biased = _mm512_add_epi32(_mm512_cvtps_epi32(n.value), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(biased, 23))};
}
inline Vec vec_sub(const Vec& a, const Vec& b) {
  return {_mm512_sub_ps(a.value, b.value)};
}

// Lane i of the low half gets a's i + (i + 8), the high half b's.
inline __m512 fold_by_8(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
}
// Each 256-bit half of a and b folds onto itself by 4: quarters a0 a1 b0 b1.
inline __m512 fold_by_4(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}
// Each quarter: pairs [a a b b], folded by 2.
inline __m512 fold_by_2(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
}
// Each quarter: [a0 a1 b0 b1], folded by 1.
inline __m512 fold_by_1(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xDD));
}

inline float vec_sum(const Vec& v) {
  const __m512 by8 = fold_by_8(v.value, v.value);
  const __m512 by4 = fold_by_4(by8, by8);
  const __m512 by2 = fold_by_2(by4, by4);
  return _mm512_cvtss_f32(fold_by_1(by2, by2));
}

// sums[i] = sum of v[i]; 16 of them share their shuffles.
template <int kCount>
inline void vec_sums(const Vec (&v)[kCount], float* sums) {
  if constexpr (kCount == 16) {
    __m512 by8[8];
    for (int i = 0; i < 8; ++i) {
      by8[i] = fold_by_8(v[i].value, v[i + 8].value);
    }
    __m512 by4[4];
    for (int i = 0; i < 4; ++i) {
      by4[i] = fold_by_4(by8[i], by8[i + 4]);
    }
    // Quarters of by4[i]: i, i + 8, i + 4, i + 12.
    const __m512 by2_even = fold_by_2(by4[0], by4[1]);
    const __m512 by2_odd = fold_by_2(by4[2], by4[3]);
    // Lanes of quarter q: 0, 1, 2, 3 of the vectors that begin at its base.
    const __m512 by1 = fold_by_1(by2_even, by2_odd);
    _mm512_storeu_ps(sums, _mm512_shuffle_f32x4(by1, by1, 0xD8));
  } else {
    for (int i = 0; i < kCount; ++i) {
      sums[i] = vec_sum(v[i]);
    }
  }
}

inline __m128i load_16_bytes(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline __m256i load_32_bytes(const uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

inline Vec vec_from_f16(const uint8_t* p) {
  return {_mm512_cvtph_ps(load_32_bytes(p))};
}

inline Vec vec_from_bf16(const uint8_t* p) {
  const __m512i wide = _mm512_cvtepu16_epi32(load_32_bytes(p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
}

inline void vec_from_q8_0(const uint8_t* block, Vec& low, Vec& high) {
  uint16_t bits;
  std::memcpy(&bits, block, sizeof(bits));
  const __m512 scale = _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
  const __m512i first = _mm512_cvtepi8_epi32(load_16_bytes(block + 2));
  const __m512i second = _mm512_cvtepi8_epi32(load_16_bytes(block + 18));
  low = {_mm512_mul_ps(_mm512_cvtepi32_ps(first), scale)};
  high = {_mm512_mul_ps(_mm512_cvtepi32_ps(second), scale)};
}

// A block has 16 different values: one fma makes them all, a permutation looks them up (it reads
// the low 4 bits of an index).
inline void vec_from_q4_1(const uint8_t* block, Vec& low, Vec& high) {
  int32_t bits;
  std::memcpy(&bits, block, sizeof(bits));
  const __m128 pair = _mm_cvtph_ps(_mm_cvtsi32_si128(bits));
  const __m512 scale = _mm512_broadcastss_ps(pair);
  const __m512 minimum = _mm512_broadcastss_ps(_mm_movehdup_ps(pair));
  const __m512 codes = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512 values = _mm512_fmadd_ps(codes, scale, minimum);
  const __m512i index = _mm512_cvtepu8_epi32(load_16_bytes(block + 4));
  low = {_mm512_permutexvar_ps(index, values)};
  high = {_mm512_permutexvar_ps(_mm512_srli_epi32(index, 4), values)};
}

#include "reference/vector_linear.inc"
#include "reference/vector_rows.inc"

}  // namespace

extern const VectorOps vector_ops_table_avx512;
constinit const VectorOps vector_ops_table_avx512 = make_vector_ops("avx512");

}  // namespace ifr::kernels
