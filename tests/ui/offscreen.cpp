// SPDX-License-Identifier: Apache-2.0
#include "ui/offscreen.h"

#include <array>
#include <cstring>
#include <utility>

#include <imgui.h>
#include <imgui_impl_vulkan.h>
#include <implot.h>
#include <png.h>
#include <vulkan/vulkan.h>

namespace ifr::overlay::testing {
namespace {

constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

uint32_t find_memory(VkPhysicalDevice device, uint32_t allowed, VkMemoryPropertyFlags wanted) {
  VkPhysicalDeviceMemoryProperties properties;
  vkGetPhysicalDeviceMemoryProperties(device, &properties);
  for (uint32_t i = 0; i < properties.memoryTypeCount; ++i) {
    const bool fits = (properties.memoryTypes[i].propertyFlags & wanted) == wanted;
    if ((allowed & (1U << i)) != 0 && fits) {
      return i;
    }
  }
  return 0;
}

}  // namespace

struct Offscreen::Objects {
  uint32_t width = 0;
  uint32_t height = 0;
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkImage image = VK_NULL_HANDLE;
  VkDeviceMemory image_memory = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory buffer_memory = VK_NULL_HANDLE;
  void* mapped = nullptr;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  ImGuiContext* imgui = nullptr;
  ImPlotContext* implot = nullptr;
  bool backend = false;

  std::string begin_device();
  bool create_image();
  bool create_buffer();
  bool begin_imgui();
  void record_draw(ImDrawData* data) const;
  void move_image(VkImageLayout from, VkImageLayout to) const;
  ~Objects();
};

std::string Offscreen::Objects::begin_device() {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo instance_info{};
  instance_info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  instance_info.pApplicationInfo = &application;
  if (vkCreateInstance(&instance_info, nullptr, &instance) != VK_SUCCESS) {
    return "no Vulkan 1.3 instance";
  }
  std::array<VkPhysicalDevice, 8> devices{};
  auto count = static_cast<uint32_t>(devices.size());
  vkEnumeratePhysicalDevices(instance, &count, devices.data());
  for (uint32_t i = 0; i < count && physical == VK_NULL_HANDLE; ++i) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(devices[i], &properties);
    std::array<VkQueueFamilyProperties, 8> families{};
    auto num_families = static_cast<uint32_t>(families.size());
    vkGetPhysicalDeviceQueueFamilyProperties(devices[i], &num_families, families.data());
    for (uint32_t j = 0; j < num_families; ++j) {
      const bool draws = (families[j].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
      if (properties.apiVersion >= VK_API_VERSION_1_3 && draws) {
        physical = devices[i];
        family = j;
        break;
      }
    }
  }
  if (physical == VK_NULL_HANDLE) {
    return "no Vulkan 1.3 device that draws";
  }
  const float priority = 1.0F;
  VkDeviceQueueCreateInfo queue_info{};
  queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue_info.queueFamilyIndex = family;
  queue_info.queueCount = 1;
  queue_info.pQueuePriorities = &priority;
  VkPhysicalDeviceVulkan13Features features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  features.dynamicRendering = VK_TRUE;
  features.synchronization2 = VK_TRUE;
  // ImGui's backend looks the entry points up by their extension names.
  const char* const extension = VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME;
  VkDeviceCreateInfo device_info{};
  device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  device_info.pNext = &features;
  device_info.queueCreateInfoCount = 1;
  device_info.pQueueCreateInfos = &queue_info;
  device_info.enabledExtensionCount = 1;
  device_info.ppEnabledExtensionNames = &extension;
  if (vkCreateDevice(physical, &device_info, nullptr, &device) != VK_SUCCESS) {
    return "the Vulkan device has no dynamic rendering";
  }
  vkGetDeviceQueue(device, family, 0, &queue);
  return "";
}

bool Offscreen::Objects::create_image() {
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = kFormat;
  info.extent = {width, height, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  VkMemoryRequirements needs;
  if (vkCreateImage(device, &info, nullptr, &image) != VK_SUCCESS) {
    return false;
  }
  vkGetImageMemoryRequirements(device, image, &needs);
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex =
      find_memory(physical, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  if (vkAllocateMemory(device, &allocate, nullptr, &image_memory) != VK_SUCCESS ||
      vkBindImageMemory(device, image, image_memory, 0) != VK_SUCCESS) {
    return false;
  }
  VkImageViewCreateInfo view_info{};
  view_info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  view_info.image = image;
  view_info.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view_info.format = kFormat;
  view_info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  return vkCreateImageView(device, &view_info, nullptr, &view) == VK_SUCCESS;
}

bool Offscreen::Objects::create_buffer() {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = VkDeviceSize{width} * height * 4;
  info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (vkCreateBuffer(device, &info, nullptr, &buffer) != VK_SUCCESS) {
    return false;
  }
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, buffer, &needs);
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex =
      find_memory(physical, needs.memoryTypeBits,
                  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  if (vkAllocateMemory(device, &allocate, nullptr, &buffer_memory) != VK_SUCCESS ||
      vkBindBufferMemory(device, buffer, buffer_memory, 0) != VK_SUCCESS ||
      vkMapMemory(device, buffer_memory, 0, VK_WHOLE_SIZE, 0, &mapped) != VK_SUCCESS) {
    return false;
  }
  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool_info.queueFamilyIndex = family;
  if (vkCreateCommandPool(device, &pool_info, nullptr, &pool) != VK_SUCCESS) {
    return false;
  }
  VkCommandBufferAllocateInfo commands_info{};
  commands_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  commands_info.commandPool = pool;
  commands_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commands_info.commandBufferCount = 1;
  return vkAllocateCommandBuffers(device, &commands_info, &commands) == VK_SUCCESS;
}

bool Offscreen::Objects::begin_imgui() {
  IMGUI_CHECKVERSION();
  imgui = ImGui::CreateContext();
  implot = ImPlot::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  io.DeltaTime = 1.0F / 60.0F;
  ImGui_ImplVulkan_InitInfo info{};
  info.ApiVersion = VK_API_VERSION_1_3;
  info.Instance = instance;
  info.PhysicalDevice = physical;
  info.Device = device;
  info.QueueFamily = family;
  info.Queue = queue;
  info.DescriptorPoolSize = 32;
  info.MinImageCount = 2;
  info.ImageCount = 2;
  info.UseDynamicRendering = true;
  VkPipelineRenderingCreateInfo& rendering = info.PipelineInfoMain.PipelineRenderingCreateInfo;
  rendering.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &kFormat;
  backend = ImGui_ImplVulkan_Init(&info);
  return backend;
}

void Offscreen::Objects::move_image(VkImageLayout from, VkImageLayout to) const {
  VkImageMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

void Offscreen::Objects::record_draw(ImDrawData* data) const {
  move_image(VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
  VkRenderingAttachmentInfo attachment{};
  attachment.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  attachment.imageView = view;
  attachment.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo rendering{};
  rendering.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  rendering.renderArea.extent = {width, height};
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachments = &attachment;
  vkCmdBeginRendering(commands, &rendering);
  ImGui_ImplVulkan_RenderDrawData(data, commands);
  vkCmdEndRendering(commands);
  move_image(VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  VkBufferImageCopy copy{};
  copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  copy.imageExtent = {width, height, 1};
  vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &copy);
}

Offscreen::Objects::~Objects() {
  if (device != VK_NULL_HANDLE) {
    vkDeviceWaitIdle(device);
  }
  if (backend) {
    ImGui_ImplVulkan_Shutdown();
  }
  if (implot != nullptr) {
    ImPlot::DestroyContext(implot);
  }
  if (imgui != nullptr) {
    ImGui::DestroyContext(imgui);
  }
  if (device != VK_NULL_HANDLE) {
    vkDestroyCommandPool(device, pool, nullptr);
    vkDestroyBuffer(device, buffer, nullptr);
    vkFreeMemory(device, buffer_memory, nullptr);
    vkDestroyImageView(device, view, nullptr);
    vkDestroyImage(device, image, nullptr);
    vkFreeMemory(device, image_memory, nullptr);
    vkDestroyDevice(device, nullptr);
  }
  if (instance != VK_NULL_HANDLE) {
    vkDestroyInstance(instance, nullptr);
  }
}

Offscreen::Offscreen(std::unique_ptr<Objects> objects) : objects_(std::move(objects)) {}
Offscreen::~Offscreen() = default;

std::unique_ptr<Offscreen> Offscreen::create(uint32_t width, uint32_t height, std::string& reason) {
  auto objects = std::make_unique<Objects>();
  objects->width = width;
  objects->height = height;
  reason = objects->begin_device();
  if (!reason.empty()) {
    return nullptr;
  }
  if (!objects->create_image() || !objects->create_buffer() || !objects->begin_imgui()) {
    reason = "Vulkan refused the image, the buffer or ImGui's pipeline";
    return nullptr;
  }
  return std::unique_ptr<Offscreen>(new Offscreen(std::move(objects)));
}

Picture Offscreen::render(const std::function<void()>& frame) {
  const Objects& objects = *objects_;
  ImGui_ImplVulkan_NewFrame();
  ImGui::NewFrame();
  frame();
  ImGui::Render();
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  vkBeginCommandBuffer(objects.commands, &begin);
  objects.record_draw(ImGui::GetDrawData());
  vkEndCommandBuffer(objects.commands);
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &objects.commands;
  if (vkQueueSubmit(objects.queue, 1, &submit, VK_NULL_HANDLE) != VK_SUCCESS ||
      vkQueueWaitIdle(objects.queue) != VK_SUCCESS) {
    return {};
  }
  Picture picture{objects.width, objects.height, {}};
  picture.rgba.resize(size_t{objects.width} * objects.height * 4);
  std::memcpy(picture.rgba.data(), objects.mapped, picture.rgba.size());
  return picture;
}

bool write_png(const Picture& picture, const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> rgb;
  rgb.reserve(picture.rgba.size() / 4 * 3);
  for (size_t i = 0; i + 3 < picture.rgba.size(); i += 4) {
    rgb.insert(rgb.end(), picture.rgba.begin() + static_cast<std::ptrdiff_t>(i),
               picture.rgba.begin() + static_cast<std::ptrdiff_t>(i + 3));
  }
  return png_image_write_to_file(&image, path.c_str(), 0, rgb.data(), 0, nullptr) != 0;
}

std::pair<uint32_t, uint32_t> png_size(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    return {0, 0};
  }
  const std::pair<uint32_t, uint32_t> size = {image.width, image.height};
  png_image_free(&image);
  return size;
}

}  // namespace ifr::overlay::testing
