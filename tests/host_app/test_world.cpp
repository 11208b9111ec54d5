// SPDX-License-Identifier: Apache-2.0
// The scene's data: sizes, sharing of corners, movement, day and night.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <glm/geometric.hpp>

#include "passes/daylight.h"
#include "passes/world.h"

namespace ifr::host {
namespace {

TEST(World, HasAFewHundredInstancesThatAllDraw) {
  const World world = build_world();
  EXPECT_GT(world.instances.size(), 300u);
  EXPECT_GT(world.glows.size(), 30u);
  EXPECT_EQ(world.light_map.size(), size_t{4} * kLightMapSize * kLightMapSize);
  uint32_t expected_first = 0;
  for (const Batch& batch : world.batches) {
    EXPECT_EQ(batch.first_instance, expected_first);
    expected_first += batch.num_instances;
    EXPECT_FALSE(world.meshes[static_cast<size_t>(batch.prop)].indices.empty());
  }
  EXPECT_EQ(expected_first, world.instances.size());
  for (const Mesh& mesh : world.meshes) {
    for (const uint32_t index : mesh.indices) {
      ASSERT_LT(index, mesh.vertices.size());
    }
  }
}

TEST(World, IsTheSameEveryTime) {
  const World first = build_world();
  const World second = build_world();
  ASSERT_EQ(first.instances.size(), second.instances.size());
  EXPECT_EQ(std::memcmp(first.instances.data(), second.instances.data(),
                        first.instances.size() * sizeof(first.instances[0])),
            0);
  EXPECT_EQ(first.light_map, second.light_map);
}

/// A face as what flat shading makes of it: three places in cyclic order, and the first corner's
/// data.
using Face = std::array<float, 9>;
Face rotated(const Mesh& mesh, size_t face) {
  std::array<std::array<float, 3>, 3> corners;
  for (size_t corner = 0; corner < 3; ++corner) {
    const auto& position = mesh.vertices[mesh.indices[face + corner]].position;
    corners[corner] = {position[0], position[1], position[2]};
  }
  std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
  Face out;
  std::memcpy(out.data(), corners.data(), sizeof(out));
  return out;
}

TEST(World, SharingCornersKeepsEveryFace) {
  for (uint32_t prop = 0; prop < static_cast<uint32_t>(Prop::kTerrain); ++prop) {
    const Mesh mesh = build_prop(static_cast<Prop>(prop));
    const Mesh shared_mesh = share_corners(mesh);
    ASSERT_EQ(shared_mesh.indices.size(), mesh.indices.size());
    EXPECT_LE(shared_mesh.vertices.size(), mesh.vertices.size());
    for (size_t face = 0; face < mesh.indices.size(); face += 3) {
      EXPECT_EQ(rotated(shared_mesh, face), rotated(mesh, face));
      const auto& before = mesh.vertices[mesh.indices[face]];
      const auto& after = shared_mesh.vertices[shared_mesh.indices[face]];
      ASSERT_EQ(std::memcmp(before.normal, after.normal, 4), 0)
          << "prop " << prop << " face " << face / 3;
      ASSERT_EQ(std::memcmp(before.color, after.color, 4), 0)
          << "prop " << prop << " face " << face / 3;
    }
    EXPECT_EQ(silhouette(mesh).indices.size(), mesh.indices.size());
  }
}

TEST(World, MovesWithTime) {
  const World world = build_world();
  std::vector<shared::SceneInstance> early(world.num_moving);
  std::vector<shared::SceneInstance> late(world.num_moving);
  animate(1.0, early);
  animate(2.0, late);
  size_t num_moved = 0;
  for (size_t index = 0; index < early.size(); ++index) {
    const bool is_same = std::ranges::equal(early[index].row0, late[index].row0) &&
                         std::ranges::equal(early[index].row1, late[index].row1) &&
                         std::ranges::equal(early[index].row2, late[index].row2);
    num_moved += is_same ? 0 : 1;
  }
  EXPECT_EQ(num_moved, early.size());
}

TEST(World, HoursWrap) {
  EXPECT_DOUBLE_EQ(hour_of_day(17.0, 0.0, 240.0), 17.0);
  EXPECT_DOUBLE_EQ(hour_of_day(17.0, 120.0, 240.0), 5.0);
  EXPECT_DOUBLE_EQ(hour_of_day(24.0, 0.0, 240.0), 0.0);
}

TEST(World, SkyAndCameraAreFiniteAtEveryHour) {
  for (int step = 0; step < 24 * 12; ++step) {
    const auto uniforms = frame_uniforms({.time_s = step * 3.7, .hour = step / 12.0});
    const auto* values = reinterpret_cast<const float*>(&uniforms);
    for (size_t index = 0; index < sizeof(uniforms) / sizeof(float); ++index) {
      ASSERT_TRUE(std::isfinite(values[index])) << "hour " << step / 12.0 << " float " << index;
    }
    EXPECT_GT(uniforms.light_direction.y, 0.0f) << "the light is above the horizon";
  }
}

TEST(World, LightIsDarkWhenSunAndMoonChangeOver) {
  for (const double hour : {5.9, 18.5}) {
    const auto before = frame_uniforms({.time_s = 0.0, .hour = hour - 0.001});
    const auto after = frame_uniforms({.time_s = 0.0, .hour = hour + 0.001});
    EXPECT_LT(glm::length(glm::vec3(before.light_color)), 0.06f);
    EXPECT_LT(glm::length(glm::vec3(after.light_color)), 0.06f);
  }
}

TEST(World, GuideStandsInThePartThatPanelsLeaveFree) {
  for (const float free_share : {1.0f, 0.65f, 0.45f}) {
    const auto uniforms =
        frame_uniforms({.time_s = 3.0, .hour = 12.0, .free_width_share = free_share});
    const ScreenPoint head = project(uniforms, guide_head(3.0));
    EXPECT_TRUE(head.visible);
    EXPECT_NEAR(head.x, 0.5f * free_share, 0.05f);
  }
  const auto uniforms = frame_uniforms({.time_s = 3.0, .hour = 12.0});
  const glm::vec3 behind = glm::vec3(uniforms.camera_position) * 2.0f;
  EXPECT_FALSE(project(uniforms, behind).visible);
}

}  // namespace
}  // namespace ifr::host
