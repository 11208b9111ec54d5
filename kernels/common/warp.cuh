// SPDX-License-Identifier: Apache-2.0
// Steps that the 32 threads of a warp take together; all lanes must call.
#pragma once

#include "common/device.cuh"

#include <cstdint>

namespace ifr::cuda {

IFR_DEVICE int lane_idx() {
  return static_cast<int>(threadIdx.x) % kWarpThreads;
}

IFR_DEVICE int warp_idx() {
  return static_cast<int>(threadIdx.x) / kWarpThreads;
}

IFR_DEVICE uint32_t warp_sum(uint32_t value) {
  return __reduce_add_sync(kAllLanes, value);
}

// The sum over each kWidth neighbouring lanes, a power of two.
template <int kWidth>
IFR_DEVICE uint32_t lanes_sum(uint32_t value) {
#pragma unroll
  for (int step = 1; step < kWidth; step *= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}

// The sum of the values of this lane and of every higher one.
IFR_DEVICE uint32_t warp_suffix_sum(uint32_t value) {
#pragma unroll
  for (int step = 1; step < kWarpThreads; step *= 2) {
    const uint32_t other = __shfl_down_sync(kAllLanes, value, static_cast<unsigned>(step));
    if (lane_idx() + step < kWarpThreads) {
      value += other;
    }
  }
  return value;
}

}  // namespace ifr::cuda
