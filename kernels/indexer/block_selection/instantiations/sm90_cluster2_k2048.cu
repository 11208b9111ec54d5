// SPDX-License-Identifier: Apache-2.0
#include "indexer/block_selection/sm90_kernel.cuh"

namespace ifr::kernels::block_selection {
template Kernel cluster_kernel<ClusterTraits<2048, 2>>();
}
