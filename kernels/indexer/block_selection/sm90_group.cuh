// SPDX-License-Identifier: Apache-2.0
// The blocks that share a row: a cluster.
#pragma once

#include "common/device.cuh"
#include "common/sm90_cluster_ptx.cuh"

#include <cstdint>

namespace ifr::kernels::block_selection::sm90 {

struct ClusterGroup {
  [[nodiscard]] IFR_DEVICE uint32_t rank() const { return cuda::sm90::cluster_block_rank(); }
  IFR_DEVICE void sync() const {
    cuda::sm90::cluster_arrive();
    cuda::sm90::cluster_wait();
  }
  template <typename T>
  [[nodiscard]] IFR_DEVICE T* shared_of(T* own, uint32_t rank) const {
    return cuda::sm90::cluster_shared(own, rank);
  }
};

}  // namespace ifr::kernels::block_selection::sm90
