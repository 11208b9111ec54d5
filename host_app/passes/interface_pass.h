// SPDX-License-Identifier: Apache-2.0
// Dear ImGui drawn over the scene: its context, its Vulkan and (with a window) its GLFW backend.
#pragma once

#include "gfx/frames.h"
#include "gfx/window.h"
#include "passes/scene_pass.h"

namespace ifr::host {

struct InterfaceInfo {
  vk::Format color_format = vk::Format::eUndefined;
  const Window* window = nullptr;  // null: headless, no input
  float scale = 1.0f;
};

/// Owns the ImGui and ImPlot contexts. Main thread only; one at a time, as ImGui's current context
/// is a global.
class InterfacePass {
 public:
  [[nodiscard]] static Result<InterfacePass> create(DeviceContext& device,
                                                    const InterfaceInfo& info);
  InterfacePass(InterfacePass&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), has_window_(other.has_window_) {}
  InterfacePass& operator=(InterfacePass&&) = delete;
  ~InterfacePass();

  /// After it the panels are drawn with ImGui calls. `delta_s` counts only without a window.
  void begin_frame(vk::Extent2D extent, double delta_s) const;
  /// Takes and leaves the target in eColorAttachmentOptimal.
  void record(const Frame& frame, const ColorTarget& target) const;

 private:
  InterfacePass(DeviceContext& device, bool has_window)
      : device_(&device), has_window_(has_window) {}
  DeviceContext* device_;
  bool has_window_;
};

}  // namespace ifr::host
