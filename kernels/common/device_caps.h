// SPDX-License-Identifier: Apache-2.0
// Device properties from the CUDA runtime. Compiles without CUDA; interframe_kernels_cuda has it.
#pragma once

#include "interframe_kernels/launch.h"

#include <cstdint>

namespace ifr::cuda {

// Fills `caps` for a device ordinal; untouched on kDriver. Any thread; does not block on the
// device.
kernels::LaunchStatus query_device_caps(int32_t device, kernels::DeviceCaps& caps);

}  // namespace ifr::cuda
