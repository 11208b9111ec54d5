// SPDX-License-Identifier: Apache-2.0
// The renderer on whatever Vulkan device is there (lavapipe will do).
#include <gtest/gtest.h>

#include <set>

#include "host_app/vulkan_faults.h"
#include "passes/renderer.h"

namespace ifr::host {
namespace {

constexpr vk::Extent2D kSize{160, 96};

#define IFR_SKIP_WITHOUT_DEVICE()                                            \
  do {                                                                       \
    auto probe = create_device({});                                          \
    if (!probe.ok()) {                                                       \
      GTEST_SKIP() << "no Vulkan 1.3 device (install mesa-vulkan-drivers): " \
                   << probe.error().message;                                 \
    }                                                                        \
  } while (0)

Result<Picture> draw(Renderer& renderer, double hour) {
  IFR_HOST_ASSIGN(const std::optional<vk::Extent2D> extent, renderer.begin_frame(1.0 / 60.0));
  EXPECT_TRUE(extent.has_value());
  IFR_HOST_TRY(renderer.end_frame({{.time_s = 1.0, .hour = hour}, true}));
  return renderer.take_picture();
}

double mean_brightness(const Picture& picture) {
  double sum = 0.0;
  for (size_t pixel = 0; pixel < picture.rgba.size(); pixel += 4) {
    sum += picture.rgba[pixel] + picture.rgba[pixel + 1] + picture.rgba[pixel + 2];
  }
  return sum / (3.0 * static_cast<double>(picture.width) * picture.height);
}

size_t num_colors(const Picture& picture) {
  std::set<uint32_t> colors;
  for (size_t pixel = 0; pixel < picture.rgba.size(); pixel += 4) {
    colors.insert(picture.rgba[pixel] << 16 | picture.rgba[pixel + 1] << 8 |
                  picture.rgba[pixel + 2]);
  }
  return colors.size();
}

TEST(Renderer, UsageHeadless) {
  IFR_SKIP_WITHOUT_DEVICE();
  auto renderer = Renderer::create({.size = kSize, .has_interface = false});
  ASSERT_TRUE(renderer.ok()) << renderer.error().message;
  auto picture = draw(*renderer.value(), 12.0);
  ASSERT_TRUE(picture.ok()) << picture.error().message;
  EXPECT_EQ(picture.value().width, kSize.width);
  EXPECT_EQ(picture.value().height, kSize.height);
  EXPECT_GT(num_colors(picture.value()), 200u);
}

TEST(Renderer, NightIsDarkerThanDay) {
  IFR_SKIP_WITHOUT_DEVICE();
  auto renderer = Renderer::create({.size = kSize, .has_interface = false});
  ASSERT_TRUE(renderer.ok()) << renderer.error().message;
  auto day = draw(*renderer.value(), 12.0);
  auto night = draw(*renderer.value(), 0.0);
  ASSERT_TRUE(day.ok());
  ASSERT_TRUE(night.ok());
  EXPECT_GT(mean_brightness(day.value()), 1.5 * mean_brightness(night.value()));
}

TEST(Renderer, SameTimeGivesTheSamePicture) {
  IFR_SKIP_WITHOUT_DEVICE();
  Picture pictures[2];
  for (Picture& picture : pictures) {
    auto renderer = Renderer::create({.size = kSize, .has_interface = false});
    ASSERT_TRUE(renderer.ok()) << renderer.error().message;
    auto drawn = draw(*renderer.value(), 18.0);
    ASSERT_TRUE(drawn.ok());
    picture = std::move(drawn).value();
  }
  EXPECT_EQ(pictures[0].rgba, pictures[1].rgba);
}

TEST(Renderer, ManyFramesGiveNoValidationMessage) {
  IFR_SKIP_WITHOUT_DEVICE();
  auto renderer = Renderer::create(
      {.validation = Validation::kOn, .size = kSize, .num_samples = 4, .has_interface = false});
  if (!renderer.ok() && renderer.error().code == ErrorCode::kBadArgument) {
    GTEST_SKIP() << renderer.error().message;
  }
  ASSERT_TRUE(renderer.ok()) << renderer.error().message;
  for (int frame = 0; frame < 6; ++frame) {
    ASSERT_TRUE(draw(*renderer.value(), 4.0 * frame).ok());
  }
  EXPECT_EQ(renderer.value()->num_validation_messages(), 0u);
}

TEST(Renderer, PictureThatNobodyAskedForIsAnError) {
  IFR_SKIP_WITHOUT_DEVICE();
  auto renderer = Renderer::create({.size = kSize, .has_interface = false});
  ASSERT_TRUE(renderer.ok()) << renderer.error().message;
  EXPECT_FALSE(renderer.value()->take_picture().ok());
}

TEST(Device, MissingLoaderFunctionsAreAnError) {
  // A loader that finds nothing, as where no driver is installed at all.
  const auto nothing = [](VkInstance instance, const char* name) -> PFN_vkVoidFunction {
    if (std::string_view(name) == "vkCreateInstance") {
      return reinterpret_cast<PFN_vkVoidFunction>(
          +[](const VkInstanceCreateInfo*, const VkAllocationCallbacks*, VkInstance*) -> VkResult {
            return VK_ERROR_INCOMPATIBLE_DRIVER;
          });
    }
    return vkGetInstanceProcAddr(instance, name);
  };
  auto device = create_device({.get_instance_proc_addr = nothing});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::kNoDevice);
}

TEST(Device, EveryFailedCreationIsCleanedUp) {
  IFR_SKIP_WITHOUT_DEVICE();
  FaultCounts& counts = fault_counts();
  std::string reason;
  const auto run = [&](int fail_at) {
    counts = {};
    counts.fail_at = fail_at;
    auto renderer = Renderer::create({.get_instance_proc_addr = faulty_get_instance_proc_addr,
                                      .size = {32, 32},
                                      .has_interface = false});
    if (!renderer.ok()) {
      reason = renderer.error().message;
      return false;
    }
    auto drawn = draw(*renderer.value(), 12.0);
    reason = drawn.ok() ? "" : drawn.error().message;
    return drawn.ok();
  };
  ASSERT_TRUE(run(-1)) << reason;
  const int num_creations = counts.num_creations;
  EXPECT_GT(num_creations, 40) << "the wrappers are not in the way of the calls";
  for (int fail_at = 0; fail_at < num_creations; ++fail_at) {
    EXPECT_FALSE(run(fail_at)) << "creation " << fail_at << " failed and nobody noticed";
    for (const auto& [kind, left] : counts.balance) {
      ASSERT_EQ(left, 0) << kind << " left over after creation " << fail_at << " failed";
    }
  }
  ASSERT_TRUE(run(-1)) << reason;
  for (const auto& [kind, left] : counts.balance) {
    EXPECT_EQ(left, 0) << kind;
  }
}

}  // namespace
}  // namespace ifr::host
