// SPDX-License-Identifier: Apache-2.0
// The meshes that the island is furnished with. Each stands on y = 0 around the y axis and looks
// along +z.
#pragma once

#include "passes/mesh.h"

namespace ifr::host {

enum class Prop : uint32_t {
  kConifer,
  kRoundTree,
  kBirch,
  kBush,
  kFlower,
  kRock,
  kHouse,
  kTallHouse,
  kTower,
  kLamp,
  kBench,
  kFence,
  kMill,
  kMillSails,  // around the origin, in the xy plane
  kFountain,
  kBalloon,
  kBird,
  kCloud,
  kIslet,
  kGuide,      // the robot that speaks
  kGuideRing,  // around it, in the xz plane
  kTerrain,
  kCount,
};

inline constexpr uint32_t kNumProps = static_cast<uint32_t>(Prop::kCount);

/// Everything but kTerrain, which world.h makes.
[[nodiscard]] Mesh build_prop(Prop prop);

}  // namespace ifr::host
