// SPDX-License-Identifier: Apache-2.0
// The steps that the kernels of block selection share. GroupT is one block, or the blocks of a
// cluster that share a row. Counts are integer sums and lists are ranked at the end, so the order
// in which threads come changes nothing.
#pragma once

#include "common/block_sort.cuh"
#include "common/device.cuh"
#include "common/score_key.h"
#include "common/warp.cuh"
#include "indexer/block_selection/traits.cuh"

#include <cstdint>

namespace ifr::kernels::block_selection {

IFR_DEVICE uint32_t live_count(const Arguments& arguments, int64_t row) {
  const int32_t row_len = arguments.row_len;
  if (arguments.live_counts == nullptr) {
    return static_cast<uint32_t>(row_len);
  }
  return static_cast<uint32_t>(min(max(arguments.live_counts[row], 0), row_len));
}

// Entries a slice: the same on every block of a row, so that slices tile its live entries.
IFR_DEVICE uint32_t live_slice_len(uint32_t live, uint32_t num_slices) {
  const uint32_t even = (live + num_slices - 1) / num_slices;
  constexpr auto kAlign = static_cast<uint32_t>(kSliceAlignment);
  return (even + kAlign - 1) / kAlign * kAlign;
}

IFR_DEVICE Threshold open_threshold(uint32_t k, uint32_t len) {
  return {.score = 0, .place = 0, .needed = min(k, len), .count = len};
}

// Refining may stop when there is room for all keys from the threshold up: num_chosen, and the rest
// of those that share its bits.
IFR_DEVICE bool is_close_enough(const Threshold& threshold, uint32_t num_chosen, uint32_t room) {
  return num_chosen + (threshold.count - threshold.needed) <= room;
}

template <typename TraitsT>
IFR_DEVICE void clear_shared(typename TraitsT::SharedStorage& shared) {
  auto* bins = reinterpret_cast<uint4*>(&shared.bins[0][0]);
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kBins / 4; i += TraitsT::kThreads) {
    bins[i] = make_uint4(0, 0, 0, 0);
  }
  if (threadIdx.x == 0) {
    shared.num_winners = 0;
    shared.num_candidates = 0;
  }
}

IFR_DEVICE void count_bin(uint32_t* bins, uint32_t bin) {
  // No value is asked back: lanes that share a bin then cost one step.
  atomicAdd(&bins[bin], 1U);
}

// Counts, in this level's bins, the next digit of the keys that share the threshold's fixed bits.
template <typename SourceT>
IFR_DEVICE void count_level(const SourceT& source, const Threshold& threshold, int level,
                            uint32_t* bins) {
  const Level of = level_of(level);
  const bool in_score = level < kNumScoreLevels;
  source.for_each([&](uint32_t score, uint32_t place, bool valid) {
    const bool matches =
        (score ^ threshold.score) <= of.open_score && (place ^ threshold.place) <= of.open_place;
    if (valid && matches) {
      count_bin(bins, ((in_score ? score : place) >> of.shift) & of.mask);
    }
  });
}

// Sums this block's bins by segment and gives the sums to every block of the group.
template <typename TraitsT, typename GroupT>
IFR_DEVICE void share_segments(const GroupT& group, typename TraitsT::SharedStorage& shared,
                               int turn) {
  for (int segment = cuda::warp_idx(); segment < kSegments; segment += TraitsT::kWarps) {
    const auto* pairs = reinterpret_cast<const uint2*>(&shared.bins[turn][segment * kSegmentBins]);
    const uint2 pair = pairs[cuda::lane_idx()];
    const uint32_t sum = cuda::warp_sum(pair.x + pair.y);
    if (cuda::lane_idx() < TraitsT::kGroupBlocks) {
      *group.shared_of(&shared.segments[turn][group.rank()][segment],
                       static_cast<uint32_t>(cuda::lane_idx())) = sum;
    }
  }
}

// By one warp: the bin where counting down from the best reaches `needed`, over the whole group.
template <typename TraitsT, typename GroupT>
IFR_DEVICE void find_bin(const GroupT& group, typename TraitsT::SharedStorage& shared, int level,
                         const Threshold& threshold) {
  const int turn = level & 1;
  const auto lane = static_cast<uint32_t>(cuda::lane_idx());
  uint32_t total = 0;
#pragma unroll
  for (int r = 0; r < TraitsT::kGroupBlocks; ++r) {
    total += shared.segments[turn][r][lane];
  }
  const uint32_t above = cuda::warp_suffix_sum(total) - total;
  const bool is_here = above < threshold.needed && threshold.needed <= above + total;
  const int segment = __ffs(static_cast<int>(__ballot_sync(cuda::kAllLanes, is_here))) - 1;
  const uint32_t above_segment = __shfl_sync(cuda::kAllLanes, above, segment);

  uint32_t low = 0;
  uint32_t high = 0;
  auto* pairs = reinterpret_cast<uint2*>(&shared.bins[turn][segment * kSegmentBins]);
#pragma unroll
  for (int r = 0; r < TraitsT::kGroupBlocks; ++r) {
    const uint2 pair = *group.shared_of(&pairs[lane], static_cast<uint32_t>(r));
    low += pair.x;
    high += pair.y;
  }
  const uint32_t above_high = above_segment + cuda::warp_suffix_sum(low + high) - low - high;
  const uint32_t above_low = above_high + high;
  const bool in_high = above_high < threshold.needed && threshold.needed <= above_low;
  const bool in_low = above_low < threshold.needed && threshold.needed <= above_low + low;
  if (in_high || in_low) {
    const uint32_t bin =
        static_cast<uint32_t>(segment * kSegmentBins) + 2 * lane + (in_high ? 1 : 0);
    const uint32_t digit = bin << level_of(level).shift;
    const bool in_score = level < kNumScoreLevels;
    shared.threshold = {.score = threshold.score | (in_score ? digit : 0),
                        .place = threshold.place | (in_score ? 0 : digit),
                        .needed = threshold.needed - (in_high ? above_high : above_low),
                        .count = in_high ? high : low};
  }
}

// Ends a level whose bins have been counted by all threads. All call with the same threshold and
// get the next. Needs 0 < needed < count.
template <typename TraitsT, typename GroupT>
IFR_DEVICE Threshold close_level(const GroupT& group, typename TraitsT::SharedStorage& shared,
                                 int level, const Threshold& threshold) {
  const int turn = level & 1;
  __syncthreads();
  share_segments<TraitsT>(group, shared, turn);
  group.sync();
  if (cuda::warp_idx() == 0) {
    find_bin<TraitsT>(group, shared, level, threshold);
  } else if (level > 0) {
    // The other turn's bins: every block has read them before it came to this level's sync.
    constexpr int kOthers = TraitsT::kThreads - cuda::kWarpThreads;
    for (int i = static_cast<int>(threadIdx.x) - cuda::kWarpThreads; i < kBins; i += kOthers) {
      shared.bins[1 - turn][i] = 0;
    }
  }
  __syncthreads();
  return shared.threshold;
}

// Adds the keys from the threshold up to winners.
template <typename TraitsT, typename SourceT>
IFR_DEVICE void collect_winners(const SourceT& source, const Threshold& threshold,
                                typename TraitsT::SharedStorage& shared) {
  source.for_each([&](uint32_t score, uint32_t place, bool valid) {
    const bool from_threshold =
        score > threshold.score || (score == threshold.score && place >= threshold.place);
    if (valid && from_threshold) {
      shared.winners[atomicAdd(&shared.num_winners, 1U)] = rank_key(score, kIndexKeyMask - place);
    }
  });
}

// After `level` levels: keys above the threshold's bits to winners, those that share them to
// candidates.
template <typename TraitsT, typename SourceT>
IFR_DEVICE void collect_open(const SourceT& source, const Threshold& threshold, int level,
                             typename TraitsT::SharedStorage& shared) {
  const Level of = level_of(level);
  source.for_each([&](uint32_t score, uint32_t place, bool valid) {
    const bool shares =
        (score ^ threshold.score) <= of.open_score && (place ^ threshold.place) <= of.open_place;
    const bool from_threshold =
        score > threshold.score || (score == threshold.score && place >= threshold.place);
    if (valid && shares) {
      shared.scratch[atomicAdd(&shared.num_candidates, 1U)] =
          rank_key(score, kIndexKeyMask - place);
    } else if (valid && from_threshold) {
      shared.winners[atomicAdd(&shared.num_winners, 1U)] = rank_key(score, kIndexKeyMask - place);
    }
  });
}

IFR_DEVICE void write_choice(const Arguments& arguments, int64_t row, uint32_t rank, uint64_t key) {
  const int64_t at = row * arguments.k + rank;
  arguments.indices[at] = static_cast<int32_t>(rank_key_index(key));
  if (arguments.chosen_scores != nullptr) {
    arguments.chosen_scores[at] = __uint_as_float(rank_key_score_bits(key));
  }
}

// The row's count, and the places behind it.
template <typename TraitsT>
IFR_DEVICE void write_rest(const Arguments& arguments, int64_t row, uint32_t num_chosen) {
  for (uint32_t rank = num_chosen + threadIdx.x; rank < static_cast<uint32_t>(arguments.k);
       rank += TraitsT::kThreads) {
    const int64_t at = row * arguments.k + rank;
    arguments.indices[at] = -1;
    if (arguments.chosen_scores != nullptr) {
      arguments.chosen_scores[at] = __uint_as_float(kMinusInfBits);
    }
  }
  if (threadIdx.x == 0) {
    arguments.counts[row] = static_cast<int32_t>(num_chosen);
  }
}

}  // namespace ifr::kernels::block_selection
