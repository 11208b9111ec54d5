// SPDX-License-Identifier: Apache-2.0
// A rendered image back on the CPU, and as a PNG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gfx/frames.h"
#include "gfx/memory.h"

namespace ifr::host {

/// 8-bit RGBA, rows from top to bottom without gaps.
struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgba;
};

/// An image that has been asked for: recorded into a frame, there once that frame has run.
struct PendingReadback {
  Buffer buffer;
  vk::Extent2D extent;
  bool swap_red_blue = false;
};

struct ReadbackSource {
  vk::Image image;  // in layout eTransferSrcOptimal when the copy runs
  vk::Format format = vk::Format::eUndefined;
  vk::Extent2D extent;
};

/// Records the copy. Errors: kVulkan for a format that is not 8-bit RGBA or BGRA.
[[nodiscard]] Result<PendingReadback> record_readback(const DeviceContext& device,
                                                      const vk::raii::CommandBuffer& commands,
                                                      const ReadbackSource& source);
/// Call after the frame that holds the copy has finished on the GPU.
[[nodiscard]] Picture take_picture(const PendingReadback& readback);

/// Opaque 8-bit RGB. Errors: kIo with the path and the reason.
[[nodiscard]] Result<void> write_png(const std::string& path, const Picture& picture);
[[nodiscard]] Result<Picture> read_png(const std::string& path);

}  // namespace ifr::host
