// SPDX-License-Identifier: Apache-2.0
#include "passes/light_map.h"

#include <algorithm>
#include <cmath>

#include "passes/world.h"

namespace ifr::host {
namespace {

constexpr auto kSize = static_cast<int>(kLightMapSize);
constexpr float kTexel = 2.0f * shared::kLightMapHalfExtent / static_cast<float>(kSize);

float texel_center(int index) {
  return (static_cast<float>(index) + 0.5f) * kTexel - shared::kLightMapHalfExtent;
}

/// Calls visit(texel index, squared distance) for each texel within `radius`.
template <class Visit>
void for_disc(float x, float z, float radius, Visit&& visit) {
  const auto to_index = [](float at) {
    return static_cast<int>(std::floor((at + shared::kLightMapHalfExtent) / kTexel));
  };
  for (int row = std::max(0, to_index(z - radius));
       row <= std::min(kSize - 1, to_index(z + radius)); ++row) {
    for (int column = std::max(0, to_index(x - radius));
         column <= std::min(kSize - 1, to_index(x + radius)); ++column) {
      const float dx = texel_center(column) - x;
      const float dz = texel_center(row) - z;
      const float squared = dx * dx + dz * dz;
      if (squared < radius * radius) {
        visit(static_cast<size_t>(row) * kSize + static_cast<size_t>(column), squared);
      }
    }
  }
}

uint8_t to_byte(float value) {
  return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f));
}

}  // namespace

std::vector<uint8_t> bake_light_map(const LightMapInput& input) {
  std::vector<glm::vec3> light(static_cast<size_t>(kSize) * kSize, glm::vec3(0.0f));
  std::vector<float> sky(light.size(), 1.0f);
  for (const LampLight& lamp : input.lights) {
    const float cutoff = lamp.reach * 4.0f;
    for_disc(lamp.x, lamp.z, cutoff, [&](size_t texel, float squared) {
      const float falloff = 1.0f / (1.0f + squared / (lamp.reach * lamp.reach));
      const float edge = 1.0f - squared / (cutoff * cutoff);
      light[texel] += lamp.color * (falloff * falloff * edge);
    });
  }
  for (const Occluder& occluder : input.occluders) {
    for_disc(occluder.x, occluder.z, occluder.radius, [&](size_t texel, float squared) {
      const float near = 1.0f - squared / (occluder.radius * occluder.radius);
      sky[texel] *= 1.0f - occluder.strength * near * near;
    });
  }
  std::vector<uint8_t> out;
  out.reserve(light.size() * 4);
  for (size_t texel = 0; texel < light.size(); ++texel) {
    const glm::vec3& color = light[texel];
    // Soft shoulder instead of a clip where lamps overlap.
    const auto shoulder = [](float value) { return to_byte(value / (1.0f + 0.35f * value)); };
    out.insert(out.end(), {shoulder(color.r), shoulder(color.g), shoulder(color.b),
                           to_byte(std::max(sky[texel], 0.25f))});
  }
  return out;
}

}  // namespace ifr::host
