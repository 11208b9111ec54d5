// SPDX-License-Identifier: Apache-2.0
// One GLFW window. Main thread only, as GLFW demands.
#pragma once

#include <string>
#include <vector>

#include "gfx/vulkan.h"

struct GLFWwindow;

namespace ifr::host {

struct WindowInfo {
  std::string title;
  vk::Extent2D size;  // in screen coordinates
};

class Window {
 public:
  /// Starts GLFW. Errors: kNoWindow when there is no window system.
  [[nodiscard]] static Result<Window> create(const WindowInfo& info);
  Window(Window&& other) noexcept : window_(std::exchange(other.window_, nullptr)) {}
  Window& operator=(Window&&) = delete;
  ~Window();

  [[nodiscard]] GLFWwindow* handle() const { return window_; }
  [[nodiscard]] static std::vector<const char*> instance_extensions();
  /// The caller owns the surface.
  [[nodiscard]] Result<VkSurfaceKHR> create_surface(VkInstance instance) const;

  /// Handles what the window system has sent. While the window is minimised it waits for up to 50
  /// ms first.
  void poll_events() const;
  /// In pixels; 0 x 0 while minimised.
  [[nodiscard]] vk::Extent2D framebuffer_extent() const;
  [[nodiscard]] bool should_close() const;
  [[nodiscard]] float content_scale() const;

  // What a user would do by hand.
  void set_size(vk::Extent2D size) const;
  void minimise() const;
  void restore() const;
  void request_close() const;

 private:
  explicit Window(GLFWwindow* window) : window_(window) {}
  GLFWwindow* window_ = nullptr;
};

}  // namespace ifr::host
