// SPDX-License-Identifier: Apache-2.0
// The ground of the floating island.
#pragma once

#include "passes/mesh.h"

namespace ifr::host {

inline constexpr float kPlazaRadius = 4.6f;
inline constexpr glm::vec3 kPondCenter{11.5f, 0.0f, 6.5f};
inline constexpr float kPondRadius = 4.2f;
inline constexpr float kPondLevel = 0.12f;
inline constexpr glm::vec3 kHillCenter{-9.5f, 0.0f, -9.5f};

/// Distance to the middle line of the nearest path, in world units.
[[nodiscard]] float path_distance(float x, float z);
[[nodiscard]] Mesh build_terrain();

}  // namespace ifr::host
