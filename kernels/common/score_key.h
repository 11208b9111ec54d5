// SPDX-License-Identifier: Apache-2.0
// The order of scores as integers, the same bits on host and device: a larger key is a better
// score, and among equal scores a lower index.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define IFR_HOST_DEVICE __host__ __device__
#else
#define IFR_HOST_DEVICE
#endif

namespace ifr::kernels {

// A rank key is 50 bits: the score's 32, then 18 of the index, inverted.
inline constexpr int kScoreKeyBits = 32;
inline constexpr int kIndexKeyBits = 18;
inline constexpr uint32_t kIndexKeyMask = (1U << kIndexKeyBits) - 1;

inline constexpr uint32_t kNanScoreKey = 1;  // below -inf's 0x007fffff; 0 is left for padding
inline constexpr uint32_t kNanBits = 0x7fc00000U;
inline constexpr uint32_t kMinusInfBits = 0xff800000U;

// `bits` of a float32: -0 as +0, any NaN below -inf.
[[nodiscard]] constexpr IFR_HOST_DEVICE uint32_t score_key(uint32_t bits) {
  constexpr uint32_t kSign = 0x80000000U;
  const uint32_t magnitude = bits & ~kSign;
  if (magnitude > 0x7f800000U) {
    return kNanScoreKey;
  }
  return (bits & kSign) != 0 && magnitude != 0 ? ~bits : magnitude | kSign;
}

// The bits that gave the key, with +0 for either zero and one NaN for all.
[[nodiscard]] constexpr IFR_HOST_DEVICE uint32_t score_bits(uint32_t key) {
  constexpr uint32_t kSign = 0x80000000U;
  if (key == kNanScoreKey) {
    return kNanBits;
  }
  return (key & kSign) != 0 ? key & ~kSign : ~key;
}

// index < 2^18. Never 0, and different for different indices.
[[nodiscard]] constexpr IFR_HOST_DEVICE uint64_t rank_key(uint32_t score_key_value,
                                                          uint32_t index) {
  return (static_cast<uint64_t>(score_key_value) << kIndexKeyBits) | (kIndexKeyMask - index);
}

// The two parts of a rank key, each greater for a better one.
[[nodiscard]] constexpr IFR_HOST_DEVICE uint32_t rank_key_score(uint64_t key) {
  return static_cast<uint32_t>(key >> kIndexKeyBits);
}
[[nodiscard]] constexpr IFR_HOST_DEVICE uint32_t rank_key_place(uint64_t key) {
  return static_cast<uint32_t>(key) & kIndexKeyMask;
}

[[nodiscard]] constexpr IFR_HOST_DEVICE uint32_t rank_key_index(uint64_t key) {
  return kIndexKeyMask - rank_key_place(key);
}

[[nodiscard]] constexpr IFR_HOST_DEVICE uint32_t rank_key_score_bits(uint64_t key) {
  return score_bits(rank_key_score(key));
}

}  // namespace ifr::kernels
