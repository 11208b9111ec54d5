// SPDX-License-Identifier: Apache-2.0
// The one place that launches kernels.
#pragma once

#include "interframe_kernels/launch.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace ifr::cuda {

struct LaunchShape {
  int64_t num_blocks = 0;
  int32_t num_threads = 0;
  int64_t dynamic_shared_bytes = 0;
  int32_t blocks_per_cluster = 1;  // more than 1 needs compute capability 9.0
};

// Queues kernel(arguments) on `stream`, which may be capturing.
template <typename Arguments>
[[nodiscard]] kernels::LaunchStatus launch(void (*kernel)(Arguments), const LaunchShape& shape,
                                           const Arguments& arguments, cudaStream_t stream) {
  // Without asking, a block gets no more than this.
  constexpr int64_t kPlainSharedBytes = 48 * 1024;
  const auto refused = [](const char* what, int64_t value, cudaError_t error) {
    // A failed launch must not show up again in someone else's later check.
    static_cast<void>(cudaGetLastError());
    return kernels::LaunchStatus{.code = kernels::LaunchCode::kDriver,
                                 .what = what,
                                 .value = value,
                                 .driver_code = static_cast<int32_t>(error)};
  };
  // Static and dynamic share the limit, so ask whenever there is any dynamic memory to speak of.
  if (shape.dynamic_shared_bytes > 0) {
    cudaFuncAttributes attributes{};
    if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
        error != cudaSuccess) {
      return refused("the kernel is not in this program for this device", 0, error);
    }
    if (shape.dynamic_shared_bytes + static_cast<int64_t>(attributes.sharedSizeBytes) >
        kPlainSharedBytes) {
      const cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.dynamic_shared_bytes));
      if (error != cudaSuccess) {
        return refused("the device refuses that much shared memory", shape.dynamic_shared_bytes,
                       error);
      }
    }
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(shape.blocks_per_cluster);
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape.num_blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.num_threads));
  config.dynamicSmemBytes = static_cast<size_t>(shape.dynamic_shared_bytes);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = shape.blocks_per_cluster > 1 ? 1 : 0;
  if (const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments);
      error != cudaSuccess) {
    return refused("the launch failed", shape.num_blocks, error);
  }
  return {};
}

}  // namespace ifr::cuda
