// SPDX-License-Identifier: Apache-2.0
// Where everything stands on the island, and how it moves. Plain data; the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <glm/vec3.hpp>
#include <span>
#include <vector>

#include "passes/scenery.h"
#include "shared/scene_shared.h"

namespace ifr::host {

/// A run of instances of one mesh.
struct Batch {
  Prop prop = Prop::kTerrain;
  uint32_t first_instance = 0;
  uint32_t num_instances = 0;
  bool casts_shadow = true;
};

struct World {
  std::array<Mesh, kNumProps> meshes;
  std::vector<shared::SceneInstance> instances;  // the standing ones, grouped by batch
  std::vector<Batch> batches;
  std::vector<shared::GlowInstance> glows;
  std::vector<uint8_t> light_map;     // RGBA, kLightMapSize squared
  uint32_t num_moving = 0;            // instances that animate() writes
  std::vector<Batch> moving_batches;  // first_instance counts within those
};

inline constexpr uint32_t kLightMapSize = 256;

/// Takes some tens of milliseconds.
[[nodiscard]] World build_world();

/// Height of the island's ground; meaningless beyond its rim.
[[nodiscard]] float ground_height(float x, float z);
/// Distance of the rim from the middle in direction `angle`.
[[nodiscard]] float rim_radius(float angle);

/// Writes the moving instances (windmill sails, balloons, birds, clouds, the guide) at `time_s`.
/// `out` holds world.num_moving entries.
void animate(double time_s, std::span<shared::SceneInstance> out);
/// Top of the guide's head, where its speech bubble starts.
[[nodiscard]] glm::vec3 guide_head(double time_s);

}  // namespace ifr::host
