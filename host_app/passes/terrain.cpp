// SPDX-License-Identifier: Apache-2.0
#include "passes/terrain.h"

#include <algorithm>
#include <cmath>
#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <numbers>

#include "passes/world.h"

namespace ifr::host {
namespace {

using glm::vec3;
constexpr float kPi = std::numbers::pi_v<float>;
constexpr int kSegments = 84;
constexpr int kRings = 24;
constexpr float kPathAngles[] = {0.52f, 2.35f, 3.80f, 5.20f};
constexpr float kPathBends[] = {0.020f, -0.025f, 0.018f, -0.015f};
constexpr float kStreetRadius = 9.3f;

float smooth(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

vec3 ground_color(vec3 p) {
  const float radius = std::hypot(p.x, p.z);
  const float noise = value_noise(p.x * 0.55f + 31.0f, p.z * 0.55f + 7.0f);
  const float grain = value_noise(p.x * 2.3f, p.z * 2.3f + 50.0f);
  vec3 color = glm::mix(vec3(0.40f, 0.56f, 0.29f), vec3(0.60f, 0.68f, 0.34f), noise);
  color = glm::mix(color, vec3(0.50f, 0.63f, 0.34f), 0.5f * grain);
  const float path = path_distance(p.x, p.z);
  if (path < 0.85f) {
    color = glm::mix(vec3(0.78f, 0.69f, 0.54f), vec3(0.71f, 0.61f, 0.47f), grain);
  }
  if (radius < kPlazaRadius) {
    const int ring = static_cast<int>(radius / 0.77f);
    color = glm::mix(vec3(0.74f, 0.69f, 0.63f), vec3(0.64f, 0.59f, 0.55f),
                     ring % 2 == 0 ? 0.2f * grain : 0.8f);
  }
  const float pond = std::hypot(p.x - kPondCenter.x, p.z - kPondCenter.z) / kPondRadius;
  if (pond < 1.12f) {
    color =
        glm::mix(vec3(0.33f, 0.46f, 0.44f), vec3(0.82f, 0.75f, 0.58f), smooth(0.75f, 1.0f, pond));
  }
  return color;
}

vec3 grid_point(int ring, int segment) {
  const float angle =
      2.0f * kPi * static_cast<float>(segment % kSegments) / static_cast<float>(kSegments);
  const float rim = rim_radius(angle);
  const float t = static_cast<float>(ring) / static_cast<float>(kRings);
  // The inner rings keep their circle, for the plaza's paving; the outer ones follow the rim.
  const float radius = std::lerp(t * 18.5f, t * rim, smooth(0.2f, 0.9f, t));
  const float x = radius * std::cos(angle);
  const float z = -radius * std::sin(angle);
  return {x, ground_height(x, z), z};
}

void add_top(MeshBuilder& out) {
  for (int ring = 0; ring < kRings; ++ring) {
    for (int segment = 0; segment < kSegments; ++segment) {
      const vec3 a = grid_point(ring, segment);
      const vec3 b = grid_point(ring + 1, segment);
      const vec3 c = grid_point(ring + 1, segment + 1);
      const vec3 d = grid_point(ring, segment + 1);
      // Flat places take one quad; folded ones two triangles, each with its own normal.
      const Paint first{ground_color((a + b + c) / 3.0f), shared::kMaterialGround};
      const Paint second{ground_color((a + c + d) / 3.0f), shared::kMaterialGround};
      if (ring == 0) {
        out.triangle(a, b, c, first);
        continue;
      }
      out.triangle(a, b, c, first);
      out.triangle(a, c, d, second);
    }
  }
}

/// Strata of rock that narrow downwards into crags.
void add_underside(MeshBuilder& out) {
  constexpr int kLayers = 7;
  constexpr int kSides = 42;
  const auto at = [](int layer, int side) {
    const float angle = 2.0f * kPi * static_cast<float>(side % kSides) / static_cast<float>(kSides);
    const float rim = rim_radius(angle);
    const float t = static_cast<float>(layer) / static_cast<float>(kLayers);
    const float crag =
        value_noise(std::cos(angle) * 3.1f + 9.0f, std::sin(angle) * 3.1f + 2.0f + t * 1.5f);
    const float jag =
        value_noise(static_cast<float>(side % kSides) * 1.37f, static_cast<float>(layer) * 2.11f) -
        0.5f;
    const float shrink =
        layer == 0 ? 1.0f : (1.0f - std::pow(t, 1.25f)) * (0.82f + 0.30f * crag) + 0.05f * jag;
    const float radius = std::max(rim * shrink, 0.02f);
    const float x = radius * std::cos(angle);
    const float z = -radius * std::sin(angle);
    if (layer == kLayers) {
      return vec3(0.3f, -14.5f, -0.2f);  // one tip for all sides
    }
    const float depth =
        layer == 0 ? ground_height(x, z) : -14.0f * t * (0.75f + 0.45f * crag) + 0.8f * jag - 0.4f;
    return vec3(x, depth, z);
  };
  const vec3 soil{0.46f, 0.36f, 0.29f};
  const vec3 rock{0.53f, 0.47f, 0.47f};
  for (int layer = 0; layer < kLayers; ++layer) {
    for (int side = 0; side < kSides; ++side) {
      const vec3 a = at(layer + 1, side);
      const vec3 b = at(layer + 1, side + 1);
      const vec3 c = at(layer, side + 1);
      const vec3 d = at(layer, side);
      const float shade = 0.85f + 0.3f * value_noise(static_cast<float>(side) * 0.9f,
                                                     static_cast<float>(layer) * 3.0f);
      const Paint paint{glm::mix(soil, rock, smooth(0.0f, 2.0f, static_cast<float>(layer))) * shade,
                        shared::kMaterialRock};
      out.triangle(a, b, c, paint);
      out.triangle(a, c, d, paint);
    }
  }
}

void add_pond(MeshBuilder& out) {
  const Paint water{{0.26f, 0.60f, 0.66f}, shared::kMaterialWater};
  constexpr int kCells = 13;
  // A jittered grid: facets of no order catch the light like ripples. What lies under the shore is
  // hidden by it.
  const auto at = [](int column, int row) {
    const auto jitter = [&](int salt) {
      return 0.55f * (value_noise(static_cast<float>(column * 3 + salt) * 1.31f,
                                  static_cast<float>(row * 5) * 1.17f) -
                      0.5f);
    };
    const float step = 2.3f * kPondRadius / static_cast<float>(kCells);
    return kPondCenter + vec3((static_cast<float>(column) - 0.5f * kCells + jitter(0)) * step,
                              kPondLevel,
                              (static_cast<float>(row) - 0.5f * kCells + jitter(7)) * step);
  };
  for (int row = 0; row < kCells; ++row) {
    for (int column = 0; column < kCells; ++column) {
      const vec3 a = at(column, row + 1);
      const vec3 b = at(column + 1, row + 1);
      const vec3 c = at(column + 1, row);
      const vec3 d = at(column, row);
      if (glm::length((a + c) * 0.5f - kPondCenter) < kPondRadius * 1.2f) {
        out.triangle(a, b, c, water);
        out.triangle(a, c, d, water);
      }
    }
  }
}

/// The brook from the pond to the rim, and its fall into the mist.
void add_waterfall(MeshBuilder& out) {
  const float angle = std::atan2(-kPondCenter.z, kPondCenter.x);
  const vec3 outward{std::cos(angle), 0, -std::sin(angle)};
  const vec3 across{-outward.z, 0, outward.x};
  const float rim = rim_radius(angle);
  const Paint water{{0.55f, 0.80f, 0.84f}, shared::kMaterialFall};
  const float start = glm::length(vec3(kPondCenter.x, 0, kPondCenter.z)) + kPondRadius * 0.8f;
  const auto point = [&](int step, float side) {
    if (step <= 3) {
      const float along = std::lerp(start, rim + 0.25f, static_cast<float>(step) / 3.0f);
      return outward * along + across * (side * 0.85f) + vec3(0, kPondLevel + 0.05f, 0);
    }
    const float drop = 0.5f * static_cast<float>(step - 3);
    return outward * (rim + 0.25f + 0.55f * std::sqrt(drop)) +
           across * (side * (0.85f + 0.06f * drop)) +
           vec3(0, kPondLevel - 0.35f * drop - 0.16f * drop * drop, 0);
  };
  for (int step = 0; step < 22; ++step) {
    for (int lane = -3; lane <= 3; ++lane) {
      const float left = (static_cast<float>(lane) - 0.5f) / 3.5f;
      const float right = (static_cast<float>(lane) + 0.5f) / 3.5f;
      out.quad(point(step, left), point(step, right), point(step + 1, right), point(step + 1, left),
               water);
      out.quad(point(step + 1, left), point(step + 1, right), point(step, right), point(step, left),
               water);
    }
  }
}

}  // namespace

float rim_radius(float angle) {
  return 19.4f + 1.1f * std::sin(3.0f * angle + 0.6f) + 0.7f * std::sin(7.0f * angle) +
         0.35f * std::sin(13.0f * angle + 2.0f);
}

float path_distance(float x, float z) {
  const float radius = std::hypot(x, z);
  float nearest = std::abs(radius - kStreetRadius);
  const float angle = std::atan2(-z, x);
  for (size_t path = 0; path < std::size(kPathAngles); ++path) {
    float offset =
        std::remainder(angle - kPathAngles[path] - kPathBends[path] * radius, 2.0f * kPi);
    if (radius > kPlazaRadius * 0.8f && radius < 17.5f && std::abs(offset) < 0.5f) {
      nearest = std::min(nearest, std::abs(offset) * radius);
    }
  }
  return nearest;
}

float ground_height(float x, float z) {
  const float radius = std::hypot(x, z);
  const float rolling = smooth(5.0f, 12.0f, radius);
  float height = 0.35f + rolling * 0.9f * (value_noise(x * 0.17f + 5.0f, z * 0.17f + 3.0f) - 0.4f);
  const float hill = std::hypot(x - kHillCenter.x, z - kHillCenter.z);
  height += 2.6f * (1.0f - smooth(1.2f, 7.5f, hill));
  const float path = path_distance(x, z);
  height -= 0.06f * (1.0f - smooth(0.6f, 0.95f, path));
  const float rim = rim_radius(std::atan2(-z, x));
  height -= 0.7f * smooth(rim - 2.0f, rim, radius);
  const float pond = std::hypot(x - kPondCenter.x, z - kPondCenter.z) / kPondRadius;
  height = std::lerp(-0.55f, height, smooth(0.55f, 1.15f, pond));
  // A bed for the brook that leaves the pond.
  const float brook_angle = std::atan2(-kPondCenter.z, kPondCenter.x);
  const float aside =
      std::abs(std::remainder(std::atan2(-z, x) - brook_angle, 2.0f * kPi)) * radius;
  if (radius > 13.0f) {
    height = std::lerp(std::min(height, -0.15f), height, smooth(0.7f, 1.5f, aside));
  }
  return height;
}

Mesh build_terrain() {
  MeshBuilder out;
  add_top(out);
  add_underside(out);
  add_pond(out);
  add_waterfall(out);
  return out.take();
}

}  // namespace ifr::host
