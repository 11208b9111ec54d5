// SPDX-License-Identifier: Apache-2.0
#include "gfx/vulkan.h"

namespace ifr::host {

Error vulkan_error(vk::Result result, const char* what) {
  ErrorCode code = ErrorCode::kVulkan;
  switch (result) {
    case vk::Result::eErrorOutOfHostMemory:
    case vk::Result::eErrorOutOfDeviceMemory:
      code = ErrorCode::kOutOfMemory;
      break;
    case vk::Result::eErrorDeviceLost:
      code = ErrorCode::kDeviceLost;
      break;
    case vk::Result::eErrorSurfaceLostKHR:
    case vk::Result::eErrorNativeWindowInUseKHR:
      code = ErrorCode::kNoWindow;
      break;
    case vk::Result::eErrorIncompatibleDriver:
      return Error{
          ErrorCode::kNoDevice,
          "no Vulkan driver was found: install the GPU's, or one that runs on the CPU (Mesa's "
          "lavapipe, package mesa-vulkan-drivers)"};
    default:
      break;
  }
  return Error{code, std::string(what) + " failed: " + vk::to_string(result)};
}

}  // namespace ifr::host
