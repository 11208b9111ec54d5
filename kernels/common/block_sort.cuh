// SPDX-License-Identifier: Apache-2.0
// Sorting in shared memory by all threads of a block.
#pragma once

#include "common/device.cuh"

#include <cstdint>

namespace ifr::cuda {

// keys[0, len) falling; len a power of two, at least 2. All threads call; the block is in step
// before the first and after the last comparison.
template <int kThreads>
IFR_DEVICE void block_sort_descending(uint64_t* keys, int len) {
  __syncthreads();
  for (int size = 2; size <= len; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      for (int pair = static_cast<int>(threadIdx.x); pair < len / 2; pair += kThreads) {
        const int low = 2 * pair - (pair & (stride - 1));
        const uint64_t a = keys[low];
        const uint64_t b = keys[low + stride];
        if ((a < b) == ((low & size) == 0)) {
          keys[low] = b;
          keys[low + stride] = a;
        }
      }
      // A warp's 32 pairs lie in 64 neighbouring keys while the stride is at most 32, so only
      // steps around wider ones need the whole block.
      if (stride > kWarpThreads || (stride == 1 && size > kWarpThreads)) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
}

}  // namespace ifr::cuda
