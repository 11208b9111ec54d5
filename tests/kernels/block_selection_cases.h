// SPDX-License-Identifier: Apache-2.0
// The cases of block selection: one table for the reference's test, the device's test and the
// bench.
#pragma once

#include "interframe_kernels/block_selection.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ifr::kernels::test {

enum class Scores {
  kNormal,       // normally distributed
  kRelu,         // the same, negatives as 0: what the indexer makes
  kNarrow,       // 1 + tiny: one first digit for all
  kAllEqual,     // 0.25
  kAllZero,      //
  kAllMinusInf,  //
  kAllNan,       //
  kZeroSigns,    // +0, -0, +0, ...
  kTieAtBorder,  // k / 2 ones at odd places, all else 0.5
  kBestLast,     // 0, one 1 at the end
  kFewValues,    // 7 different values
  kAscending,    //
  kDescending,   //
  kDenormals,    // the smallest denormals of both signs
  kOneInf,       // normal, one +inf in the middle
  kTwoInf,       // normal, two +inf
  kManyInf,      // all but ten +inf, the rest -inf
  kOneNan,       // normal, one NaN in front
  kManyNan,      // normal, every 6th a NaN of some sign and payload
  kAnyBits,      // every bit pattern
};

enum class Live {
  kNull,     // no live counts given
  kFull,     // row_len
  kRamp,     // spread over 0..row_len
  kAroundK,  // 0, 1, k-1, k, k+1, row_len in turn
  kOutside,  // -3, row_len + 5, INT32_MIN, INT32_MAX in turn
};

struct Case {
  const char* name = "";
  int64_t num_rows = 1;
  int64_t row_len = 0;
  int32_t k = 0;
  Scores scores = Scores::kNormal;
  Live live = Live::kNull;
};

inline std::vector<Case> small_cases() {
  constexpr int32_t kK = 512;
  std::vector<Case> cases;
  for (const Scores scores :
       {Scores::kNormal,      Scores::kRelu,        Scores::kNarrow,    Scores::kAllEqual,
        Scores::kAllZero,     Scores::kAllMinusInf, Scores::kAllNan,    Scores::kZeroSigns,
        Scores::kTieAtBorder, Scores::kBestLast,    Scores::kFewValues, Scores::kAscending,
        Scores::kDescending,  Scores::kDenormals,   Scores::kOneInf,    Scores::kTwoInf,
        Scores::kManyInf,     Scores::kOneNan,      Scores::kManyNan,   Scores::kAnyBits}) {
    cases.push_back({"scores of 600", 2, 600, kK, scores, Live::kNull});
    cases.push_back({"scores of 4097", 1, 4097, kK, scores, Live::kFull});
  }
  for (const int64_t row_len : {0, 1, 2, 3, 5, 511, 512, 513, 1000, 1023, 1025}) {
    cases.push_back({"length", 1, row_len, kK, Scores::kNormal, Live::kNull});
    cases.push_back({"length, zeros", 1, row_len, kK, Scores::kAllZero, Live::kNull});
  }
  for (const int32_t k : {1, 2, 31, 33, 511, 513, 1024, 1025, 2047, 2048}) {
    cases.push_back({"k", 1, 2500, k, Scores::kRelu, Live::kNull});
  }
  cases.push_back({"live counts around k", 12, 700, kK, Scores::kRelu, Live::kAroundK});
  cases.push_back({"live counts around a small k", 12, 100, 8, Scores::kFewValues, Live::kAroundK});
  cases.push_back({"live counts outside", 8, 700, kK, Scores::kNormal, Live::kOutside});
  cases.push_back({"live counts of every size", 33, 1000, kK, Scores::kFewValues, Live::kRamp});
  return cases;
}

inline std::vector<Case> large_cases() {
  constexpr int32_t kK = 512;
  std::vector<Case> cases;
  for (const int64_t row_len : {16385, 65535, 65536}) {
    for (const Scores scores :
         {Scores::kNormal, Scores::kRelu, Scores::kAllEqual, Scores::kAllZero, Scores::kZeroSigns,
          Scores::kTieAtBorder, Scores::kBestLast, Scores::kAscending, Scores::kAnyBits}) {
      cases.push_back({"long row", 1, row_len, kK, scores, Live::kNull});
    }
  }
  for (const Scores scores : {Scores::kNormal, Scores::kRelu, Scores::kNarrow, Scores::kAllZero,
                              Scores::kFewValues, Scores::kAnyBits}) {
    cases.push_back({"8 rows", 8, 65536, kK, scores, Live::kNull});
    cases.push_back({"longest row", 1, 262144, 2048, scores, Live::kNull});
    cases.push_back({"longest odd row", 2, 262143, 2048, scores, Live::kNull});
  }
  cases.push_back({"33 rows", 33, 16381, kK, Scores::kRelu, Live::kRamp});
  cases.push_back({"149 rows", 149, 4097, kK, Scores::kRelu, Live::kRamp});
  cases.push_back({"149 rows around k", 149, 8191, kK, Scores::kNormal, Live::kAroundK});
  cases.push_back({"2048 rows", 2048, 2051, kK, Scores::kRelu, Live::kRamp});
  cases.push_back({"8192 rows", 8192, 777, 64, Scores::kFewValues, Live::kRamp});
  return cases;
}

inline std::string describe(const Case& c) {
  return std::string(c.name) + ": rows " + std::to_string(c.num_rows) + ", length " +
         std::to_string(c.row_len) + ", k " + std::to_string(c.k) + ", scores " +
         std::to_string(static_cast<int>(c.scores)) + ", live " +
         std::to_string(static_cast<int>(c.live));
}

// Rows start at multiples of 4 elements, as the device wants them.
[[nodiscard]] inline int64_t padded_stride(int64_t row_len) {
  return (row_len + 3) / 4 * 4;
}

inline void fill_row(Scores scores, int32_t k, std::mt19937& random, float* row, int64_t len) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::normal_distribution<float> normal(0.0F, 1.0F);
  for (int64_t i = 0; i < len; ++i) {
    const auto place = static_cast<float>(i);
    const auto bits = static_cast<uint32_t>(random());
    switch (scores) {
      case Scores::kRelu:
        row[i] = std::max(0.0F, normal(random));
        break;
      case Scores::kNarrow:
        row[i] = 1.0F + static_cast<float>(bits % 4096) * 0x1p-23F;
        break;
      case Scores::kAllEqual:
        row[i] = 0.25F;
        break;
      case Scores::kAllZero:
      case Scores::kBestLast:
        row[i] = 0.0F;
        break;
      case Scores::kAllMinusInf:
        row[i] = -kInf;
        break;
      case Scores::kAllNan:
        row[i] = std::bit_cast<float>(0x7fc00000U + static_cast<uint32_t>(i));
        break;
      case Scores::kZeroSigns:
        row[i] = i % 2 == 0 ? 0.0F : -0.0F;
        break;
      case Scores::kTieAtBorder:
        row[i] = i % 2 == 1 && i < k ? 1.0F : 0.5F;
        break;
      case Scores::kFewValues:
        row[i] = static_cast<float>(bits % 7) - 3.0F;
        break;
      case Scores::kAscending:
        row[i] = place;
        break;
      case Scores::kDescending:
        row[i] = -place;
        break;
      case Scores::kDenormals:
        row[i] = std::bit_cast<float>(bits & 0x8000003fU);
        break;
      case Scores::kManyInf:
        row[i] = i % std::max<int64_t>(1, len / 10) == 0 ? -kInf : kInf;
        break;
      case Scores::kManyNan:
        row[i] =
            i % 6 == 0 ? std::bit_cast<float>(0x7f800001U | (bits & 0x807fffffU)) : normal(random);
        break;
      case Scores::kAnyBits:
        row[i] = std::bit_cast<float>(bits);
        break;
      default:
        row[i] = normal(random);
        break;
    }
  }
  if (len == 0) {
    return;
  }
  if (scores == Scores::kBestLast) {
    row[len - 1] = 1.0F;
  } else if (scores == Scores::kOneInf || scores == Scores::kTwoInf) {
    row[len / 2] = kInf;
    row[scores == Scores::kTwoInf ? len - 1 : len / 2] = kInf;
  } else if (scores == Scores::kOneNan) {
    row[0] = std::numeric_limits<float>::quiet_NaN();
  }
}

struct Inputs {
  std::vector<float> scores;         // [num_rows, stride]
  std::vector<int32_t> live_counts;  // [num_rows], or empty
  int64_t stride = 0;
};

// Beyond a row's live count lies `stale`, which must change nothing.
inline Inputs make_inputs(const Case& c, uint32_t seed, float stale) {
  std::mt19937 random(seed);
  Inputs inputs;
  inputs.stride = padded_stride(c.row_len);
  inputs.scores.assign(static_cast<size_t>(c.num_rows * inputs.stride), stale);
  const int32_t row_len = static_cast<int32_t>(c.row_len);
  const std::vector<int32_t> around{0, 1, c.k - 1, c.k, c.k + 1, row_len};
  const std::vector<int32_t> outside{-3, row_len + 5, std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int32_t>::max()};
  for (int64_t row = 0; row < c.num_rows; ++row) {
    int32_t live = row_len;
    if (c.live == Live::kRamp) {
      live = static_cast<int32_t>(row * c.row_len / std::max<int64_t>(1, c.num_rows - 1));
    } else if (c.live == Live::kAroundK) {
      live = around[static_cast<size_t>(row) % around.size()];
    } else if (c.live == Live::kOutside) {
      live = outside[static_cast<size_t>(row) % outside.size()];
    }
    if (c.live != Live::kNull) {
      inputs.live_counts.push_back(live);
    }
    fill_row(c.scores, c.k, random, inputs.scores.data() + row * inputs.stride,
             std::clamp(live, 0, row_len));
  }
  return inputs;
}

inline BlockSelectionShape shape_of(const Case& c) {
  return {.num_rows = c.num_rows, .row_len = c.row_len, .k = c.k};
}

}  // namespace ifr::kernels::test
