// SPDX-License-Identifier: Apache-2.0
// How device functions are declared.
#pragma once

#define IFR_DEVICE __device__ __forceinline__

namespace ifr::cuda {

inline constexpr int kWarpThreads = 32;
inline constexpr unsigned kAllLanes = 0xffffffffU;

}  // namespace ifr::cuda
