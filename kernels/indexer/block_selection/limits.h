// SPDX-License-Identifier: Apache-2.0
// What the plan assumes of the kernels; traits.cuh checks it.
#pragma once

#include <cstdint>

namespace ifr::kernels::block_selection {

inline constexpr int32_t kMaxClusterBlocks = 8;  // what every device with clusters can do
inline constexpr int32_t kMaxSplits = 16;
inline constexpr int64_t kSliceAlignment = 4;                    // entries of one 16-byte load
inline constexpr int64_t kShortestSlice = 4096;                  // of a split row
inline constexpr int64_t kLongestShortRow = 2048;                // one block is enough
inline constexpr int64_t kClusterStaticSharedBytes = 40 * 1024;  // beside the slice

}  // namespace ifr::kernels::block_selection
