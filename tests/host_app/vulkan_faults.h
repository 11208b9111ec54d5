// SPDX-License-Identifier: Apache-2.0
// Stands between the host and the driver: counts creations and destructions, and fails the n-th
// creation.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gfx/vulkan.h"

namespace ifr::host {

struct FaultCounts {
  int num_creations = 0;  // calls that create or allocate, failed ones too
  int fail_at = -1;       // creation that fails with VK_ERROR_OUT_OF_HOST_MEMORY, 0-based; -1: none
  std::map<std::string, int> balance;  // kind -> created and not yet destroyed
};

/// Of the current test. Vulkan's entry points have no user pointer.
[[nodiscard]] FaultCounts& fault_counts();
[[nodiscard]] PFN_vkVoidFunction VKAPI_CALL faulty_get_instance_proc_addr(VkInstance instance,
                                                                          const char* name);

}  // namespace ifr::host
