// SPDX-License-Identifier: Apache-2.0
// Thread block clusters: barrier, rank and each other's shared memory. Compute capability 9.0 and
// newer; on older ones the functions exist so that one source compiles, and do nothing.
#pragma once

#include "common/device.cuh"

#include <cstdint>

namespace ifr::cuda::sm90 {

// All threads of all blocks arrive and wait once a turn. What was written before arriving is seen
// by whoever has waited.
IFR_DEVICE void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

// Arrives without showing anything: the release above costs a fence over all of memory.
IFR_DEVICE void cluster_arrive_relaxed() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

IFR_DEVICE void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

IFR_DEVICE uint32_t cluster_block_rank() {
  uint32_t rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

// The same place of shared memory in the block of that rank.
template <typename T>
IFR_DEVICE T* cluster_shared(T* own, uint32_t rank) {
#if __CUDA_ARCH__ >= 900
  uint64_t address = 0;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(reinterpret_cast<uint64_t>(own)), "r"(rank));
  return reinterpret_cast<T*>(address);
#else
  return own;
#endif
}

}  // namespace ifr::cuda::sm90
