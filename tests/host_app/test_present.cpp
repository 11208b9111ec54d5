// SPDX-License-Identifier: Apache-2.0
// The presenter's decisions against a window that plays every case.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "gfx/present.h"

namespace ifr::host {
namespace {

/// Answers from scripts; counts what is asked of it. Results that are not scripted are successes.
class FakeWindow final : public PresentTarget {
 public:
  vk::Extent2D size{640, 480};
  std::deque<vk::Result> rebuild_results;
  std::deque<vk::Result> surface_results;
  std::deque<vk::Result> acquire_results;
  std::deque<vk::Result> present_results;
  std::vector<vk::Extent2D> rebuilt;
  int num_surfaces = 0;
  int num_acquires = 0;
  int num_presents = 0;

  vk::Extent2D extent() override { return size; }
  vk::Result rebuild(vk::Extent2D extent) override {
    rebuilt.push_back(extent);
    return next(rebuild_results);
  }
  vk::Result recreate_surface() override {
    ++num_surfaces;
    return next(surface_results);
  }
  vk::Result acquire(vk::Semaphore /*signal*/, uint32_t& out_image) override {
    ++num_acquires;
    out_image = 1;
    return next(acquire_results);
  }
  vk::Result present(uint32_t /*image*/) override {
    ++num_presents;
    return next(present_results);
  }

 private:
  static vk::Result next(std::deque<vk::Result>& results) {
    if (results.empty()) {
      return vk::Result::eSuccess;
    }
    const vk::Result result = results.front();
    results.pop_front();
    return result;
  }
};

std::optional<uint32_t> acquire_ok(Presenter& presenter) {
  auto image = presenter.acquire({});
  EXPECT_TRUE(image.ok()) << image.error().message;
  return image.ok() ? image.value() : std::nullopt;
}

TEST(Present, UsageOfOneFrame) {
  FakeWindow window;
  Presenter presenter(window);
  auto image = presenter.acquire({});
  ASSERT_TRUE(image.ok());
  ASSERT_TRUE(image.value().has_value());
  EXPECT_TRUE(presenter.present(*image.value()).ok());
  EXPECT_EQ(window.rebuilt.size(), 1u);
  EXPECT_EQ(window.num_presents, 1);
}

TEST(Present, BuildsOnceWhileNothingChanges) {
  FakeWindow window;
  Presenter presenter(window);
  for (int frame = 0; frame < 5; ++frame) {
    ASSERT_TRUE(acquire_ok(presenter));
    ASSERT_TRUE(presenter.present(1).ok());
  }
  EXPECT_EQ(presenter.num_rebuilds(), 1u);
}

TEST(Present, MinimisedWindowIsSkippedWithoutASwapchain) {
  for (const vk::Extent2D size : {vk::Extent2D{0, 0}, vk::Extent2D{0, 480}, vk::Extent2D{640, 0}}) {
    FakeWindow window;
    window.size = size;
    Presenter presenter(window);
    EXPECT_FALSE(acquire_ok(presenter));
    EXPECT_TRUE(window.rebuilt.empty());
    EXPECT_EQ(window.num_acquires, 0);
  }
}

TEST(Present, RestoredWindowGetsANewSwapchain) {
  FakeWindow window;
  Presenter presenter(window);
  ASSERT_TRUE(acquire_ok(presenter));
  window.size = vk::Extent2D{0, 0};
  EXPECT_FALSE(acquire_ok(presenter));
  window.size = vk::Extent2D{640, 480};
  ASSERT_TRUE(acquire_ok(presenter));
  EXPECT_EQ(window.rebuilt.size(), 2u);
}

TEST(Present, ResizeRebuildsWithTheNewSize) {
  FakeWindow window;
  Presenter presenter(window);
  ASSERT_TRUE(acquire_ok(presenter));
  window.size = vk::Extent2D{800, 600};
  ASSERT_TRUE(acquire_ok(presenter));
  ASSERT_EQ(window.rebuilt.size(), 2u);
  EXPECT_EQ(window.rebuilt[1], (vk::Extent2D{800, 600}));
}

TEST(Present, OutOfDateAtAcquireRebuildsInTheSameFrame) {
  FakeWindow window;
  window.acquire_results = {vk::Result::eErrorOutOfDateKHR};
  Presenter presenter(window);
  EXPECT_TRUE(acquire_ok(presenter));
  EXPECT_EQ(window.rebuilt.size(), 2u);
  EXPECT_EQ(window.num_acquires, 2);
}

TEST(Present, OutOfDateForEverSkipsTheFrame) {
  FakeWindow window;
  window.acquire_results.assign(100, vk::Result::eErrorOutOfDateKHR);
  Presenter presenter(window);
  EXPECT_FALSE(acquire_ok(presenter));
  EXPECT_LE(window.num_acquires, 3);
}

TEST(Present, SuboptimalImageIsDrawnThenReplaced) {
  FakeWindow window;
  window.acquire_results = {vk::Result::eSuboptimalKHR};
  Presenter presenter(window);
  EXPECT_TRUE(acquire_ok(presenter));
  EXPECT_EQ(window.rebuilt.size(), 1u);
  EXPECT_TRUE(presenter.present(1).ok());
  EXPECT_TRUE(acquire_ok(presenter));
  EXPECT_EQ(window.rebuilt.size(), 2u);
}

TEST(Present, StalePresentIsAcceptedAndReplaced) {
  for (const vk::Result stale : {vk::Result::eSuboptimalKHR, vk::Result::eErrorOutOfDateKHR}) {
    FakeWindow window;
    window.present_results = {stale};
    Presenter presenter(window);
    ASSERT_TRUE(acquire_ok(presenter));
    EXPECT_TRUE(presenter.present(1).ok());
    ASSERT_TRUE(acquire_ok(presenter));
    EXPECT_EQ(window.rebuilt.size(), 2u);
  }
}

TEST(Present, LostSurfaceIsMadeAnew) {
  FakeWindow window;
  window.present_results = {vk::Result::eErrorSurfaceLostKHR};
  Presenter presenter(window);
  ASSERT_TRUE(acquire_ok(presenter));
  EXPECT_TRUE(presenter.present(1).ok());
  EXPECT_TRUE(acquire_ok(presenter));
  EXPECT_EQ(window.num_surfaces, 1);
  EXPECT_EQ(window.rebuilt.size(), 2u);
}

TEST(Present, SurfaceLostAtAcquireOrRebuildIsMadeAnew) {
  FakeWindow window;
  window.acquire_results = {vk::Result::eErrorSurfaceLostKHR};
  Presenter presenter(window);
  EXPECT_TRUE(acquire_ok(presenter));
  EXPECT_EQ(window.num_surfaces, 1);

  FakeWindow other;
  other.rebuild_results = {vk::Result::eErrorSurfaceLostKHR};
  Presenter other_presenter(other);
  EXPECT_FALSE(acquire_ok(other_presenter));
  EXPECT_TRUE(acquire_ok(other_presenter));
  EXPECT_EQ(other.num_surfaces, 1);
}

TEST(Present, SurfaceThatCannotComeBackIsAnError) {
  FakeWindow window;
  window.acquire_results = {vk::Result::eErrorSurfaceLostKHR};
  window.surface_results = {vk::Result::eErrorSurfaceLostKHR};
  Presenter presenter(window);
  auto image = presenter.acquire({});
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code, ErrorCode::kNoWindow);
}

TEST(Present, WindowThatChangesDuringARebuildIsSkipped) {
  FakeWindow window;
  window.rebuild_results = {vk::Result::eErrorOutOfDateKHR};
  Presenter presenter(window);
  EXPECT_FALSE(acquire_ok(presenter));
  EXPECT_TRUE(acquire_ok(presenter));
}

TEST(Present, TimeoutSkipsAndKeepsTheSwapchain) {
  FakeWindow window;
  window.acquire_results = {vk::Result::eTimeout, vk::Result::eNotReady};
  Presenter presenter(window);
  EXPECT_FALSE(acquire_ok(presenter));
  EXPECT_FALSE(acquire_ok(presenter));
  EXPECT_TRUE(acquire_ok(presenter));
  EXPECT_EQ(window.rebuilt.size(), 1u);
}

TEST(Present, DeviceLossIsAnErrorWhereverItShows) {
  const auto code_of = [](Result<std::optional<uint32_t>> result) {
    return result.ok() ? ErrorCode::kBadArgument : result.error().code;
  };
  FakeWindow at_acquire;
  at_acquire.acquire_results = {vk::Result::eErrorDeviceLost};
  EXPECT_EQ(code_of(Presenter(at_acquire).acquire({})), ErrorCode::kDeviceLost);
  FakeWindow at_rebuild;
  at_rebuild.rebuild_results = {vk::Result::eErrorOutOfDeviceMemory};
  EXPECT_EQ(code_of(Presenter(at_rebuild).acquire({})), ErrorCode::kOutOfMemory);
  FakeWindow at_present;
  at_present.present_results = {vk::Result::eErrorDeviceLost};
  auto result = Presenter(at_present).present(0);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kDeviceLost);
}

}  // namespace
}  // namespace ifr::host
