// SPDX-License-Identifier: Apache-2.0
// Buffers and images, each with an allocation of its own: the host makes a few dozen of them, at
// start or on a resize.
#pragma once

#include <cstddef>
#include <span>

#include "gfx/device.h"

namespace ifr::host {

/// Members stand in the order that lets the handle go before its memory.
struct Buffer {
  vk::raii::DeviceMemory memory = nullptr;
  vk::raii::Buffer buffer = nullptr;
  vk::DeviceSize size_bytes = 0;
  std::span<std::byte>
      mapped;  // empty when the memory is not visible to the host; valid while `memory` lives
};

struct Image {
  vk::raii::DeviceMemory memory = nullptr;
  vk::raii::Image image = nullptr;
  vk::raii::ImageView view = nullptr;
  vk::Format format = vk::Format::eUndefined;
  vk::Extent2D extent;
};

enum class MemoryUse {
  kDevice,    // the GPU's own
  kUpload,    // host writes, GPU reads: mapped, coherent
  kReadback,  // GPU writes, host reads: mapped, coherent, cached where there is such memory
};

struct BufferInfo {
  const char* name = "";
  vk::DeviceSize size_bytes = 0;
  vk::BufferUsageFlags usage = {};
  MemoryUse memory = MemoryUse::kUpload;
};

struct ImageInfo {
  const char* name = "";
  vk::Extent2D extent = {};
  vk::Format format = vk::Format::eUndefined;
  vk::ImageUsageFlags usage = {};
  vk::ImageAspectFlags aspect = vk::ImageAspectFlagBits::eColor;
  vk::SampleCountFlagBits samples = vk::SampleCountFlagBits::e1;
};

/// Any thread. Errors: kOutOfMemory; kVulkan when no memory type fits.
[[nodiscard]] Result<Buffer> create_buffer(const DeviceContext& device, const BufferInfo& info);
[[nodiscard]] Result<Image> create_image(const DeviceContext& device, const ImageInfo& info);

/// Creates a mapped buffer that holds a copy of `bytes`.
[[nodiscard]] Result<Buffer> create_filled_buffer(const DeviceContext& device,
                                                  const BufferInfo& info,
                                                  std::span<const std::byte> bytes);

}  // namespace ifr::host
