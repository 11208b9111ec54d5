// SPDX-License-Identifier: Apache-2.0
#include "common/device_caps.h"

#include <cuda_runtime.h>

namespace ifr::cuda {

kernels::LaunchStatus query_device_caps(int32_t device, kernels::DeviceCaps& caps) {
  kernels::DeviceCaps found{};
  int major = 0;
  int minor = 0;
  struct Query {
    cudaDeviceAttr attribute;
    int* value;
  };
  const Query queries[] = {
      {cudaDevAttrComputeCapabilityMajor, &major},
      {cudaDevAttrComputeCapabilityMinor, &minor},
      {cudaDevAttrMultiProcessorCount, &found.num_sms},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, &found.max_shared_bytes_per_block},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, &found.shared_bytes_per_sm},
      {cudaDevAttrMaxThreadsPerMultiProcessor, &found.max_threads_per_sm},
      {cudaDevAttrL2CacheSize, &found.l2_bytes},
  };
  for (const Query& query : queries) {
    if (const cudaError_t error = cudaDeviceGetAttribute(query.value, query.attribute, device);
        error != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return {.code = kernels::LaunchCode::kDriver,
              .what = "a device attribute could not be read",
              .value = device,
              .driver_code = static_cast<int32_t>(error)};
    }
  }
  found.compute_capability = 10 * major + minor;
  caps = found;
  return {};
}

}  // namespace ifr::cuda
