// SPDX-License-Identifier: Apache-2.0
#include "gfx/swapchain.h"

#include <algorithm>

namespace ifr::host {
namespace {

// A frame that waits this long for an image is skipped: the window may be hidden by a compositor
// that takes none.
constexpr uint64_t kAcquireTimeoutNs = 500'000'000;

vk::PresentModeKHR choose_mode(const std::vector<vk::PresentModeKHR>& modes, FramePacing pacing) {
  const auto has = [&](vk::PresentModeKHR mode) {
    return std::find(modes.begin(), modes.end(), mode) != modes.end();
  };
  if (pacing == FramePacing::kUnlimited) {
    for (const auto mode : {vk::PresentModeKHR::eMailbox, vk::PresentModeKHR::eImmediate}) {
      if (has(mode)) {
        return mode;
      }
    }
  }
  return vk::PresentModeKHR::eFifo;
}

}  // namespace

Result<vk::Format> Swapchain::choose_format() {
  return guard("choosing the swapchain's format", [&]() -> Result<vk::Format> {
    const auto formats = device_->physical_device.getSurfaceFormatsKHR(*device_->surface);
    for (const auto wanted : {vk::Format::eB8G8R8A8Unorm, vk::Format::eR8G8B8A8Unorm}) {
      const auto found = std::find_if(
          formats.begin(), formats.end(), [wanted](const vk::SurfaceFormatKHR& format) {
            return format.format == wanted &&
                   format.colorSpace == vk::ColorSpaceKHR::eSrgbNonlinear;
          });
      if (found != formats.end()) {
        format_ = *found;
        return format_.format;
      }
    }
    return Error{ErrorCode::kNoWindow, "the window offers no 8-bit RGBA format to draw in"};
  });
}

void Swapchain::retire() {
  if (!*swapchain_) {
    return;
  }
  // The presents of the old images wait on their semaphores in queue order; two frames on they have
  // been taken.
  frames_->retire_queue().retire(Retired{std::move(images_), std::move(swapchain_)},
                                 frames_->next_value() + kFramesInFlight);
  images_.clear();
  swapchain_ = nullptr;
}

void Swapchain::create(vk::Extent2D extent) {
  const auto capabilities = device_->physical_device.getSurfaceCapabilitiesKHR(*device_->surface);
  built_extent_ = capabilities.currentExtent;
  if (built_extent_.width == UINT32_MAX) {  // the window takes any size
    built_extent_.width = std::clamp(extent.width, capabilities.minImageExtent.width,
                                     capabilities.maxImageExtent.width);
    built_extent_.height = std::clamp(extent.height, capabilities.minImageExtent.height,
                                      capabilities.maxImageExtent.height);
  }
  uint32_t num_images = std::max(capabilities.minImageCount + 1, kFramesInFlight + 1);
  if (capabilities.maxImageCount != 0) {
    num_images = std::min(num_images, capabilities.maxImageCount);
  }
  // Screenshots copy out of the image.
  const auto usage = vk::ImageUsageFlagBits::eColorAttachment |
                     (capabilities.supportedUsageFlags & vk::ImageUsageFlagBits::eTransferSrc);
  const auto modes = device_->physical_device.getSurfacePresentModesKHR(*device_->surface);
  vk::raii::SwapchainKHR next =
      device_->device.createSwapchainKHR({.surface = *device_->surface,
                                          .minImageCount = num_images,
                                          .imageFormat = format_.format,
                                          .imageColorSpace = format_.colorSpace,
                                          .imageExtent = built_extent_,
                                          .imageArrayLayers = 1,
                                          .imageUsage = usage,
                                          .imageSharingMode = vk::SharingMode::eExclusive,
                                          .preTransform = capabilities.currentTransform,
                                          .compositeAlpha = vk::CompositeAlphaFlagBitsKHR::eOpaque,
                                          .presentMode = choose_mode(modes, pacing_),
                                          .clipped = VK_TRUE,
                                          .oldSwapchain = *swapchain_});
  retire();
  swapchain_ = std::move(next);
  for (const VkImage image : swapchain_.getImages()) {
    Entry& entry = images_.emplace_back();
    entry.image = image;
    entry.view = device_->device.createImageView(
        {.image = image,
         .viewType = vk::ImageViewType::e2D,
         .format = format_.format,
         .subresourceRange = {
             .aspectMask = vk::ImageAspectFlagBits::eColor, .levelCount = 1, .layerCount = 1}});
    entry.rendered.semaphore = device_->device.createSemaphore({});
  }
}

vk::Result Swapchain::rebuild(vk::Extent2D extent) {
  try {
    const auto capabilities = device_->physical_device.getSurfaceCapabilitiesKHR(*device_->surface);
    if (capabilities.currentExtent.width == 0 || capabilities.currentExtent.height == 0) {
      return vk::Result::eErrorOutOfDateKHR;  // minimised between the two questions
    }
    create(extent);
    return vk::Result::eSuccess;
  } catch (const vk::SystemError& error) {
    return static_cast<vk::Result>(error.code().value());
  }
}

vk::Result Swapchain::recreate_surface() {
  retire();
  // The retired swapchain must go before the surface it was made for.
  auto waited = frames_->wait_all();
  if (!waited.ok()) {
    return vk::Result::eErrorDeviceLost;
  }
  frames_->retire_queue().collect(UINT64_MAX);
  device_->surface = nullptr;
  auto surface = window_->create_surface(static_cast<VkInstance>(*device_->instance));
  if (!surface.ok()) {
    return vk::Result::eErrorSurfaceLostKHR;
  }
  device_->surface = vk::raii::SurfaceKHR(device_->instance, surface.value());
  try {
    const bool can_present =
        device_->physical_device.getSurfaceSupportKHR(device_->queue_family, *device_->surface);
    return can_present ? vk::Result::eSuccess : vk::Result::eErrorSurfaceLostKHR;
  } catch (const vk::SystemError& error) {
    return static_cast<vk::Result>(error.code().value());
  }
}

vk::Result Swapchain::acquire(vk::Semaphore signal, uint32_t& out_image) {
  return static_cast<vk::Result>(device_->device.getDispatcher()->vkAcquireNextImageKHR(
      static_cast<VkDevice>(*device_->device), static_cast<VkSwapchainKHR>(*swapchain_),
      kAcquireTimeoutNs, static_cast<VkSemaphore>(signal), VK_NULL_HANDLE, &out_image));
}

vk::Result Swapchain::present(uint32_t image) {
  const auto swapchain = static_cast<VkSwapchainKHR>(*swapchain_);
  const auto wait = static_cast<VkSemaphore>(*images_[image].rendered.semaphore);
  const VkPresentInfoKHR info{.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                              .pNext = nullptr,
                              .waitSemaphoreCount = 1,
                              .pWaitSemaphores = &wait,
                              .swapchainCount = 1,
                              .pSwapchains = &swapchain,
                              .pImageIndices = &image,
                              .pResults = nullptr};
  const std::lock_guard lock(*device_->queue_mutex);
  return static_cast<vk::Result>(device_->device.getDispatcher()->vkQueuePresentKHR(
      static_cast<VkQueue>(*device_->queue), &info));
}

}  // namespace ifr::host
