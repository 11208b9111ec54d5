// SPDX-License-Identifier: Apache-2.0
#include "gfx/window.h"

// vulkan.h comes first: GLFW then declares its Vulkan functions.
#include <GLFW/glfw3.h>

namespace ifr::host {
namespace {

Error glfw_error(const char* what) {
  const char* description = nullptr;
  (void)glfwGetError(&description);
  return Error{ErrorCode::kNoWindow,
               std::string(what) + ": " +
                   (description != nullptr ? description : "no reason given") +
                   ". Without a display, run with --headless"};
}

}  // namespace

Result<Window> Window::create(const WindowInfo& info) {
  if (glfwInit() != GLFW_TRUE) {
    return glfw_error("cannot reach a window system");
  }
  if (glfwVulkanSupported() != GLFW_TRUE) {
    Error error = glfw_error("no Vulkan driver can draw into windows here");
    glfwTerminate();
    return error;
  }
  glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
  GLFWwindow* window =
      glfwCreateWindow(static_cast<int>(info.size.width), static_cast<int>(info.size.height),
                       info.title.c_str(), nullptr, nullptr);
  if (window == nullptr) {
    Error error = glfw_error("cannot open a window");
    glfwTerminate();
    return error;
  }
  return Window(window);
}

Window::~Window() {
  if (window_ != nullptr) {
    glfwDestroyWindow(window_);
    glfwTerminate();
  }
}

std::vector<const char*> Window::instance_extensions() {
  uint32_t count = 0;
  const char** names = glfwGetRequiredInstanceExtensions(&count);
  return names != nullptr ? std::vector<const char*>(names, names + count)
                          : std::vector<const char*>{};
}

Result<VkSurfaceKHR> Window::create_surface(VkInstance instance) const {
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  const VkResult result = glfwCreateWindowSurface(instance, window_, nullptr, &surface);
  if (result != VK_SUCCESS) {
    return vulkan_error(static_cast<vk::Result>(result), "creating the window's surface");
  }
  return surface;
}

void Window::poll_events() const {
  const vk::Extent2D extent = framebuffer_extent();
  if (extent.width == 0 || extent.height == 0 ||
      glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == GLFW_TRUE) {
    glfwWaitEventsTimeout(0.05);
  } else {
    glfwPollEvents();
  }
}

vk::Extent2D Window::framebuffer_extent() const {
  if (glfwGetWindowAttrib(window_, GLFW_ICONIFIED) == GLFW_TRUE) {
    return {0, 0};  // some window systems go on telling the old size
  }
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  return {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
}

bool Window::should_close() const {
  return glfwWindowShouldClose(window_) == GLFW_TRUE;
}

float Window::content_scale() const {
  float x = 1.0f;
  float y = 1.0f;
  glfwGetWindowContentScale(window_, &x, &y);
  return x;
}

void Window::set_size(vk::Extent2D size) const {
  glfwSetWindowSize(window_, static_cast<int>(size.width), static_cast<int>(size.height));
}
void Window::minimise() const {
  glfwIconifyWindow(window_);
}
void Window::restore() const {
  glfwRestoreWindow(window_);
}
void Window::request_close() const {
  glfwSetWindowShouldClose(window_, GLFW_TRUE);
}

}  // namespace ifr::host
