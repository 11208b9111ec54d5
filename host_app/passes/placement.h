// SPDX-License-Identifier: Apache-2.0
// From a place, a turn and a size to the rows of an instance.
#pragma once

#include <glm/vec3.hpp>
#include <vector>

#include "passes/world.h"

namespace ifr::host {

struct Placement {
  glm::vec3 position{0.0f};
  float yaw = 0.0f;   // radians about y, applied last
  float roll = 0.0f;  // radians about the mesh's own z, applied first
  glm::vec3 scale{1.0f};
  glm::vec3 tint{1.0f};
  float phase = 0.0f;
};

inline constexpr float kMillYaw = 0.75f;
inline constexpr float kMillScale = 1.15f;
inline constexpr float kGuideScale = 1.6f;
inline constexpr float kGuideYaw = 0.35f;

[[nodiscard]] shared::SceneInstance to_instance(const Placement& placement);
/// What animate() writes, in its order.
[[nodiscard]] std::vector<Batch> moving_batches();

}  // namespace ifr::host
