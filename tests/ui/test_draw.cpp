// SPDX-License-Identifier: Apache-2.0
// Drawing without a renderer: every state that a panel can be in, with ImGui's asserts counted.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <imgui.h>
#include <implot.h>

#include "interframe_overlay/overlay.h"
#include "panels/layout.h"
#include "ui/allocation_count.h"
#include "ui/fake_plugin.h"

// Times mean nothing under a sanitizer; GCC and Clang say it in two ways.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IFR_UI_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IFR_UI_SANITIZED
#endif
#endif

namespace {

int num_failed_asserts = 0;

}  // namespace

// What the pinned ImGui distribution calls when IM_ASSERT fails; replaces the overlay's.
void slimgui_assert(const char* file, int line, const char* expr);
void slimgui_assert(const char* file, int line, const char* expr) {
  ++num_failed_asserts;
  ADD_FAILURE() << "ImGui assert: " << expr << " at " << file << ":" << line;
}

namespace ifr::overlay::testing {
namespace {

/// ImGui and ImPlot without window and renderer.
class Screen {
 public:
  Screen(float width, float height, float scale = 1.0F) {
    ImGui::CreateContext();
    ImPlot::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.DisplaySize = ImVec2(width, height);
    io.DeltaTime = 1.0F / 60.0F;
    io.BackendFlags |=
        ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
    overlay_apply_style(scale);
  }
  ~Screen() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    }
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// One frame; the number of vertices drawn.
  static int frame(const std::function<void()>& draw) {
    ImGui::NewFrame();
    draw();
    ImGui::Render();
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
      if (texture->Status == ImTextureStatus_WantCreate ||
          texture->Status == ImTextureStatus_WantUpdates) {
        texture->SetTexID(1);
        texture->SetStatus(ImTextureStatus_OK);
      }
    }
    return ImGui::GetDrawData()->TotalVtxCount;
  }

  static void press(ImGuiKey key, const std::function<void()>& draw) {
    ImGui::GetIO().AddKeyEvent(key, true);
    frame(draw);
    ImGui::GetIO().AddKeyEvent(key, false);
    frame(draw);
  }
};

class Draw : public ::testing::Test {
 protected:
  void SetUp() override { num_failed_asserts = 0; }
  void TearDown() override { EXPECT_EQ(num_failed_asserts, 0); }

  void collect_all(FakePlugin& plugin, int num_frames) {
    for (int i = 0; i < num_frames; ++i) {
      plugin.telemetry.time_ns += History::kIntervalNs;
      overlay_.update(&api_, plugin.runtime());
    }
  }

  ifr_api api_ = fake_api();
  Overlay overlay_;
  std::function<void()> draw_ = [this] { EXPECT_EQ(overlay_.draw(), DrawResult::kDrawn); };
};

TEST_F(Draw, EmptySnapshot) {
  const Screen screen(1280, 720);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(Screen::frame(draw_), 0);
  }
}

TEST_F(Draw, UsageLiveThenRuntimeGone) {
  const Screen screen(1280, 720);
  {
    auto plugin = std::make_unique<FakePlugin>(make_busy_plugin(3, 100));
    for (int i = 0; i < 4; ++i) {
      overlay_.update(&api_, plugin->runtime());
      Screen::frame(draw_);
    }
  }
  // The plugin is gone and its library unloaded: no call is made, the snapshot is drawn.
  api_ = ifr_api{};
  for (int i = 0; i < 3; ++i) {
    overlay_.update(nullptr, nullptr);
    EXPECT_GT(Screen::frame(draw_), 0);
    EXPECT_FALSE(overlay_.snapshot.live);
    EXPECT_EQ(overlay_.snapshot.layers[0].num_rows(), 100U);
  }
}

TEST_F(Draw, SessionClosedBetweenFrames) {
  const Screen screen(1280, 720);
  FakePlugin plugin = make_busy_plugin(2, 30);
  collect_all(plugin, 2);
  Screen::frame(draw_);
  plugin.session_code = IFR_ERROR_INVALID_HANDLE;
  collect_all(plugin, 2);
  EXPECT_GT(Screen::frame(draw_), 0);
  // Another, still empty session follows.
  plugin.session_code = IFR_OK;
  plugin.telemetry.session = 99;
  plugin.layers[3].rows.clear();
  collect_all(plugin, 2);
  EXPECT_GT(Screen::frame(draw_), 0);
}

TEST_F(Draw, NoSessionAndNoModel) {
  const Screen screen(1280, 720);
  FakePlugin plugin;
  plugin.telemetry.time_ns = 1;
  collect_all(plugin, 2);
  EXPECT_GT(Screen::frame(draw_), 0);
  EXPECT_EQ(overlay_.snapshot.session_state, SessionState::kNone);
}

TEST_F(Draw, AnySizeOfWindow) {
  FakePlugin plugin = make_busy_plugin(40, 80);
  const float sizes[][2] = {{1, 1}, {2, 500}, {500, 2}, {64, 64}, {320, 200}, {5000, 3000}};
  for (const auto& size : sizes) {
    for (const float scale : {0.5F, 1.0F, 4.0F}) {
      const Screen screen(size[0], size[1], scale);
      collect_all(plugin, 1);
      for (int i = 0; i < 3; ++i) {
        Screen::frame(draw_);
      }
      overlay_.view.pinned = true;
      overlay_.view.layer_choice = 999;
      Screen::frame(draw_);
      Screen::frame(draw_);
    }
  }
}

TEST_F(Draw, WindowThatIsResizedAndMinimised) {
  const Screen screen(1280, 720);
  FakePlugin plugin = make_busy_plugin(2, 30);
  collect_all(plugin, 2);
  for (const float size : {1280.0F, 300.0F, 1.0F, 0.0F, 1280.0F}) {
    ImGui::GetIO().DisplaySize = ImVec2(size, size * 0.5F);
    Screen::frame(draw_);
    Screen::frame(draw_);
  }
}

TEST_F(Draw, WithoutContextItIsRefused) {
  ASSERT_EQ(ImGui::GetCurrentContext(), nullptr);
  EXPECT_EQ(overlay_.draw(), DrawResult::kNoContext);
  overlay_apply_style(1.0F);  // nothing to style, nothing touched
}

TEST_F(Draw, BeforeTheFirstFrameItIsRefused) {
  const Screen screen(1280, 720);
  EXPECT_EQ(overlay_.draw(), DrawResult::kNoContext);
}

TEST_F(Draw, WithoutImPlotOnlyThePlotIsMissing) {
  const Screen screen(1280, 720);
  FakePlugin plugin = make_busy_plugin(1, 10);
  collect_all(plugin, 5);
  ImPlotContext* const plot = ImPlot::GetCurrentContext();
  ImPlot::SetCurrentContext(nullptr);
  EXPECT_GT(Screen::frame(draw_), 0);
  overlay_apply_style(1.5F);
  EXPECT_GT(Screen::frame(draw_), 0);
  ImPlot::SetCurrentContext(plot);
}

TEST_F(Draw, ContextMadeAnew) {
  FakePlugin plugin = make_busy_plugin(2, 30);
  for (int i = 0; i < 2; ++i) {
    const Screen screen(1280, 720);
    collect_all(plugin, 2);
    Screen::frame(draw_);
    EXPECT_GT(Screen::frame(draw_), 0);
  }
}

TEST_F(Draw, StyleAppliedAgainKeepsOneFont) {
  const Screen screen(1280, 720);
  for (const float scale : {1.0F, 2.0F, 0.0F, -3.0F, NAN, 100.0F}) {
    overlay_apply_style(scale);
    EXPECT_EQ(ImGui::GetIO().Fonts->Fonts.Size, 1);
    EXPECT_GE(ImGui::GetStyle().FontScaleDpi, 0.5F);
    EXPECT_LE(ImGui::GetStyle().FontScaleDpi, 4.0F);
    Screen::frame(draw_);
  }
}

TEST_F(Draw, KeyTogglesAll) {
  const Screen screen(1280, 720);
  const auto draw = [this] { overlay_.draw(); };
  Screen::frame(draw);
  Screen::press(ImGuiKey_F1, draw);
  EXPECT_FALSE(overlay_.view.visible);
  Screen::press(ImGuiKey_F1, draw);
  EXPECT_TRUE(overlay_.view.visible);
  overlay_.view.show_generation = overlay_.view.show_operators = overlay_.view.show_selection =
      false;
  Screen::frame(draw);
}

TEST_F(Draw, PanelsDrawAloneInAHostsWindow) {
  const Screen screen(800, 600);
  FakePlugin plugin = make_busy_plugin(2, 30);
  collect_all(plugin, 2);
  Screen::frame([this] {
    ImGui::Begin("host");
    draw_generation_panel(overlay_.snapshot, overlay_.view);
    draw_operators_panel(overlay_.snapshot, overlay_.view);
    draw_selection_panel(overlay_.snapshot, overlay_.view);
    ImGui::End();
  });
}

class DrawMap : public Draw {
 protected:
  void SetUp() override {
    Draw::SetUp();
    screen_ = std::make_unique<Screen>(1280.0F, 720.0F);
    plugin_ = make_busy_plugin(3, 300);
    collect_all(plugin_, 6);
    const PanelRect panel = plan_layout({.display_width = 1280, .display_height = 720}).selection;
    over_map_ = ImVec2(panel.x + panel.width * 0.5F, panel.y + panel.height * 0.6F);
    ImGui::GetIO().AddMousePosEvent(over_map_.x, over_map_.y);
    frames(4);
  }
  void TearDown() override {
    screen_.reset();
    Draw::TearDown();
  }
  void frames(int count) {
    for (int i = 0; i < count; ++i) {
      collect_all(plugin_, 1);
      Screen::frame(draw_);
    }
  }
  void click() {
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    frames(1);
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    frames(2);
  }

  std::unique_ptr<Screen> screen_;
  FakePlugin plugin_;
  ImVec2 over_map_;
};

TEST_F(DrawMap, HoverAsksForTextAndGetsIt) {
  const OverlayState& view = overlay_.view;
  EXPECT_EQ(view.wanted_block.count, 4);
  EXPECT_EQ(view.wanted_block.first % 4, 0);
  EXPECT_EQ(view.wanted_query.count, 1);
  EXPECT_EQ(overlay_.snapshot.block_text.range, view.wanted_block);
  EXPECT_TRUE(overlay_.snapshot.block_text.has_text);
  ImGui::GetIO().AddMousePosEvent(5.0F, 5.0F);
  frames(3);
  EXPECT_EQ(view.wanted_block.count, 0);
}

TEST_F(DrawMap, ClickPinsAndUnpins) {
  click();
  EXPECT_TRUE(overlay_.view.pinned);
  ImGui::GetIO().AddMousePosEvent(5.0F, 5.0F);
  frames(3);  // its text stays without the mouse
  EXPECT_EQ(overlay_.view.wanted_block, (TokenRange{overlay_.view.pinned_block * 4, 4}));
  EXPECT_EQ(overlay_.snapshot.block_text.range, overlay_.view.wanted_block);
  overlay_.view.pinned_query = 1210;  // far back: the view goes there
  frames(3);
  EXPECT_GT(overlay_.view.rows_back, 0);
  overlay_.view.pinned_query = -50;
  overlay_.view.pinned_block = 1 << 30;
  frames(2);
  ImGui::GetIO().AddMousePosEvent(over_map_.x, over_map_.y - 20.0F);
  frames(2);
  click();
  EXPECT_FALSE(overlay_.view.pinned);
}

TEST_F(DrawMap, KeyboardReachesAndPins) {
  ImGui::GetIO().AddMousePosEvent(5.0F, 5.0F);
  Screen::frame([this] {
    draw_();
    ImGui::SetWindowFocus("Selection###ifr_selection");
  });
  for (int i = 0; i < 12 && !overlay_.view.pinned; ++i) {
    Screen::press(ImGuiKey_Tab, draw_);
    Screen::press(ImGuiKey_Space, draw_);
  }
  EXPECT_TRUE(overlay_.view.pinned);
  EXPECT_EQ(overlay_.view.pinned_query, 1499);  // the newest
}

TEST_F(DrawMap, WheelGoesBackAndTheViewStays) {
  EXPECT_EQ(overlay_.view.rows_back, 0);
  ImGui::GetIO().AddMouseWheelEvent(0.0F, 1.0F);
  frames(2);
  const int32_t back = overlay_.view.rows_back;
  EXPECT_GT(back, 0);
  for (int32_t i = 0; i < 5; ++i) {  // five new queries
    plugin_.layers[3].rows.push_back({1500 + i, 375, {7}, {1.0F}});
  }
  frames(2);
  EXPECT_EQ(overlay_.view.rows_back, back + 5);
  ImGui::GetIO().AddMouseWheelEvent(0.0F, -100.0F);
  frames(2);
  EXPECT_EQ(overlay_.view.rows_back, 0);
}

TEST_F(DrawMap, SteadyFramesAllocateNothing) {
  frames(310);  // the plot's ring is full
  const int64_t before = num_allocations();
  for (int i = 0; i < 50; ++i) {
    plugin_.telemetry.time_ns += History::kIntervalNs;
    overlay_.update(&api_, plugin_.runtime());
    ImGui::NewFrame();
    overlay_.draw();
    ImGui::Render();
  }
  EXPECT_EQ(num_allocations() - before, 0);
}

TEST_F(Draw, SelectionPanelStaysUnderAMillisecond) {
  const Screen screen(1920, 1080);
  FakePlugin plugin;
  plugin.telemetry.model = 1;
  plugin.telemetry.session = 1;
  plugin.model.num_selecting_layers = 1;
  plugin.model.selection_block_tokens = 4;
  plugin.model.selection_max_blocks = 512;
  for (int32_t query = 0; query < 256; ++query) {
    FakeRow row{2048 + query, 512, {}, {}};
    for (int32_t i = 0; i < 512; i += 2) {  // every second block: no cell merges with its neighbour
      row.blocks.push_back((i * 37 + query) % 512);
      row.scores.push_back(static_cast<float>((i * 7919 + query) % 1000));
    }
    plugin.layers[3].rows.push_back(row);
  }
  collect_all(plugin, 8);
  ASSERT_EQ(overlay_.snapshot.layers[0].num_rows(), 256U);
  overlay_.view.map_color = MapColor::kScore;
  double best_us = 1e9;
  for (int i = 0; i < 60; ++i) {
    overlay_.view.map.revision = 0;  // as if a query had come in every frame
    Screen::frame([&] {
      ImGui::SetNextWindowSize(ImVec2(1100, 700));
      ImGui::Begin("map");
      const auto begin = std::chrono::steady_clock::now();
      draw_selection_panel(overlay_.snapshot, overlay_.view);
      const auto end = std::chrono::steady_clock::now();
      ImGui::End();
      best_us = std::min(best_us, std::chrono::duration<double, std::micro>(end - begin).count());
    });
  }
  RecordProperty("microseconds", std::to_string(best_us));
  std::printf("selection panel, 256 queries x 512 blocks, recoloured each frame: %.0f us\n",
              best_us);
#if defined(NDEBUG) && !defined(IFR_UI_SANITIZED)
  EXPECT_LT(best_us, 1000.0);
#endif
}

TEST(Version, SameAndOtherImGui) {
  ImGuiBuild build = imgui_build_here();
  EXPECT_TRUE(overlay_matches_imgui(build));
  build.version = "1.86";
  EXPECT_FALSE(overlay_matches_imgui(build));
  build = imgui_build_here();
  build.io_bytes += 8;
  EXPECT_FALSE(overlay_matches_imgui(build));
  build = imgui_build_here();
  build.index_bytes = 4;
  EXPECT_FALSE(overlay_matches_imgui(build));
  build.version = nullptr;
  EXPECT_FALSE(overlay_matches_imgui(build));
}

}  // namespace
}  // namespace ifr::overlay::testing
