// SPDX-License-Identifier: Apache-2.0
// When a window can be drawn to: resizes, minimising, swapchains gone stale, surfaces lost. The
// decisions are here, apart from Vulkan, so that tests can play every case.
#pragma once

#include <cstdint>
#include <optional>

#include "gfx/vulkan.h"

namespace ifr::host {

/// What the decisions act on. Vulkan results are values: nothing here throws.
class PresentTarget {
 public:
  virtual ~PresentTarget() = default;
  /// Pixels of the window; 0 in either direction while it is minimised.
  [[nodiscard]] virtual vk::Extent2D extent() = 0;
  /// Makes a swapchain of this size. eErrorOutOfDateKHR: the window changed meanwhile, not an
  /// error.
  [[nodiscard]] virtual vk::Result rebuild(vk::Extent2D extent) = 0;
  /// Makes a surface anew after it was lost; its swapchain is gone as well.
  [[nodiscard]] virtual vk::Result recreate_surface() = 0;
  [[nodiscard]] virtual vk::Result acquire(vk::Semaphore signal, uint32_t& out_image) = 0;
  [[nodiscard]] virtual vk::Result present(uint32_t image) = 0;
};

/// Main thread only.
class Presenter {
 public:
  explicit Presenter(PresentTarget& target) : target_(&target) {}

  /// Index of the image to draw to, or nothing when this frame is to be skipped (minimised, or the
  /// window changes faster than swapchains are made). Errors: kNoWindow, kDeviceLost, kOutOfMemory.
  [[nodiscard]] Result<std::optional<uint32_t>> acquire(vk::Semaphore signal);
  /// Shows an acquired image. A stale swapchain is noted and made anew at the next acquire().
  [[nodiscard]] Result<void> present(uint32_t image);

  [[nodiscard]] uint64_t num_rebuilds() const { return num_rebuilds_; }

 private:
  [[nodiscard]] Result<bool> prepare();

  PresentTarget* target_;
  vk::Extent2D built_extent_{0, 0};
  bool is_stale_ = true;
  bool is_surface_lost_ = false;
  uint64_t num_rebuilds_ = 0;
};

}  // namespace ifr::host
