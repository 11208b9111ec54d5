// SPDX-License-Identifier: Apache-2.0
#include "indexer/block_selection/kernel.cuh"

namespace ifr::kernels::block_selection {
template Kernel row_kernel<RowTraits<512>, Stage::kWhole>();
}
