// SPDX-License-Identifier: Apache-2.0
// Sizes and shared memory of the block selection kernels.
#pragma once

#include "common/device.cuh"
#include "common/score_key.h"
#include "indexer/block_selection/limits.h"
#include "interframe_kernels/block_selection.h"

#include <cstdint>

namespace ifr::kernels::block_selection {

// What is known of the k-th best key, as the two parts of a rank key. Bits not fixed yet are 0, so
// that keys from here up are the ones that may be chosen. Of the `count` keys that share the fixed
// bits, `needed` are chosen; all greater ones are.
struct Threshold {
  uint32_t score;
  uint32_t place;
  uint32_t needed;
  uint32_t count;
};

// A level fixes more bits of the threshold: 11, 11 and 10 of the score, then 9 and 9 of the place.
inline constexpr int kNumLevels = 5;
inline constexpr int kNumScoreLevels = 3;

struct Level {
  uint32_t open_score;  // bits of the score still open before it
  uint32_t open_place;
  uint32_t shift;  // of the digit
  uint32_t mask;   // of the digit, shifted
};

IFR_DEVICE constexpr Level level_of(int level) {
  constexpr uint32_t kAll = 0xffffffffU;
  switch (level) {
    case 0:
      return {kAll, kAll, 21, (1U << 11) - 1};
    case 1:
      return {(1U << 21) - 1, kAll, 10, (1U << 11) - 1};
    case 2:
      return {(1U << 10) - 1, kAll, 0, (1U << 10) - 1};
    case 3:
      return {0, kAll, 9, (1U << 9) - 1};
    default:
      return {0, (1U << 9) - 1, 0, (1U << 9) - 1};
  }
}
static_assert(kScoreKeyBits == 32 && kIndexKeyBits == 18, "levels cover the key's parts exactly");

inline constexpr int kBins = 2048;                      // of the widest level
inline constexpr int kSegments = cuda::kWarpThreads;    // one lane each when they are scanned
inline constexpr int kSegmentBins = kBins / kSegments;  // two a lane
static_assert(kSegmentBins == 2 * cuda::kWarpThreads, "a warp scans a segment in one step");

inline constexpr int kRuns = kMaxClusterBlocks;  // sorted runs that a cluster ranks its winners by

enum class Stage {
  kWhole,  // a row's scores to its result
  kSlice,  // a slice's scores to its best k keys, unordered
  kMerge,  // the slices' keys to the row's result
};

// kMaxKT: largest k, a power of two. kGroupBlocksT: blocks that share a row in a cluster, or 1.
// kWinnersT: room for keys from the threshold up. Refining stops as soon as they fit; the ranking
// then drops those beyond k, so room over k saves levels.
template <int kMaxKT, int kThreadsT, int kGroupBlocksT, int kWinnersT>
struct Traits {
  static constexpr int kMaxK = kMaxKT;
  static constexpr int kThreads = kThreadsT;
  static constexpr int kWarps = kThreadsT / cuda::kWarpThreads;
  static constexpr int kGroupBlocks = kGroupBlocksT;
  static constexpr int kWinners = kWinnersT;
  static constexpr int kRunLen = kWinners / kRuns;
  static constexpr int kCandidates = kGroupBlocksT > 1 ? 1 : kMaxKT > 1024 ? 1024 : 2048;
  static constexpr int kLoadVectors = kGroupBlocksT > 1 ? 2 : 4;  // 16-byte loads in flight

  static_assert(kMaxK >= 2 && (kMaxK & (kMaxK - 1)) == 0, "the block sort wants a power of two");
  static_assert(kGroupBlocks > 1 ? kWinners >= kMaxK : kWinners == kMaxK,
                "every chosen key needs a place, and the block sort sorts no more than kMaxK");
  static_assert(kWinners % (kRuns * kSliceAlignment) == 0, "runs of one length");
  static_assert(kThreads % cuda::kWarpThreads == 0 && kWarps >= 2,
                "one warp scans while the others clear");
  static_assert(kRuns % kGroupBlocks == 0, "each block of a group sorts as many runs");

  struct SharedStorage {
    union {
      // Levels take turns: in a cluster others may still read one while the next is counted.
      uint32_t bins[2][kBins];
      // Written after the barrier behind the last level's last read of any bins.
      uint64_t runs[kRuns][kRunLen];
    };
    uint64_t winners[kWinners];  // this block's; in a cluster others read them
    uint64_t
        scratch[kGroupBlocks > 1 ? kRunLen : kCandidates];  // a run to be sorted, or candidates
    uint32_t segments[2][kGroupBlocks][kSegments];  // each block's sums of kSegmentBins bins
    uint32_t group_winners[kGroupBlocks];           // how many winners each block has
    uint32_t num_winners;
    uint32_t num_candidates;
    Threshold threshold;
  };
  static_assert(sizeof(SharedStorage) <= (kGroupBlocks > 1 ? kClusterStaticSharedBytes : 48 * 1024),
                "the plan counts on less shared memory, or no device gives that much unasked");
};

template <int kMaxK>
using RowTraits = Traits<kMaxK, 512, 1, kMaxK>;
template <int kMaxK, int kBlocks>
using ClusterTraits = Traits<kMaxK, 1024, kBlocks, kMaxK == 512 ? 640 : kMaxK>;

// What every kernel gets. Device pointers as in BlockSelectionParams.
struct Arguments {
  const float* scores;  // [num_rows, scores_stride]
  int64_t scores_stride;
  const int32_t* live_counts;  // [num_rows] or null
  int32_t row_len;
  int32_t k;
  int32_t num_splits;    // slices a row
  uint64_t* slice_keys;  // kSlice, kMerge: [num_rows, num_splits, k]; 0 where a slice has fewer
  int32_t* indices;      // [num_rows, k]
  int32_t* counts;       // [num_rows]
  float* chosen_scores;  // [num_rows, k] or null
};

using Kernel = void (*)(Arguments);

// Instantiated one a file. A kernel template's own symbol stays inside its file, so it is asked
// for.
template <typename TraitsT, Stage kStage>
Kernel row_kernel();
template <typename TraitsT>
Kernel cluster_kernel();

}  // namespace ifr::kernels::block_selection
