// SPDX-License-Identifier: Apache-2.0
// Where keys come from. for_each calls visit(score key, place, valid) with the two parts of a rank
// key; a key that is not valid may be anything.
#pragma once

#include "common/device.cuh"
#include "common/score_key.h"

#include <cstdint>

namespace ifr::kernels::block_selection {

// Scores in global memory, the first 16-byte aligned. Nothing at or beyond len is read.
template <int kThreads, int kVectors>
struct ScoreSource {
  const float* scores;
  uint32_t len;
  uint32_t first_index;  // in the row

  // What one thread loads at once: kVectors runs of four.
  struct Batch {
    uint4 bits[kVectors];
  };
  static constexpr uint32_t kBatchLen = 4 * kThreads * kVectors;

  [[nodiscard]] static IFR_DEVICE uint32_t vector_start(uint32_t base, int vector) {
    return base + 4 * (threadIdx.x + static_cast<uint32_t>(vector) * kThreads);
  }

  [[nodiscard]] IFR_DEVICE Batch load(uint32_t base) const {
    Batch batch;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      batch.bits[v] = load_four(vector_start(base, v));
    }
    return batch;
  }

  // visit_four(index in this source of the first, four score keys)
  template <typename Visit>
  static IFR_DEVICE void for_each_four(const Batch& batch, uint32_t base, Visit&& visit_four) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const uint4 bits = batch.bits[v];
      visit_four(vector_start(base, v), make_uint4(score_key(bits.x), score_key(bits.y),
                                                   score_key(bits.z), score_key(bits.w)));
    }
  }

  template <typename Visit>
  IFR_DEVICE void for_each(Visit&& visit) const {
    for (uint32_t base = 0; base < len; base += kBatchLen) {
      for_each_four(load(base), base, [&](uint32_t i, const uint4& keys) {
        const uint32_t place = kIndexKeyMask - first_index - i;
        visit(keys.x, place, i < len);
        visit(keys.y, place - 1, i + 1 < len);
        visit(keys.z, place - 2, i + 2 < len);
        visit(keys.w, place - 3, i + 3 < len);
      });
    }
  }

 private:
  [[nodiscard]] IFR_DEVICE uint4 load_four(uint32_t i) const {
    if (i + 4 <= len) {
      return __ldg(reinterpret_cast<const uint4*>(scores + i));
    }
    const auto* words = reinterpret_cast<const uint32_t*>(scores);
    uint4 bits = make_uint4(0, 0, 0, 0);
    if (i < len) {
      bits.x = __ldg(words + i);
    }
    if (i + 1 < len) {
      bits.y = __ldg(words + i + 1);
    }
    if (i + 2 < len) {
      bits.z = __ldg(words + i + 2);
    }
    return bits;
  }
};

// Score keys that the block holds in shared memory, in whole vectors of four.
template <int kThreads>
struct SharedScoreSource {
  const uint4* keys;  // [ceil(len / 4)]
  uint32_t len;
  uint32_t first_index;

  template <typename Visit>
  IFR_DEVICE void for_each(Visit&& visit) const {
#pragma unroll 2
    for (uint32_t v = threadIdx.x; 4 * v < len; v += kThreads) {
      const uint4 four = keys[v];
      const uint32_t i = 4 * v;
      const uint32_t place = kIndexKeyMask - first_index - i;
      visit(four.x, place, true);
      visit(four.y, place - 1, i + 1 < len);
      visit(four.z, place - 2, i + 2 < len);
      visit(four.w, place - 3, i + 3 < len);
    }
  }
};

// Rank keys in shared or global memory.
template <int kThreads>
struct KeySource {
  const uint64_t* keys;
  uint32_t len;

  template <typename Visit>
  IFR_DEVICE void for_each(Visit&& visit) const {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < len; i += kThreads) {
      const uint64_t key = keys[i];
      visit(rank_key_score(key), rank_key_place(key), true);
    }
  }
};

}  // namespace ifr::kernels::block_selection
