// SPDX-License-Identifier: Apache-2.0
// The overlay as pixels, drawn by a real Vulkan device (a software one will do). The pictures stay
// in the build folder.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "interframe_overlay/overlay.h"
#include "panels/layout.h"
#include "ui/fake_plugin.h"
#include "ui/offscreen.h"

namespace ifr::overlay::testing {
namespace {

/// Something like a scene, so that translucency shows.
void draw_backdrop() {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImDrawList* const list = ImGui::GetBackgroundDrawList();
  const ImU32 sky = IM_COL32(38, 58, 96, 255);
  const ImU32 horizon = IM_COL32(214, 142, 98, 255);
  const ImU32 ground = IM_COL32(36, 40, 46, 255);
  list->AddRectFilledMultiColor(ImVec2(0, 0), ImVec2(size.x, size.y * 0.62F), sky, sky, horizon,
                                horizon);
  list->AddRectFilled(ImVec2(0, size.y * 0.62F), size, ground);
  list->AddCircleFilled(ImVec2(size.x * 0.5F, size.y * 0.5F), size.y * 0.07F,
                        IM_COL32(255, 226, 170, 255), 64);
}

std::string picture_path(const char* name) {
  const std::filesystem::path folder = std::filesystem::path(IFR_BINARY_DIR) / "pictures";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

bool is_bright(const uint8_t* pixel) {
  return pixel[0] > 130 && pixel[1] > 130 && pixel[2] > 130;
}

/// Of a strong colour: cells of the map, bars.
bool is_colored(const uint8_t* pixel) {
  return std::max({pixel[0], pixel[1], pixel[2]}) - std::min({pixel[0], pixel[1], pixel[2]}) > 90;
}

/// Part of the pixels of `rect` for which `counts` holds.
double part_of(const Picture& picture, const PanelRect& rect, bool (*counts)(const uint8_t*)) {
  size_t num_counted = 0;
  size_t num_all = 0;
  const auto right = std::min(static_cast<uint32_t>(rect.x + rect.width), picture.width);
  const auto bottom = std::min(static_cast<uint32_t>(rect.y + rect.height), picture.height);
  for (auto y = static_cast<uint32_t>(rect.y); y < bottom; ++y) {
    for (auto x = static_cast<uint32_t>(rect.x); x < right; ++x) {
      num_counted += counts(picture.at(x, y)) ? 1 : 0;
      ++num_all;
    }
  }
  return num_all == 0 ? 0.0 : static_cast<double>(num_counted) / static_cast<double>(num_all);
}

void run_history(FakePlugin& plugin, Overlay& overlay) {
  const ifr_api api = fake_api();
  for (int i = 0; i < 260; ++i) {
    plugin.telemetry.time_ns += History::kIntervalNs;
    const auto t = static_cast<float>(i);
    const bool idle = i < 30 || (i > 120 && i < 150);
    plugin.telemetry.decode_tokens_per_second =
        idle ? 0.0F : 26.0F + 2.0F * std::sin(t * 0.2F) + 1.5F * std::sin(t * 1.7F);
    overlay.update(&api, plugin.runtime());
  }
}

struct PictureCase {
  const char* name;
  uint32_t width;
  uint32_t height;
  float scale;
  int32_t num_layers;
  int32_t num_queries;
  bool hover;
  bool pin;
  MapColor color;
};

class Pictures : public ::testing::TestWithParam<PictureCase> {};

TEST_P(Pictures, ShowAllPanels) {
  const PictureCase& test = GetParam();
  std::string reason;
  const std::unique_ptr<Offscreen> screen = Offscreen::create(test.width, test.height, reason);
  if (screen == nullptr) {
    GTEST_SKIP() << reason << "; install a Vulkan 1.3 driver (Mesa's lavapipe needs no GPU)";
  }
  overlay_apply_style(test.scale);
  FakePlugin plugin = test.num_layers > 0 ? make_busy_plugin(test.num_layers, test.num_queries)
                                          : make_dense_plugin();
  Overlay overlay;
  overlay.view.map_color = test.color;
  run_history(plugin, overlay);
  const ifr_api api = fake_api();
  const PanelLayout layout = plan_layout({.display_width = static_cast<float>(test.width),
                                          .display_height = static_cast<float>(test.height),
                                          .scale = test.scale,
                                          .selection_has_map = test.num_layers > 0});
  const ImVec2 over_map(layout.selection.x + layout.selection.width * 0.42F,
                        layout.selection.y + layout.selection.height * 0.58F);
  ImGui::GetIO().AddMousePosEvent(test.hover || test.pin ? over_map.x : -1.0F,
                                  test.hover || test.pin ? over_map.y : -1.0F);
  Picture picture;
  for (int i = 0; i < 8; ++i) {
    if (test.pin && (i == 3 || i == 4)) {
      ImGui::GetIO().AddMouseButtonEvent(0, i == 3);
    }
    if (test.pin && i == 5) {
      ImGui::GetIO().AddMousePosEvent(-1.0F, -1.0F);
    }
    overlay.update(&api, plugin.runtime());
    picture = screen->render([&] {
      draw_backdrop();
      EXPECT_EQ(overlay.draw(), DrawResult::kDrawn);
    });
  }
  ASSERT_FALSE(picture.rgba.empty());
  const std::string path = picture_path(test.name);
  ASSERT_TRUE(write_png(picture, path));
  EXPECT_EQ(png_size(path), std::make_pair(test.width, test.height));
  for (const PanelRect& panel : {layout.generation, layout.operators, layout.selection}) {
    const PanelRect title = {panel.x, panel.y, 90.0F * test.scale, 24.0F * test.scale};
    EXPECT_GT(part_of(picture, title, is_bright), 0.04);
    const PanelRect below = {panel.x, panel.y + title.height, panel.width,
                             panel.height - title.height};
    EXPECT_GT(part_of(picture, below, is_bright), 0.0001);
    EXPECT_LT(part_of(picture, below, is_bright), 0.5);
  }
  EXPECT_GT(part_of(picture, layout.generation, is_colored), 0.01);
  if (test.num_layers > 0) {
    EXPECT_GT(part_of(picture, layout.selection, is_colored), 0.03);
  }
  // The middle and the left belong to the scene: the backdrop's own colour at its left edge.
  const uint8_t* const pixel = picture.at(4, test.height - 4);
  EXPECT_EQ(pixel[0], 36);
  EXPECT_EQ(pixel[1], 40);
  EXPECT_EQ(pixel[2], 46);
}

INSTANTIATE_TEST_SUITE_P(
    Overlay, Pictures,
    ::testing::Values(
        PictureCase{"busy.png", 1280, 720, 1.0F, 4, 512, false, false, MapColor::kRank},
        PictureCase{"hover.png", 1280, 720, 1.0F, 4, 512, true, false, MapColor::kScore},
        PictureCase{"pinned.png", 1280, 720, 1.0F, 4, 512, false, true, MapColor::kRank},
        PictureCase{"young.png", 1280, 720, 1.0F, 1, 24, false, false, MapColor::kRank},
        PictureCase{"dense.png", 1280, 720, 1.0F, 0, 0, false, false, MapColor::kRank},
        PictureCase{"large.png", 1920, 1080, 1.0F, 15, 512, false, false, MapColor::kRank},
        PictureCase{"high_dpi.png", 2560, 1440, 2.0F, 4, 512, true, false, MapColor::kRank}));

}  // namespace
}  // namespace ifr::overlay::testing
