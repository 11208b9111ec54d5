// SPDX-License-Identifier: Apache-2.0
// ImGui frames drawn by Vulkan into memory: what a window would show.
#ifndef INTERFRAME_TESTS_UI_OFFSCREEN_H
#define INTERFRAME_TESTS_UI_OFFSCREEN_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ifr::overlay::testing {

struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgba;  ///< [height, width, 4]

  [[nodiscard]] const uint8_t* at(uint32_t x, uint32_t y) const {
    return rgba.data() + (size_t{y} * width + x) * 4;
  }
};

/// Writes an 8-bit RGB file; false when it cannot.
bool write_png(const Picture& picture, const std::string& path);
/// Width and height that the file says; zeros when it is none.
std::pair<uint32_t, uint32_t> png_size(const std::string& path);

/// One device, one image, one ImGui and ImPlot context (current while it lives).
class Offscreen {
 public:
  /// Null where there is no Vulkan 1.3 device; `reason` then says why.
  static std::unique_ptr<Offscreen> create(uint32_t width, uint32_t height, std::string& reason);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  /// Runs `frame` between NewFrame and Render and draws it. Empty picture when Vulkan fails.
  Picture render(const std::function<void()>& frame);

 private:
  struct Objects;
  explicit Offscreen(std::unique_ptr<Objects> objects);
  std::unique_ptr<Objects> objects_;
};

}  // namespace ifr::overlay::testing

#endif  // INTERFRAME_TESTS_UI_OFFSCREEN_H
