// SPDX-License-Identifier: Apache-2.0
#include "gfx/memory.h"

#include <cstring>
#include <optional>

namespace ifr::host {
namespace {

using Flags = vk::MemoryPropertyFlags;
using Bits = vk::MemoryPropertyFlagBits;

std::optional<uint32_t> find_memory_type(const DeviceContext& device, uint32_t allowed,
                                         Flags wanted) {
  for (uint32_t type = 0; type < device.memory_properties.memoryTypeCount; ++type) {
    const bool fits = (allowed & (1u << type)) != 0;
    if (fits && (device.memory_properties.memoryTypes[type].propertyFlags & wanted) == wanted) {
      return type;
    }
  }
  return std::nullopt;
}

Result<vk::raii::DeviceMemory> allocate(const DeviceContext& device,
                                        const vk::MemoryRequirements& needs, MemoryUse use) {
  const Flags visible = Bits::eHostVisible | Bits::eHostCoherent;
  Flags preferred = Bits::eDeviceLocal;
  Flags required = {};
  if (use == MemoryUse::kUpload) {
    preferred = visible | Bits::eDeviceLocal;
    required = visible;
  } else if (use == MemoryUse::kReadback) {
    preferred = visible | Bits::eHostCached;
    required = visible;
  }
  auto type = find_memory_type(device, needs.memoryTypeBits, preferred);
  if (!type) {
    type = find_memory_type(device, needs.memoryTypeBits, required);
  }
  if (!type) {
    return Error{ErrorCode::kVulkan,
                 "the Vulkan device has no memory type that the host can use for this resource"};
  }
  return device.device.allocateMemory({.allocationSize = needs.size, .memoryTypeIndex = *type});
}

}  // namespace

Result<Buffer> create_buffer(const DeviceContext& device, const BufferInfo& info) {
  return guard(info.name, [&]() -> Result<Buffer> {
    Buffer out;
    out.size_bytes = info.size_bytes;
    out.buffer = device.device.createBuffer({.size = info.size_bytes, .usage = info.usage});
    device.set_name(vk::ObjectType::eBuffer,
                    reinterpret_cast<uint64_t>(static_cast<VkBuffer>(*out.buffer)), info.name);
    IFR_HOST_ASSIGN(out.memory, allocate(device, out.buffer.getMemoryRequirements(), info.memory));
    out.buffer.bindMemory(*out.memory, 0);
    if (info.memory != MemoryUse::kDevice) {
      out.mapped = {static_cast<std::byte*>(out.memory.mapMemory(0, VK_WHOLE_SIZE)),
                    static_cast<size_t>(info.size_bytes)};
    }
    return out;
  });
}

Result<Buffer> create_filled_buffer(const DeviceContext& device, const BufferInfo& info,
                                    std::span<const std::byte> bytes) {
  BufferInfo sized = info;
  sized.size_bytes = bytes.size();
  IFR_HOST_ASSIGN(Buffer out, create_buffer(device, sized));
  std::memcpy(out.mapped.data(), bytes.data(), bytes.size());
  return out;
}

Result<Image> create_image(const DeviceContext& device, const ImageInfo& info) {
  return guard(info.name, [&]() -> Result<Image> {
    Image out;
    out.format = info.format;
    out.extent = info.extent;
    out.image = device.device.createImage({.imageType = vk::ImageType::e2D,
                                           .format = info.format,
                                           .extent = {info.extent.width, info.extent.height, 1},
                                           .mipLevels = 1,
                                           .arrayLayers = 1,
                                           .samples = info.samples,
                                           .tiling = vk::ImageTiling::eOptimal,
                                           .usage = info.usage,
                                           .sharingMode = vk::SharingMode::eExclusive,
                                           .initialLayout = vk::ImageLayout::eUndefined});
    device.set_name(vk::ObjectType::eImage,
                    reinterpret_cast<uint64_t>(static_cast<VkImage>(*out.image)), info.name);
    IFR_HOST_ASSIGN(out.memory,
                    allocate(device, out.image.getMemoryRequirements(), MemoryUse::kDevice));
    out.image.bindMemory(*out.memory, 0);
    out.view = device.device.createImageView(
        {.image = *out.image,
         .viewType = vk::ImageViewType::e2D,
         .format = info.format,
         .subresourceRange = {.aspectMask = info.aspect, .levelCount = 1, .layerCount = 1}});
    return out;
  });
}

}  // namespace ifr::host
