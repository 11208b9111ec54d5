// SPDX-License-Identifier: Apache-2.0
// Light of the lamps and shade of what stands around, baked once for the whole island seen from
// above.
#pragma once

#include <cstdint>
#include <glm/vec3.hpp>
#include <vector>

namespace ifr::host {

struct LampLight {
  float x = 0.0f;
  float z = 0.0f;
  glm::vec3 color{1.0f};  // linear, at the lamp's foot
  float reach = 1.0f;     // world units to a quarter of the light
};

struct Occluder {
  float x = 0.0f;
  float z = 0.0f;
  float radius = 1.0f;
  float strength = 0.5f;  // share of the sky hidden at its foot
};

struct LightMapInput {
  std::vector<LampLight> lights;
  std::vector<Occluder> occluders;
};

/// RGBA, kLightMapSize squared, covering kLightMapHalfExtent each way: rgb lamp light, a visible
/// sky.
[[nodiscard]] std::vector<uint8_t> bake_light_map(const LightMapInput& input);

}  // namespace ifr::host
