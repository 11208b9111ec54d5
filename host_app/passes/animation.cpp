// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <cmath>
#include <numbers>

#include "passes/placement.h"
#include "passes/terrain.h"

namespace ifr::host {
namespace {

using glm::vec3;
constexpr float kPi = std::numbers::pi_v<float>;
constexpr uint32_t kNumBalloons = 4;
constexpr uint32_t kNumBirds = 14;
constexpr uint32_t kNumClouds = 22;

vec3 guide_position(float time) {
  return {0.0f, 2.0f + 0.12f * std::sin(time * 1.6f), 0.0f};
}

Placement mill_sails(float time) {
  const vec3 forward{std::sin(kMillYaw), 0.0f, std::cos(kMillYaw)};
  const vec3 base{kHillCenter.x, ground_height(kHillCenter.x, kHillCenter.z), kHillCenter.z};
  return {.position = base + vec3(0, 3.35f * kMillScale, 0) + forward * (1.05f * kMillScale),
          .yaw = kMillYaw,
          .roll = time * 0.6f,
          .scale = vec3(kMillScale)};
}

Placement balloon(uint32_t index, float time) {
  const vec3 tints[] = {
      {0.95f, 0.32f, 0.25f}, {0.98f, 0.72f, 0.28f}, {0.35f, 0.62f, 0.85f}, {0.72f, 0.42f, 0.75f}};
  const auto number = static_cast<float>(index);
  const float angle = 1.7f * number + 0.035f * time;
  const float radius = 17.0f + 3.5f * std::fmod(number * 1.618f, 1.0f) * 2.0f;
  return {.position = {radius * std::cos(angle),
                       7.5f + 2.3f * std::fmod(number * 0.7f, 2.0f) +
                           0.4f * std::sin(0.5f * time + number),
                       radius * std::sin(angle)},
          .yaw = 0.1f * time + number,
          .scale = vec3(1.1f),
          .tint = tints[index % 4]};
}

Placement bird(uint32_t index, float time) {
  const auto number = static_cast<float>(index);
  const float flock = index < 8 ? 0.0f : 2.4f;
  const float angle = flock - 0.16f * time - 0.055f * number;
  const float radius = 13.0f + 0.55f * std::sin(number * 2.1f) + (index < 8 ? 0.0f : 5.0f);
  const float flap = std::sin(time * 7.0f + number * 1.3f);
  return {
      .position = {radius * std::cos(angle), 8.5f + 0.5f * std::sin(number * 4.0f + time * 0.4f),
                   radius * std::sin(angle)},
      .yaw = -angle + kPi,
      .scale = {0.75f, 1.6f * flap, 0.9f},
      .tint = vec3(1.0f)};
}

Placement cloud(uint32_t index, float time) {
  const auto number = static_cast<float>(index);
  const float angle = 2.399963f * number + 0.006f * time * (1.0f + 0.3f * std::fmod(number, 3.0f));
  const float radius = 33.0f + 42.0f * std::fmod(number * 0.618f, 1.0f);
  const float height = index % 3 == 0 ? 9.0f + std::fmod(number * 3.7f, 9.0f)
                                      : -12.0f - std::fmod(number * 2.9f, 9.0f);
  const float size = 1.0f + 0.9f * std::fmod(number * 0.37f, 1.0f) + (radius - 33.0f) * 0.025f;
  return {.position = {radius * std::cos(angle), height, radius * std::sin(angle)},
          .yaw = angle,
          .scale = {size * 1.25f, size * 0.85f, size}};
}

}  // namespace

shared::SceneInstance to_instance(const Placement& p) {
  const float cy = std::cos(p.yaw);
  const float sy = std::sin(p.yaw);
  const float cr = std::cos(p.roll);
  const float sr = std::sin(p.roll);
  // Columns of yaw * roll * scale.
  const vec3 x = vec3(cy * cr, sr, -sy * cr) * p.scale.x;
  const vec3 y = vec3(-cy * sr, cr, sy * sr) * p.scale.y;
  const vec3 z = vec3(sy, 0.0f, cy) * p.scale.z;
  return {{x.x, y.x, z.x, p.position.x},
          {x.y, y.y, z.y, p.position.y},
          {x.z, y.z, z.z, p.position.z},
          {p.tint.r, p.tint.g, p.tint.b, p.phase}};
}

std::vector<Batch> moving_batches() {
  const std::pair<Prop, uint32_t> kinds[] = {
      {Prop::kMillSails, 1},          {Prop::kGuide, 1},        {Prop::kGuideRing, 1},
      {Prop::kBalloon, kNumBalloons}, {Prop::kBird, kNumBirds}, {Prop::kCloud, kNumClouds}};
  std::vector<Batch> batches;
  uint32_t first = 0;
  for (const auto& [prop, count] : kinds) {
    batches.push_back({prop, first, count,
                       prop != Prop::kCloud && prop != Prop::kGuideRing && prop != Prop::kBird});
    first += count;
  }
  return batches;
}

void animate(double time_s, std::span<shared::SceneInstance> out) {
  const auto time = static_cast<float>(time_s);
  size_t next = 0;
  const auto put = [&](const Placement& placement) {
    assert(next < out.size());
    out[next++] = to_instance(placement);
  };
  put(mill_sails(time));
  const vec3 guide = guide_position(time);
  put({.position = guide,
       .yaw = kGuideYaw + 0.35f * std::sin(0.4f * time),
       .scale = vec3(kGuideScale)});
  put({.position = guide + vec3(0, 0.25f, 0), .yaw = 1.2f * time, .scale = vec3(kGuideScale)});
  for (uint32_t index = 0; index < kNumBalloons; ++index) {
    put(balloon(index, time));
  }
  for (uint32_t index = 0; index < kNumBirds; ++index) {
    put(bird(index, time));
  }
  for (uint32_t index = 0; index < kNumClouds; ++index) {
    put(cloud(index, time));
  }
}

vec3 guide_head(double time_s) {
  return guide_position(static_cast<float>(time_s)) + vec3(0, 2.05f * kGuideScale, 0);
}

}  // namespace ifr::host
