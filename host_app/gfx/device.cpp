// SPDX-License-Identifier: Apache-2.0
#include "gfx/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

namespace ifr::host {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL on_debug_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                                const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                void* user) {
  static_cast<ValidationLog*>(user)->add(
      static_cast<vk::DebugUtilsMessageSeverityFlagBitsEXT>(severity),
      data->pMessage != nullptr ? data->pMessage : "(no text)");
  return VK_FALSE;
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_info(ValidationLog* log) {
  using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
  using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
  return {.messageSeverity = Severity::eWarning | Severity::eError,
          .messageType = Type::eGeneral | Type::eValidation | Type::ePerformance,
          .pfnUserCallback = on_debug_message,
          .pUserData = log};
}

Result<void> create_instance(DeviceContext& context, const DeviceInfo& info) {
  const vk::ApplicationInfo application{.pApplicationName = "interframe-host",
                                        .applicationVersion = 1,
                                        .pEngineName = "interframe-host",
                                        .engineVersion = 1,
                                        .apiVersion = VK_API_VERSION_1_3};
  const bool validate = info.validation == Validation::kOn;
  std::vector<const char*> extensions = info.instance_extensions;
  std::vector<const char*> layers;
  if (validate) {
    const auto available = context.context.enumerateInstanceLayerProperties();
    const bool found = std::any_of(available.begin(), available.end(), [](const auto& layer) {
      return std::strcmp(layer.layerName.data(), kValidationLayer) == 0;
    });
    if (!found) {
      return Error{ErrorCode::kBadArgument,
                   std::string("--validation needs the Vulkan layer ") + kValidationLayer +
                       ", which is not installed (it comes with the Vulkan SDK, or the "
                       "package vulkan-validationlayers)"};
    }
    layers.push_back(kValidationLayer);
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    context.validation_log = std::make_unique<ValidationLog>();
  }
  const vk::ValidationFeatureEnableEXT enabled[] = {
      vk::ValidationFeatureEnableEXT::eSynchronizationValidation};
  const vk::ValidationFeaturesEXT features{.enabledValidationFeatureCount = 1,
                                           .pEnabledValidationFeatures = enabled};
  vk::DebugUtilsMessengerCreateInfoEXT messenger = messenger_info(context.validation_log.get());
  messenger.pNext = &features;
  context.instance = context.context.createInstance(
      {.pNext = validate ? &messenger : nullptr,
       .pApplicationInfo = &application,
       .enabledLayerCount = static_cast<uint32_t>(layers.size()),
       .ppEnabledLayerNames = layers.data(),
       .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
       .ppEnabledExtensionNames = extensions.data()});
  if (validate) {
    context.messenger =
        context.instance.createDebugUtilsMessengerEXT(messenger_info(context.validation_log.get()));
  }
  return {};
}

struct Candidate {
  uint32_t queue_family = 0;
  uint32_t timestamp_valid_bits = 0;
  int rank = 0;
};

int device_rank(vk::PhysicalDeviceType type) {
  switch (type) {
    case vk::PhysicalDeviceType::eDiscreteGpu:
      return 4;
    case vk::PhysicalDeviceType::eIntegratedGpu:
      return 3;
    case vk::PhysicalDeviceType::eVirtualGpu:
      return 2;
    default:
      return 1;
  }
}

bool has_extension(const vk::raii::PhysicalDevice& device, const char* name) {
  const auto extensions = device.enumerateDeviceExtensionProperties();
  return std::any_of(extensions.begin(), extensions.end(), [name](const auto& extension) {
    return std::strcmp(extension.extensionName.data(), name) == 0;
  });
}

/// Fills `refusal` and returns nothing when the device cannot run the host.
std::optional<Candidate> examine(const vk::raii::PhysicalDevice& device,
                                 const DeviceContext& context, bool needs_swapchain,
                                 std::string& refusal) {
  const auto properties = device.getProperties();
  if (properties.apiVersion < VK_API_VERSION_1_3) {
    refusal = "Vulkan " + std::to_string(VK_API_VERSION_MAJOR(properties.apiVersion)) + "." +
              std::to_string(VK_API_VERSION_MINOR(properties.apiVersion)) + " only";
    return std::nullopt;
  }
  const auto features =
      device.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan12Features,
                          vk::PhysicalDeviceVulkan13Features>();
  if (!features.get<vk::PhysicalDeviceVulkan12Features>().timelineSemaphore ||
      !features.get<vk::PhysicalDeviceVulkan13Features>().dynamicRendering ||
      !features.get<vk::PhysicalDeviceVulkan13Features>().synchronization2) {
    refusal = "no timeline semaphores, dynamic rendering or synchronization2";
    return std::nullopt;
  }
  if (needs_swapchain && !has_extension(device, VK_KHR_SWAPCHAIN_EXTENSION_NAME)) {
    refusal = "no swapchain support";
    return std::nullopt;
  }
  const auto families = device.getQueueFamilyProperties();
  for (uint32_t family = 0; family < families.size(); ++family) {
    if (!(families[family].queueFlags & vk::QueueFlagBits::eGraphics)) {
      continue;
    }
    if (*context.surface && !device.getSurfaceSupportKHR(family, *context.surface)) {
      continue;
    }
    return Candidate{family, families[family].timestampValidBits,
                     device_rank(properties.deviceType)};
  }
  refusal =
      *context.surface ? "no queue that draws and presents to the window" : "no graphics queue";
  return std::nullopt;
}

Result<void> pick_physical_device(DeviceContext& context, const DeviceInfo& info) {
  std::string refusals;
  int best_rank = 0;
  for (auto& device : vk::raii::PhysicalDevices(context.instance)) {
    std::string refusal;
    const auto candidate = examine(device, context, info.needs_swapchain, refusal);
    if (!candidate) {
      refusals += std::string("\n  ") + device.getProperties().deviceName.data() + ": " + refusal;
    } else if (candidate->rank > best_rank) {
      best_rank = candidate->rank;
      context.queue_family = candidate->queue_family;
      context.timestamp_valid_bits = candidate->timestamp_valid_bits;
      context.physical_device = std::move(device);
    }
  }
  if (best_rank == 0) {
    return Error{
        ErrorCode::kNoDevice,
        "no Vulkan 1.3 device can run this program" +
            (refusals.empty()
                 ? std::string(": no device found. Install a Vulkan driver (on a machine without "
                               "a GPU, Mesa's lavapipe: package mesa-vulkan-drivers)")
                 : "; found and refused:" + refusals)};
  }
  context.properties = context.physical_device.getProperties();
  context.memory_properties = context.physical_device.getMemoryProperties();
  return {};
}

void create_logical_device(DeviceContext& context, const DeviceInfo& info) {
  const float priority = 1.0f;
  const vk::DeviceQueueCreateInfo queue{
      .queueFamilyIndex = context.queue_family, .queueCount = 1, .pQueuePriorities = &priority};
  const vk::PhysicalDeviceVulkan13Features features13{.synchronization2 = VK_TRUE,
                                                      .dynamicRendering = VK_TRUE};
  vk::PhysicalDeviceVulkan12Features features12{.timelineSemaphore = VK_TRUE};
  features12.pNext = const_cast<vk::PhysicalDeviceVulkan13Features*>(&features13);
  // Dynamic rendering is core in 1.3; the extension is named as well because ImGui's backend asks
  // for its entry points.
  std::vector<const char*> extensions = {VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME};
  if (info.needs_swapchain) {
    extensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  }
  context.device = context.physical_device.createDevice(
      {.pNext = &features12,
       .queueCreateInfoCount = 1,
       .pQueueCreateInfos = &queue,
       .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
       .ppEnabledExtensionNames = extensions.data()});
  context.queue = context.device.getQueue(context.queue_family, 0);
  context.queue_mutex = std::make_unique<std::mutex>();
}

}  // namespace

void ValidationLog::add(vk::DebugUtilsMessageSeverityFlagBitsEXT severity, const char* text) {
  count_.fetch_add(1, std::memory_order_relaxed);
  std::fprintf(stderr, "validation %s: %s\n", vk::to_string(severity).c_str(), text);
}

void DeviceContext::set_name(vk::ObjectType type, uint64_t handle, const char* name) const {
  if (validation_log != nullptr) {
    device.setDebugUtilsObjectNameEXT(
        {.objectType = type, .objectHandle = handle, .pObjectName = name});
  }
}

void DeviceContext::wait_idle() const {
  if (*device) {
    const std::lock_guard lock(*queue_mutex);
    (void)device.getDispatcher()->vkDeviceWaitIdle(static_cast<VkDevice>(*device));
  }
}

Result<std::unique_ptr<DeviceContext>> create_device(const DeviceInfo& info) {
  return guard("creating the Vulkan device", [&]() -> Result<std::unique_ptr<DeviceContext>> {
    auto context = std::make_unique<DeviceContext>(info.get_instance_proc_addr != nullptr
                                                       ? info.get_instance_proc_addr
                                                       : vkGetInstanceProcAddr);
    IFR_HOST_TRY(create_instance(*context, info));
    if (info.create_surface != nullptr) {
      IFR_HOST_ASSIGN(const VkSurfaceKHR surface,
                      info.create_surface(static_cast<VkInstance>(*context->instance), info.user));
      context->surface = vk::raii::SurfaceKHR(context->instance, surface);
    }
    IFR_HOST_TRY(pick_physical_device(*context, info));
    create_logical_device(*context, info);
    return context;
  });
}

Result<void> submit(DeviceContext& device, const vk::SubmitInfo2& info) {
  return guard("submitting to the GPU", [&] {
    const std::lock_guard lock(*device.queue_mutex);
    device.queue.submit2(info);
  });
}

}  // namespace ifr::host
