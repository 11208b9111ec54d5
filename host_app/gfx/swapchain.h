// SPDX-License-Identifier: Apache-2.0
// The window's swapchain as a PresentTarget.
#pragma once

#include <vector>

#include "gfx/frames.h"
#include "gfx/present.h"
#include "gfx/window.h"

namespace ifr::host {

enum class FramePacing {
  kDisplay,   // one frame a refresh
  kUnlimited  // newest frame wins, where the driver can
};

/// Main thread only. Window, device and frames outlive it.
class Swapchain final : public PresentTarget {
 public:
  Swapchain(DeviceContext& device, FrameRing& frames, const Window& window, FramePacing pacing)
      : device_(&device), frames_(&frames), window_(&window), pacing_(pacing) {}

  /// The format that all swapchains of the surface will have: 8-bit, not sRGB, as the shaders
  /// encode colours themselves and the interface blends in display space.
  [[nodiscard]] Result<vk::Format> choose_format();

  [[nodiscard]] vk::Extent2D extent() override { return window_->framebuffer_extent(); }
  [[nodiscard]] vk::Result rebuild(vk::Extent2D extent) override;
  [[nodiscard]] vk::Result recreate_surface() override;
  [[nodiscard]] vk::Result acquire(vk::Semaphore signal, uint32_t& out_image) override;
  [[nodiscard]] vk::Result present(uint32_t image) override;

  [[nodiscard]] vk::Image image(uint32_t index) const { return images_[index].image; }
  [[nodiscard]] vk::ImageView view(uint32_t index) const { return *images_[index].view; }
  [[nodiscard]] vk::Semaphore rendered(uint32_t index) const {
    return *images_[index].rendered.semaphore;
  }
  [[nodiscard]] vk::Extent2D built_extent() const { return built_extent_; }
  [[nodiscard]] vk::Format format() const { return format_.format; }

 private:
  struct Entry {
    vk::Image image;  // the swapchain's
    vk::raii::ImageView view = nullptr;
    PresentSemaphore rendered;
  };
  /// What a replaced swapchain needs to outlive.
  struct Retired {
    std::vector<Entry> images;
    vk::raii::SwapchainKHR swapchain = nullptr;
  };
  void retire();
  void create(vk::Extent2D extent);

  DeviceContext* device_;
  FrameRing* frames_;
  const Window* window_;
  FramePacing pacing_;
  vk::SurfaceFormatKHR format_{};
  vk::Extent2D built_extent_;
  vk::raii::SwapchainKHR swapchain_ = nullptr;
  std::vector<Entry> images_;
};

}  // namespace ifr::host
