// SPDX-License-Identifier: Apache-2.0
// Instance, physical device, device and its one queue. Created once, outlives every other Vulkan
// object.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "gfx/vulkan.h"

namespace ifr::host {

/// What the validation layer said. Its address is given to the driver: it never moves.
class ValidationLog {
 public:
  /// Any thread. Warnings and errors are counted and printed to stderr.
  void add(vk::DebugUtilsMessageSeverityFlagBitsEXT severity, const char* text);
  [[nodiscard]] uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};

enum class Validation { kOff, kOn };

struct DeviceInfo {
  PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;  // null: the linked loader's
  std::vector<const char*> instance_extensions = {};           // what the window system needs
  Validation validation = Validation::kOff;
  bool needs_swapchain = false;
  /// Makes the surface that the queue must be able to present to; called once, null when headless.
  Result<VkSurfaceKHR> (*create_surface)(VkInstance instance, void* user) = nullptr;
  void* user = nullptr;
};

/// Members are in order of creation, so that they are destroyed in the opposite one.
struct DeviceContext {
  std::unique_ptr<ValidationLog> validation_log;  // null when validation is off
  vk::raii::Context context;
  vk::raii::Instance instance = nullptr;
  vk::raii::DebugUtilsMessengerEXT messenger = nullptr;
  vk::raii::SurfaceKHR surface =
      nullptr;  // null when headless; swapchain code replaces it when it is lost
  vk::raii::PhysicalDevice physical_device = nullptr;
  vk::PhysicalDeviceProperties properties;
  vk::PhysicalDeviceMemoryProperties memory_properties;
  uint32_t queue_family = 0;
  uint32_t timestamp_valid_bits = 0;
  vk::raii::Device device = nullptr;
  vk::raii::Queue queue = nullptr;
  /// Every use of `queue` happens under this lock.
  std::unique_ptr<std::mutex> queue_mutex;

  explicit DeviceContext(PFN_vkGetInstanceProcAddr entry) : context(entry) {}

  [[nodiscard]] bool is_software() const {
    return properties.deviceType == vk::PhysicalDeviceType::eCpu;
  }
  [[nodiscard]] std::string device_name() const { return {properties.deviceName.data()}; }
  /// Shows `name` for `handle` in debuggers and validation messages; nothing when validation is
  /// off.
  void set_name(vk::ObjectType type, uint64_t handle, const char* name) const;
  /// Blocks until the GPU is idle. For shutdown only; errors are ignored, as nothing can be done
  /// about them then.
  void wait_idle() const;
};

/// Picks the best device with Vulkan 1.3, dynamic rendering, synchronization2 and timeline
/// semaphores: a discrete GPU before an integrated one before a CPU. Main thread. Errors: kNoDevice
/// with a reason for each device refused, kBadArgument when the validation layer is asked for and
/// not installed.
[[nodiscard]] Result<std::unique_ptr<DeviceContext>> create_device(const DeviceInfo& info);

/// Submits under the queue lock. Any thread.
[[nodiscard]] Result<void> submit(DeviceContext& device, const vk::SubmitInfo2& info);

}  // namespace ifr::host
