// SPDX-License-Identifier: Apache-2.0
// What every operator's contract shares: result of a launch, scratch memory, cost, device
// properties. Compiles without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

typedef struct CUstream_st* cudaStream_t;

namespace ifr::kernels {

enum class LaunchCode : int32_t {
  kOk = 0,
  kUnsupported = 1,      // a shape or type outside the operator's contract
  kInvalidArgument = 2,  // null, misaligned or contradictory parameters
  kWorkspaceTooSmall = 3,
  kDriver = 4,  // the CUDA runtime refused; driver_code says why
};

// Static text only: launching never allocates.
struct [[nodiscard]] LaunchStatus {
  LaunchCode code = LaunchCode::kOk;
  const char* what = "";    // which parameter or limit
  int64_t value = 0;        // the offending value
  int32_t driver_code = 0;  // cudaError_t

  [[nodiscard]] bool is_ok() const { return code == LaunchCode::kOk; }
};

struct Workspace {
  void* data = nullptr;  // device memory, 256-byte aligned; owned by the caller; contents undefined
                         // between calls
  size_t size_bytes = 0;
};

// What an operator must move and compute at least; the roofline of benches and overlay.
struct OperatorCost {
  int64_t bytes = 0;
  int64_t flops = 0;
};

// Queried once from the device; every architecture-dependent choice reads these, never a name.
struct DeviceCaps {
  int32_t compute_capability = 0;  // 90 for 9.0
  int32_t num_sms = 0;
  int32_t max_shared_bytes_per_block = 0;  // opt-in limit
  int32_t shared_bytes_per_sm = 0;
  int32_t max_threads_per_sm = 0;
  int32_t l2_bytes = 0;
};

}  // namespace ifr::kernels
