// SPDX-License-Identifier: Apache-2.0
// One cluster a row. Each block reads its slice once into shared memory; bins are summed through
// the cluster's shared memory, one barrier a level. The winners are then cut into kRuns runs that
// the blocks sort apart; a winner's rank is the sum of its ranks in the runs.
#pragma once

#include "common/sm90_cluster_ptx.cuh"
#include "indexer/block_selection/phases.cuh"
#include "indexer/block_selection/sm90_group.cuh"
#include "indexer/block_selection/sources.cuh"
#include "indexer/block_selection/traits.cuh"

namespace ifr::kernels::block_selection {
namespace sm90 {

// The slice's score keys to shared memory, and, for a row that needs levels, level 0 counted.
// Clears shared memory while the first loads are under way.
template <typename TraitsT, typename SourceT>
IFR_DEVICE void load_slice(const SourceT& scores, bool needs_levels, uint4* slice_keys,
                           typename TraitsT::SharedStorage& shared) {
  constexpr Level kFirst = level_of(0);
  typename SourceT::Batch batch = scores.load(0);
  clear_shared<TraitsT>(shared);
  __syncthreads();
  for (uint32_t base = 0; base < scores.len;) {
    SourceT::for_each_four(batch, base, [&](uint32_t i, const uint4& keys) {
      if (i >= scores.len) {
        return;
      }
      slice_keys[i / 4] = keys;
      if (needs_levels) {
        count_bin(shared.bins[0], keys.x >> kFirst.shift);
        if (i + 4 <= scores.len) {
          count_bin(shared.bins[0], keys.y >> kFirst.shift);
          count_bin(shared.bins[0], keys.z >> kFirst.shift);
          count_bin(shared.bins[0], keys.w >> kFirst.shift);
        } else {
          if (i + 1 < scores.len) {
            count_bin(shared.bins[0], keys.y >> kFirst.shift);
          }
          if (i + 2 < scores.len) {
            count_bin(shared.bins[0], keys.z >> kFirst.shift);
          }
        }
      }
    });
    base += SourceT::kBatchLen;
    if (base < scores.len) {
      batch = scores.load(base);
    }
  }
}

// Where the winners of all blocks, in order of blocks, are cut.
struct Runs {
  uint32_t num_winners;
  uint32_t run_len;

  [[nodiscard]] IFR_DEVICE uint32_t begin(uint32_t run) const {
    return min(run * run_len, num_winners);
  }
  [[nodiscard]] IFR_DEVICE uint32_t len(uint32_t run) const { return begin(run + 1) - begin(run); }
};

template <typename TraitsT>
IFR_DEVICE Runs cut_runs(const typename TraitsT::SharedStorage& shared) {
  uint32_t num_winners = 0;
#pragma unroll
  for (int r = 0; r < TraitsT::kGroupBlocks; ++r) {
    num_winners += shared.group_winners[r];
  }
  return {.num_winners = num_winners, .run_len = (num_winners + kRuns - 1) / kRuns};
}

// The i-th winner, counted through the blocks in order; i is below the number of all.
template <typename TraitsT>
IFR_DEVICE uint64_t fetch_winner(const ClusterGroup& group, typename TraitsT::SharedStorage& shared,
                                 uint32_t i) {
  uint32_t owner = 0;
#pragma unroll
  for (int r = 0; r < TraitsT::kGroupBlocks - 1; ++r) {
    const uint32_t num = shared.group_winners[r];
    if (owner == static_cast<uint32_t>(r) && i >= num) {
      i -= num;
      ++owner;
    }
  }
  return *group.shared_of(&shared.winners[i], owner);
}

// This block's share of the runs, sorted, to every block.
template <typename TraitsT>
IFR_DEVICE void sort_runs(const ClusterGroup& group, const Runs& runs,
                          typename TraitsT::SharedStorage& shared) {
  constexpr int kKeysPerLane = (TraitsT::kRunLen + cuda::kWarpThreads - 1) / cuda::kWarpThreads;
  const auto lane = static_cast<uint32_t>(cuda::lane_idx());
  for (uint32_t run = group.rank(); run < kRuns; run += TraitsT::kGroupBlocks) {
    const uint32_t len = runs.len(run);
    for (uint32_t i = threadIdx.x; i < len; i += TraitsT::kThreads) {
      shared.scratch[i] = fetch_winner<TraitsT>(group, shared, runs.begin(run) + i);
    }
    __syncthreads();
    uint64_t mine[kKeysPerLane];
#pragma unroll
    for (int j = 0; j < kKeysPerLane; ++j) {
      const uint32_t i = lane + static_cast<uint32_t>(j * cuda::kWarpThreads);
      mine[j] = i < len ? shared.scratch[i] : 0;
    }
    for (auto i = static_cast<uint32_t>(cuda::warp_idx()); i < len; i += TraitsT::kWarps) {
      const uint64_t key = shared.scratch[i];
      uint32_t num_greater = 0;
#pragma unroll
      for (int j = 0; j < kKeysPerLane; ++j) {
        num_greater += mine[j] > key ? 1 : 0;
      }
      const uint32_t place = cuda::warp_sum(num_greater);
      if (lane < TraitsT::kGroupBlocks) {
        *group.shared_of(&shared.runs[run][place], lane) = key;
      }
    }
    __syncthreads();
  }
}

// How many of keys[0, len), which fall, are greater than `key`.
IFR_DEVICE uint32_t count_greater(const uint64_t* keys, uint32_t len, uint64_t key) {
  uint32_t first = 0;
  while (len > 0) {
    const uint32_t half = len / 2;
    if (keys[first + half] > key) {
      first += half + 1;
      len -= half + 1;
    } else {
      len = half;
    }
  }
  return first;
}

// kRuns neighbouring lanes rank one winner of this block's runs, a run each, and write it.
template <typename TraitsT>
IFR_DEVICE void rank_runs(const Arguments& arguments, int64_t row, uint32_t num_chosen,
                          const ClusterGroup& group, const Runs& runs,
                          const typename TraitsT::SharedStorage& shared) {
  constexpr uint32_t kKeysAtOnce = TraitsT::kThreads / kRuns;
  const uint32_t other = threadIdx.x % kRuns;
  for (uint32_t run = group.rank(); run < kRuns; run += TraitsT::kGroupBlocks) {
    const uint32_t len = runs.len(run);
    for (uint32_t base = 0; base < len; base += kKeysAtOnce) {
      const uint32_t i = base + threadIdx.x / kRuns;
      const uint64_t key = i < len ? shared.runs[run][i] : 0;
      const uint32_t num_greater = i >= len ? 0
                                   : other == run
                                       ? i
                                       : count_greater(shared.runs[other], runs.len(other), key);
      const uint32_t rank = cuda::lanes_sum<kRuns>(num_greater);
      if (i < len && other == 0 && rank < num_chosen) {
        write_choice(arguments, row, rank, key);
      }
    }
  }
}

}  // namespace sm90

// The 1 (blocks a multiprocessor) keeps ptxas for compute capability 10.0 from halving the
// registers.
template <typename TraitsT>
__global__ void __launch_bounds__(TraitsT::kThreads, 1)
    block_selection_cluster_kernel(const Arguments arguments) {
  __shared__ typename TraitsT::SharedStorage shared;
  extern __shared__ uint4 slice_keys[];  // [slice / 4]
  const sm90::ClusterGroup group;
  cuda::sm90::cluster_arrive_relaxed();  // waited for below: none may write to one not begun yet

  constexpr auto kBlocks = static_cast<uint32_t>(TraitsT::kGroupBlocks);
  constexpr auto kRoom = static_cast<uint32_t>(TraitsT::kWinners);
  const int64_t row = blockIdx.x / kBlocks;
  const uint32_t live = live_count(arguments, row);
  const uint32_t slice_len = live_slice_len(live, kBlocks);
  const uint32_t begin = min(group.rank() * slice_len, live);
  const uint32_t end = min(begin + slice_len, live);
  const uint32_t num_chosen = min(static_cast<uint32_t>(arguments.k), live);
  Threshold threshold = open_threshold(num_chosen, live);

  const ScoreSource<TraitsT::kThreads, TraitsT::kLoadVectors> scores{
      arguments.scores + row * arguments.scores_stride + begin, end - begin, begin};
  sm90::load_slice<TraitsT>(scores, !is_close_enough(threshold, num_chosen, kRoom), slice_keys,
                            shared);
  cuda::sm90::cluster_wait();

  const SharedScoreSource<TraitsT::kThreads> slice{slice_keys, end - begin, begin};
  for (int level = 0; !is_close_enough(threshold, num_chosen, kRoom); ++level) {
    if (level > 0) {
      count_level(slice, threshold, level, shared.bins[level & 1]);
    }
    threshold = close_level<TraitsT>(group, shared, level, threshold);
  }
  collect_winners<TraitsT>(slice, threshold, shared);
  __syncthreads();
  if (threadIdx.x < kBlocks) {
    *group.shared_of(&shared.group_winners[group.rank()], threadIdx.x) = shared.num_winners;
  }
  group.sync();

  const sm90::Runs runs = sm90::cut_runs<TraitsT>(shared);
  sm90::sort_runs<TraitsT>(group, runs, shared);
  group.sync();  // the last touch of another block's memory lies before it, so blocks may end
  sm90::rank_runs<TraitsT>(arguments, row, num_chosen, group, runs, shared);
  if (group.rank() == 0) {
    write_rest<TraitsT>(arguments, row, num_chosen);
  }
}

template <typename TraitsT>
Kernel cluster_kernel() {
  return &block_selection_cluster_kernel<TraitsT>;
}

}  // namespace ifr::kernels::block_selection
