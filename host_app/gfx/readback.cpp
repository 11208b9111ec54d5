// SPDX-License-Identifier: Apache-2.0
#include "gfx/readback.h"

#include <png.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ifr::host {

Result<PendingReadback> record_readback(const DeviceContext& device,
                                        const vk::raii::CommandBuffer& commands,
                                        const ReadbackSource& source) {
  const bool bgra =
      source.format == vk::Format::eB8G8R8A8Unorm || source.format == vk::Format::eB8G8R8A8Srgb;
  const bool rgba =
      source.format == vk::Format::eR8G8B8A8Unorm || source.format == vk::Format::eR8G8B8A8Srgb;
  if (!bgra && !rgba) {
    return Error{ErrorCode::kVulkan,
                 "a screenshot of format " + vk::to_string(source.format) + " is not supported"};
  }
  PendingReadback out;
  out.extent = source.extent;
  out.swap_red_blue = bgra;
  IFR_HOST_ASSIGN(out.buffer,
                  create_buffer(device, {.name = "screenshot",
                                         .size_bytes = vk::DeviceSize{4} * source.extent.width *
                                                       source.extent.height,
                                         .usage = vk::BufferUsageFlagBits::eTransferDst,
                                         .memory = MemoryUse::kReadback}));
  const vk::BufferImageCopy2 region{
      .imageSubresource = {.aspectMask = vk::ImageAspectFlagBits::eColor, .layerCount = 1},
      .imageExtent = {source.extent.width, source.extent.height, 1}};
  commands.copyImageToBuffer2({.srcImage = source.image,
                               .srcImageLayout = vk::ImageLayout::eTransferSrcOptimal,
                               .dstBuffer = *out.buffer.buffer,
                               .regionCount = 1,
                               .pRegions = &region});
  const vk::BufferMemoryBarrier2 to_host{.srcStageMask = vk::PipelineStageFlagBits2::eCopy,
                                         .srcAccessMask = vk::AccessFlagBits2::eTransferWrite,
                                         .dstStageMask = vk::PipelineStageFlagBits2::eHost,
                                         .dstAccessMask = vk::AccessFlagBits2::eHostRead,
                                         .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                         .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                         .buffer = *out.buffer.buffer,
                                         .size = VK_WHOLE_SIZE};
  commands.pipelineBarrier2({.bufferMemoryBarrierCount = 1, .pBufferMemoryBarriers = &to_host});
  return out;
}

Picture take_picture(const PendingReadback& readback) {
  Picture picture{readback.extent.width, readback.extent.height, {}};
  picture.rgba.resize(readback.buffer.mapped.size());
  std::memcpy(picture.rgba.data(), readback.buffer.mapped.data(), picture.rgba.size());
  for (size_t pixel = 0; pixel + 3 < picture.rgba.size(); pixel += 4) {
    if (readback.swap_red_blue) {
      std::swap(picture.rgba[pixel], picture.rgba[pixel + 2]);
    }
    picture.rgba[pixel + 3] = 255;
  }
  return picture;
}

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

Error png_error(const std::string& path, const char* action, const char* reason) {
  return Error{ErrorCode::kIo, std::string("cannot ") + action + " " + path + ": " + reason};
}

}  // namespace

Result<void> write_png(const std::string& path, const Picture& picture) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (!file) {
    return png_error(path, "write", std::strerror(errno));
  }
  std::vector<uint8_t> rgb;
  rgb.reserve(picture.rgba.size() / 4 * 3);
  for (size_t pixel = 0; pixel + 3 < picture.rgba.size(); pixel += 4) {
    rgb.insert(rgb.end(), {picture.rgba[pixel], picture.rgba[pixel + 1], picture.rgba[pixel + 2]});
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_stdio(&image, file.get(), 0, rgb.data(), 0, nullptr) == 0) {
    return png_error(path, "write", image.message);
  }
  if (std::fclose(file.release()) != 0) {
    return png_error(path, "write", std::strerror(errno));
  }
  return {};
}

Result<Picture> read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    return png_error(path, "read", image.message);
  }
  image.format = PNG_FORMAT_RGBA;
  Picture picture{image.width, image.height, {}};
  picture.rgba.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr) == 0) {
    return png_error(path, "read", image.message);
  }
  return picture;
}

}  // namespace ifr::host
