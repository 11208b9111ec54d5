// SPDX-License-Identifier: Apache-2.0
// The blocks that share a row: just one.
#pragma once

#include "common/device.cuh"

#include <cstdint>

namespace ifr::kernels::block_selection {

struct BlockGroup {
  [[nodiscard]] IFR_DEVICE uint32_t rank() const { return 0; }
  IFR_DEVICE void sync() const { __syncthreads(); }
  template <typename T>
  [[nodiscard]] IFR_DEVICE T* shared_of(T* own, uint32_t /*rank*/) const {
    return own;
  }
};

}  // namespace ifr::kernels::block_selection
