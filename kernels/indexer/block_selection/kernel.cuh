// SPDX-License-Identifier: Apache-2.0
// One block a row, or a slice of one: a radix select that reads the input once for the first bits
// of the threshold and once to keep what passes; ends in shared memory.
#pragma once

#include "indexer/block_selection/group.cuh"
#include "indexer/block_selection/phases.cuh"
#include "indexer/block_selection/sources.cuh"
#include "indexer/block_selection/traits.cuh"

namespace ifr::kernels::block_selection {

// Leaves the best num_chosen keys of the source and perhaps some more, `room` at most, unordered in
// shared.winners, for all threads to see.
template <typename TraitsT, typename SourceT>
IFR_DEVICE void select_winners(const SourceT& source, uint32_t num_chosen, uint32_t room,
                               typename TraitsT::SharedStorage& shared) {
  const BlockGroup group;
  Threshold threshold = open_threshold(num_chosen, source.len);
  int level = 0;
  while (!is_close_enough(threshold, num_chosen, room) && threshold.count > TraitsT::kCandidates) {
    count_level(source, threshold, level, shared.bins[level & 1]);
    threshold = close_level<TraitsT>(group, shared, level++, threshold);
  }
  if (is_close_enough(threshold, num_chosen, room)) {
    collect_winners<TraitsT>(source, threshold, shared);
  } else {
    collect_open<TraitsT>(source, threshold, level, shared);
    __syncthreads();
    const KeySource<TraitsT::kThreads> candidates{shared.scratch, threshold.count};
    while (!is_close_enough(threshold, num_chosen, room)) {
      count_level(candidates, threshold, level, shared.bins[level & 1]);
      threshold = close_level<TraitsT>(group, shared, level++, threshold);
    }
    collect_winners<TraitsT>(candidates, threshold, shared);
  }
  __syncthreads();
}

// Ranks the winners and writes the row's outputs.
template <typename TraitsT>
IFR_DEVICE void write_row(const Arguments& arguments, int64_t row, uint32_t num_chosen,
                          typename TraitsT::SharedStorage& shared) {
  const uint32_t num_winners = shared.num_winners;
  uint32_t sort_len = 2;
  while (sort_len < num_winners) {
    sort_len *= 2;
  }
  for (uint32_t i = num_winners + threadIdx.x; i < sort_len; i += TraitsT::kThreads) {
    shared.winners[i] = 0;  // below every key
  }
  cuda::block_sort_descending<TraitsT::kThreads>(shared.winners, static_cast<int>(sort_len));
  for (uint32_t rank = threadIdx.x; rank < num_chosen; rank += TraitsT::kThreads) {
    write_choice(arguments, row, rank, shared.winners[rank]);
  }
  write_rest<TraitsT>(arguments, row, num_chosen);
}

template <typename TraitsT, Stage kStage>
__global__ void __launch_bounds__(TraitsT::kThreads)
    block_selection_row_kernel(const Arguments arguments) {
  __shared__ typename TraitsT::SharedStorage shared;
  const auto num_splits = static_cast<uint32_t>(arguments.num_splits);
  const auto k = static_cast<uint32_t>(arguments.k);
  const uint32_t num_slices = kStage == Stage::kSlice ? num_splits : 1;
  const int64_t row = blockIdx.x / num_slices;
  const uint32_t slice = blockIdx.x % num_slices;
  const uint32_t live = live_count(arguments, row);
  clear_shared<TraitsT>(shared);
  __syncthreads();

  if constexpr (kStage == Stage::kMerge) {
    // Padding keys are 0 and lose to every live one, of which there are at least min(k, live).
    const KeySource<TraitsT::kThreads> source{arguments.slice_keys + row * num_splits * k,
                                              live == 0 ? 0 : num_splits * k};
    select_winners<TraitsT>(source, min(k, live), TraitsT::kWinners, shared);
    write_row<TraitsT>(arguments, row, min(k, live), shared);
  } else {
    const uint32_t slice_len = live_slice_len(live, num_slices);
    const uint32_t begin = min(slice * slice_len, live);
    const uint32_t end = min(begin + slice_len, live);
    const ScoreSource<TraitsT::kThreads, TraitsT::kLoadVectors> source{
        arguments.scores + row * arguments.scores_stride + begin, end - begin, begin};
    const uint32_t num_chosen = min(k, end - begin);
    if constexpr (kStage == Stage::kWhole) {
      select_winners<TraitsT>(source, num_chosen, TraitsT::kWinners, shared);
      write_row<TraitsT>(arguments, row, num_chosen, shared);
    } else {
      select_winners<TraitsT>(source, num_chosen, num_chosen, shared);
      uint64_t* keys = arguments.slice_keys + static_cast<int64_t>(blockIdx.x) * k;
      for (uint32_t i = threadIdx.x; i < k; i += TraitsT::kThreads) {
        keys[i] = i < num_chosen ? shared.winners[i] : 0;
      }
    }
  }
}

template <typename TraitsT, Stage kStage>
Kernel row_kernel() {
  return &block_selection_row_kernel<TraitsT, kStage>;
}

}  // namespace ifr::kernels::block_selection
