// SPDX-License-Identifier: Apache-2.0
#include "passes/world.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "passes/light_map.h"
#include "passes/placement.h"
#include "passes/terrain.h"

namespace ifr::host {
namespace {

using glm::vec3;
constexpr float kPi = std::numbers::pi_v<float>;

class Layout {
 public:
  explicit Layout(World& world) : world_(world) {}

  void place(Prop prop, vec3 at, float yaw, float scale, vec3 tint = vec3(1.0f)) {
    Placement placement{.position = at, .yaw = yaw, .scale = vec3(scale), .tint = tint};
    placement.phase = random_.between(0.0f, 2.0f * kPi);
    lists_[static_cast<size_t>(prop)].push_back(to_instance(placement));
  }
  void on_ground(Prop prop, float x, float z, float yaw, float scale, vec3 tint = vec3(1.0f)) {
    place(prop, {x, ground_height(x, z) - 0.03f, z}, yaw, scale, tint);
  }
  /// Claims a disc of ground; false when it overlaps one that is taken.
  bool claim(float x, float z, float radius) {
    const bool is_free = std::none_of(taken_.begin(), taken_.end(), [&](const vec3& disc) {
      return std::hypot(disc.x - x, disc.z - z) < disc.y + radius;
    });
    if (is_free) {
      taken_.emplace_back(x, radius, z);
    }
    return is_free;
  }
  void finish() {
    for (size_t prop = 0; prop < lists_.size(); ++prop) {
      if (lists_[prop].empty()) {
        continue;
      }
      const auto kind = static_cast<Prop>(prop);
      const bool small = kind == Prop::kFlower || kind == Prop::kTerrain || kind == Prop::kIslet;
      world_.batches.push_back({kind, static_cast<uint32_t>(world_.instances.size()),
                                static_cast<uint32_t>(lists_[prop].size()), !small});
      world_.instances.insert(world_.instances.end(), lists_[prop].begin(), lists_[prop].end());
    }
  }

  Random& random() { return random_; }
  LightMapInput& bake() { return bake_; }

 private:
  World& world_;
  Random random_{20250117u};
  std::array<std::vector<shared::SceneInstance>, kNumProps> lists_;
  std::vector<vec3> taken_;  // x, radius, z
  LightMapInput bake_;
};

bool is_open_ground(float x, float z, float margin) {
  const float radius = std::hypot(x, z);
  const float pond = std::hypot(x - kPondCenter.x, z - kPondCenter.z);
  const float brook =
      std::abs(std::remainder(std::atan2(-z, x) - std::atan2(-kPondCenter.z, kPondCenter.x),
                              2.0f * kPi)) *
      radius;
  return radius > kPlazaRadius + margin &&
         radius < rim_radius(std::atan2(-z, x)) - 1.0f - 0.5f * margin &&
         path_distance(x, z) > 0.8f + margin && pond > kPondRadius * 1.12f + margin &&
         (radius < 12.0f || brook > 1.3f + margin);
}

constexpr vec3 kRoofTints[] = {{0.60f, 0.13f, 0.08f},
                               {0.66f, 0.24f, 0.09f},
                               {0.13f, 0.24f, 0.38f},
                               {0.42f, 0.10f, 0.12f},
                               {0.16f, 0.32f, 0.28f}};

/// Only roofs take it.
vec3 house_tint(Random& random) {
  return kRoofTints[static_cast<size_t>(random.between(0.0f, 4.99f))];
}

void add_house(Layout& layout, float x, float z, Prop prop, float scale) {
  const float yaw = std::atan2(-x, -z);
  layout.on_ground(prop, x, z, yaw + layout.random().between(-0.15f, 0.15f), scale,
                   house_tint(layout.random()));
  layout.bake().occluders.push_back({x, z, 1.9f * scale, 0.75f});
  // Light from the windows falls on the ground before them.
  const float reach = 1.5f / std::max(std::hypot(x, z), 0.1f);
  layout.bake().lights.push_back({x - x * reach, z - z * reach, {0.55f, 0.30f, 0.12f}, 1.3f});
}

void add_village(Layout& layout) {
  layout.claim(0, 0, 2.2f);
  layout.on_ground(Prop::kFountain, 0, 0, 0, 1.0f);
  layout.bake().occluders.push_back({0, 0, 2.6f, 0.5f});
  for (int plot = 0; plot < 16; ++plot) {
    const float angle = 2.0f * kPi * (static_cast<float>(plot) + 0.3f) / 16.0f;
    const float radius = 6.9f + layout.random().between(-0.15f, 0.25f);
    const float x = radius * std::cos(angle);
    const float z = -radius * std::sin(angle);
    if (is_open_ground(x, z, 0.55f) && layout.claim(x, z, 1.15f)) {
      add_house(layout, x, z, plot % 3 == 1 ? Prop::kTallHouse : Prop::kHouse,
                layout.random().between(0.88f, 1.05f));
    }
  }
  for (int plot = 0; plot < 22; ++plot) {
    const float angle = 2.0f * kPi * (static_cast<float>(plot) + 0.5f) / 22.0f;
    const float radius = 12.0f + layout.random().between(-0.3f, 0.8f);
    const float x = radius * std::cos(angle);
    const float z = -radius * std::sin(angle);
    const bool on_hill = std::hypot(x - kHillCenter.x, z - kHillCenter.z) < 5.5f;
    if (!on_hill && is_open_ground(x, z, 0.9f) && layout.claim(x, z, 1.4f)) {
      add_house(layout, x, z, plot % 4 == 2 ? Prop::kTallHouse : Prop::kHouse,
                layout.random().between(0.95f, 1.2f));
    }
  }
}

void add_landmarks(Layout& layout) {
  const auto stand = [&](Prop prop, float x, float z, float yaw, float scale, float radius) {
    layout.claim(x, z, radius);
    layout.on_ground(prop, x, z, yaw, scale);
    layout.bake().occluders.push_back({x, z, radius * 1.4f, 0.7f});
  };
  stand(Prop::kMill, kHillCenter.x, kHillCenter.z, kMillYaw, kMillScale, 1.8f);
  stand(Prop::kTower, 4.5f, -15.2f, 0.0f, 1.25f, 1.8f);
  layout.bake().lights.push_back({4.5f, -15.2f, {0.7f, 0.45f, 0.2f}, 3.5f});
}

void add_lamp(Layout& layout, float x, float z) {
  if (!layout.claim(x, z, 0.25f)) {
    return;
  }
  layout.on_ground(Prop::kLamp, x, z, layout.random().between(0.0f, 6.0f), 1.0f);
  layout.bake().lights.push_back({x, z, {1.0f, 0.62f, 0.26f}, 1.7f});
}

void add_lamps(Layout& layout) {
  for (int lamp = 0; lamp < 10; ++lamp) {
    const float angle = 2.0f * kPi * (static_cast<float>(lamp) + 0.25f) / 10.0f;
    add_lamp(layout, 4.3f * std::cos(angle), -4.3f * std::sin(angle));
  }
  for (int lamp = 0; lamp < 18; ++lamp) {
    const float angle = 2.0f * kPi * static_cast<float>(lamp) / 18.0f;
    const float radius = lamp % 2 == 0 ? 8.35f : 10.25f;
    add_lamp(layout, radius * std::cos(angle), -radius * std::sin(angle));
  }
  for (int lamp = 0; lamp < 9; ++lamp) {
    const float angle = 2.0f * kPi * static_cast<float>(lamp) / 9.0f;
    const float x = kPondCenter.x + (kPondRadius * 1.25f) * std::cos(angle);
    const float z = kPondCenter.z - (kPondRadius * 1.25f) * std::sin(angle);
    if (is_open_ground(x, z, 0.05f)) {
      add_lamp(layout, x, z);
    }
  }
  for (int bench = 0; bench < 8; ++bench) {
    const float angle = 2.0f * kPi * (static_cast<float>(bench) + 0.5f) / 8.0f;
    layout.on_ground(Prop::kBench, 3.5f * std::cos(angle), -3.5f * std::sin(angle),
                     angle - 0.5f * kPi, 1.0f);
  }
}

void add_plants(Layout& layout) {
  Random& random = layout.random();
  const auto scatter = [&](int tries, float claim, float margin, auto&& plant) {
    for (int attempt = 0; attempt < tries; ++attempt) {
      const float angle = random.between(0.0f, 2.0f * kPi);
      const float radius = 20.5f * std::sqrt(random.next());
      const float x = radius * std::cos(angle);
      const float z = -radius * std::sin(angle);
      if (is_open_ground(x, z, margin) && layout.claim(x, z, claim)) {
        plant(x, z);
      }
    }
  };
  scatter(700, 0.52f, 0.15f, [&](float x, float z) {
    const float wood = value_noise(x * 0.16f + 40.0f, z * 0.16f + 11.0f);
    const bool inner = std::hypot(x, z) < 11.5f;
    if (inner && random.next() < 0.5f) {
      return;
    }
    const Prop prop =
        wood > 0.55f ? Prop::kConifer : (random.next() < 0.28f ? Prop::kBirch : Prop::kRoundTree);
    const float shade = random.between(0.82f, 1.12f);
    const float scale = random.between(0.72f, 1.2f) * (inner ? 0.75f : 1.0f);
    layout.on_ground(prop, x, z, random.between(0.0f, 6.28f), scale,
                     {shade * random.between(0.9f, 1.15f), shade, shade * 0.95f});
    layout.bake().occluders.push_back({x, z, 1.25f * scale, 0.6f});
  });
  scatter(260, 0.3f, 0.0f, [&](float x, float z) {
    if (random.next() < 0.35f) {
      const float shade = random.between(0.8f, 1.1f);
      layout.on_ground(Prop::kRock, x, z, random.between(0.0f, 6.28f), random.between(0.4f, 1.1f),
                       vec3(shade));
    } else {
      layout.on_ground(Prop::kBush, x, z, random.between(0.0f, 6.28f), random.between(0.6f, 1.1f));
    }
    layout.bake().occluders.push_back({x, z, 0.6f, 0.5f});
  });
  const vec3 petals[] = {
      {1.0f, 0.35f, 0.40f}, {1.0f, 0.80f, 0.25f}, {0.70f, 0.50f, 1.0f}, {1.0f, 1.0f, 1.0f}};
  scatter(420, 0.12f, -0.1f, [&](float x, float z) {
    const float patch = value_noise(x * 0.3f + 3.0f, z * 0.3f + 90.0f);
    layout.on_ground(Prop::kFlower, x, z, random.between(0.0f, 6.28f), random.between(0.8f, 1.4f),
                     petals[static_cast<size_t>(patch * 3.99f)]);
  });
}

void add_islets(Layout& layout) {
  const vec3 places[] = {{30, -4, -9},     {26, -7.5f, 21}, {-29, -5, 13},
                         {-25, 1.5f, -25}, {9, -2, -33},    {-8, -8, 31}};
  for (const vec3& at : places) {
    const float scale = layout.random().between(0.9f, 1.7f);
    layout.place(Prop::kIslet, at, layout.random().between(0.0f, 6.0f), scale);
    for (int tree = 0; tree < 4; ++tree) {
      const float angle = 1.6f * static_cast<float>(tree) + scale;
      const vec3 spot = at + vec3(std::cos(angle), 0.0f, std::sin(angle)) * (scale * 0.95f);
      layout.place(tree % 2 == 0 ? Prop::kConifer : Prop::kRoundTree, spot, angle,
                   layout.random().between(0.6f, 1.1f));
    }
  }
}

void add_glows(World& world, const LightMapInput& bake) {
  for (const LampLight& light : bake.lights) {
    if (light.reach == 1.7f) {
      world.glows.push_back({{light.x, ground_height(light.x, light.z) + 1.62f, light.z, 0.75f},
                             {0.55f, 0.33f, 0.13f, 0.0f}});
    }
  }
  world.glows.push_back(
      {{4.5f, ground_height(4.5f, -15.2f) + 6.55f, -15.2f, 3.2f}, {0.75f, 0.48f, 0.2f, 0.0f}});
  Random random(77u);
  for (int fly = 0; fly < 60; ++fly) {
    const float angle = random.between(0.0f, 2.0f * kPi);
    const float radius = random.between(6.0f, 17.0f);
    const float x = radius * std::cos(angle);
    const float z = -radius * std::sin(angle);
    world.glows.push_back({{x, ground_height(x, z) + random.between(0.6f, 1.8f), z, 0.12f},
                           {0.75f, 0.9f, 0.3f, 1.0f}});
  }
}

}  // namespace

World build_world() {
  World world;
  for (uint32_t prop = 0; prop < kNumProps; ++prop) {
    world.meshes[prop] = build_prop(static_cast<Prop>(prop));
  }
  world.meshes[static_cast<size_t>(Prop::kTerrain)] = build_terrain();
  Layout layout(world);
  layout.place(Prop::kTerrain, vec3(0.0f), 0.0f, 1.0f);
  add_landmarks(layout);
  add_village(layout);
  add_lamps(layout);
  add_plants(layout);
  add_islets(layout);
  layout.finish();
  world.light_map = bake_light_map(layout.bake());
  add_glows(world, layout.bake());
  world.moving_batches = moving_batches();
  for (const Batch& batch : world.moving_batches) {
    world.num_moving += batch.num_instances;
  }
  return world;
}

}  // namespace ifr::host
