// SPDX-License-Identifier: Apache-2.0
// Which backends work on this machine, found out without starting them.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace ifr {

enum class Backend : int32_t { kCpu = 0, kCuda = 1 };

struct BackendInfo {
  Backend backend = Backend::kCpu;
  bool available = false;
  int32_t driver_version = 0;  // CUDA: 13000 for 13.0; 0 without a driver
  uint64_t memory_bytes = 0;   // 0: unknown
  std::string device_name;
  std::string reason;  // when not available
};

// CUDA: opens the driver library, asks, and closes it. Any thread; some ms.
[[nodiscard]] BackendInfo query_backend(Backend backend);

// kUnsupported with the reason and the driver's version where a runtime cannot use the backend.
[[nodiscard]] Status require_backend(Backend backend);

}  // namespace ifr
