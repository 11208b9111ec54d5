// SPDX-License-Identifier: Apache-2.0
#include "gfx/present.h"

namespace ifr::host {
namespace {

// A window dragged by its corner may outrun one or two swapchains; after these the frame is skipped
// instead.
constexpr int kMaxAttempts = 3;

}  // namespace

/// True when a swapchain of the window's size is there, false to skip the frame.
Result<bool> Presenter::prepare() {
  const vk::Extent2D extent = target_->extent();
  if (extent.width == 0 || extent.height == 0) {
    is_stale_ = true;
    return false;
  }
  if (is_surface_lost_) {
    const vk::Result result = target_->recreate_surface();
    if (result != vk::Result::eSuccess) {
      return vulkan_error(result, "getting the window's surface back");
    }
    is_surface_lost_ = false;
    is_stale_ = true;
  }
  if (!is_stale_ && extent == built_extent_) {
    return true;
  }
  const vk::Result result = target_->rebuild(extent);
  if (result == vk::Result::eErrorOutOfDateKHR) {
    return false;
  }
  if (result == vk::Result::eErrorSurfaceLostKHR) {
    is_surface_lost_ = true;
    return false;
  }
  if (result != vk::Result::eSuccess) {
    return vulkan_error(result, "creating the swapchain");
  }
  ++num_rebuilds_;
  built_extent_ = extent;
  is_stale_ = false;
  return true;
}

Result<std::optional<uint32_t>> Presenter::acquire(vk::Semaphore signal) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    IFR_HOST_ASSIGN(const bool ready, prepare());
    if (!ready) {
      return std::optional<uint32_t>{};
    }
    uint32_t image = 0;
    const vk::Result result = target_->acquire(signal, image);
    switch (result) {
      case vk::Result::eSuboptimalKHR:
        // The image is ours and the semaphore will be signalled: draw it, then make a better
        // swapchain.
        is_stale_ = true;
        return std::optional<uint32_t>{image};
      case vk::Result::eSuccess:
        return std::optional<uint32_t>{image};
      case vk::Result::eErrorOutOfDateKHR:
        is_stale_ = true;
        break;
      case vk::Result::eErrorSurfaceLostKHR:
        is_surface_lost_ = true;
        break;
      case vk::Result::eTimeout:
      case vk::Result::eNotReady:
        return std::optional<uint32_t>{};
      default:
        return vulkan_error(result, "acquiring a swapchain image");
    }
  }
  return std::optional<uint32_t>{};
}

Result<void> Presenter::present(uint32_t image) {
  const vk::Result result = target_->present(image);
  switch (result) {
    case vk::Result::eSuccess:
      return {};
    case vk::Result::eSuboptimalKHR:
    case vk::Result::eErrorOutOfDateKHR:
      is_stale_ = true;
      return {};
    case vk::Result::eErrorSurfaceLostKHR:
      is_surface_lost_ = true;
      return {};
    default:
      return vulkan_error(result, "presenting a frame");
  }
}

}  // namespace ifr::host
