// SPDX-License-Identifier: Apache-2.0
#include "passes/mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/geometric.hpp>
#include <map>
#include <numbers>
#include <utility>

namespace ifr::host {
namespace {

float hash_lattice(int x, int z) {
  uint32_t h = static_cast<uint32_t>(x) * 374761393u + static_cast<uint32_t>(z) * 668265263u;
  h = (h ^ (h >> 13)) * 1274126177u;
  return static_cast<float>((h ^ (h >> 16)) & 0xffffu) / 65535.0f;
}

int8_t to_snorm(float value) {
  return static_cast<int8_t>(std::lround(std::clamp(value, -1.0f, 1.0f) * 127.0f));
}
uint8_t to_unorm(float value) {
  return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f));
}

struct Sphere {
  std::vector<glm::vec3> corners;  // unit length
  std::vector<std::array<uint32_t, 3>> faces;
};

Sphere unit_sphere(int levels) {
  const float t = std::numbers::phi_v<float>;
  Sphere sphere;
  sphere.corners = {{-1, t, 0},  {1, t, 0},  {-1, -t, 0}, {1, -t, 0}, {0, -1, t},  {0, 1, t},
                    {0, -1, -t}, {0, 1, -t}, {t, 0, -1},  {t, 0, 1},  {-t, 0, -1}, {-t, 0, 1}};
  sphere.faces = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                  {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                  {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                  {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> middles;
    const auto middle = [&](uint32_t a, uint32_t b) {
      const auto key = std::minmax(a, b);
      const auto [entry, inserted] =
          middles.try_emplace(key, static_cast<uint32_t>(sphere.corners.size()));
      if (inserted) {
        sphere.corners.push_back(glm::normalize(sphere.corners[a]) +
                                 glm::normalize(sphere.corners[b]));
      }
      return entry->second;
    };
    std::vector<std::array<uint32_t, 3>> finer;
    for (const auto& [a, b, c] : sphere.faces) {
      const uint32_t ab = middle(a, b);
      const uint32_t bc = middle(b, c);
      const uint32_t ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    sphere.faces = std::move(finer);
  }
  for (glm::vec3& corner : sphere.corners) {
    corner = glm::normalize(corner);
  }
  return sphere;
}

}  // namespace

float Random::next() {
  state_ = state_ * 747796405u + 2891336453u;
  const uint32_t word = ((state_ >> ((state_ >> 28u) + 4u)) ^ state_) * 277803737u;
  return static_cast<float>(((word >> 22u) ^ word) & 0xffffffu) / 16777215.0f;
}

float value_noise(float x, float z) {
  const float fx = std::floor(x);
  const float fz = std::floor(z);
  const int ix = static_cast<int>(fx);
  const int iz = static_cast<int>(fz);
  const float tx = (x - fx) * (x - fx) * (3.0f - 2.0f * (x - fx));
  const float tz = (z - fz) * (z - fz) * (3.0f - 2.0f * (z - fz));
  const float near = std::lerp(hash_lattice(ix, iz), hash_lattice(ix + 1, iz), tx);
  const float far = std::lerp(hash_lattice(ix, iz + 1), hash_lattice(ix + 1, iz + 1), tx);
  return std::lerp(near, far, tz);
}

uint32_t MeshBuilder::vertex(glm::vec3 position, glm::vec3 normal, const Paint& paint) {
  mesh_.vertices.push_back({{position.x, position.y, position.z},
                            {to_snorm(normal.x), to_snorm(normal.y), to_snorm(normal.z), 0},
                            {to_unorm(paint.color.r), to_unorm(paint.color.g),
                             to_unorm(paint.color.b), static_cast<uint8_t>(paint.material)}});
  return static_cast<uint32_t>(mesh_.vertices.size() - 1);
}

void MeshBuilder::triangle(glm::vec3 a, glm::vec3 b, glm::vec3 c, const Paint& paint) {
  const glm::vec3 cross = glm::cross(b - a, c - a);
  const float length = glm::length(cross);
  if (length < 1e-9f) {
    return;
  }
  for (const glm::vec3& corner : {a, b, c}) {
    mesh_.indices.push_back(vertex(corner, cross / length, paint));
  }
}

void MeshBuilder::quad(glm::vec3 a, glm::vec3 b, glm::vec3 c, glm::vec3 d, const Paint& paint) {
  const glm::vec3 normal = glm::normalize(glm::cross(b - a, c - a));
  const uint32_t first = vertex(a, normal, paint);
  vertex(b, normal, paint);
  vertex(c, normal, paint);
  vertex(d, normal, paint);
  for (const uint32_t corner : {0u, 1u, 2u, 0u, 2u, 3u}) {
    mesh_.indices.push_back(first + corner);
  }
}

void MeshBuilder::box(const Box& box, const Paint& paint) {
  const auto [lo, hi, bottom] = box;
  quad({lo.x, lo.y, hi.z}, {hi.x, lo.y, hi.z}, {hi.x, hi.y, hi.z}, {lo.x, hi.y, hi.z}, paint);
  quad({hi.x, lo.y, lo.z}, {lo.x, lo.y, lo.z}, {lo.x, hi.y, lo.z}, {hi.x, hi.y, lo.z}, paint);
  quad({hi.x, lo.y, hi.z}, {hi.x, lo.y, lo.z}, {hi.x, hi.y, lo.z}, {hi.x, hi.y, hi.z}, paint);
  quad({lo.x, lo.y, lo.z}, {lo.x, lo.y, hi.z}, {lo.x, hi.y, hi.z}, {lo.x, hi.y, lo.z}, paint);
  quad({lo.x, hi.y, hi.z}, {hi.x, hi.y, hi.z}, {hi.x, hi.y, lo.z}, {lo.x, hi.y, lo.z}, paint);
  if (bottom) {
    quad({lo.x, lo.y, lo.z}, {hi.x, lo.y, lo.z}, {hi.x, lo.y, hi.z}, {lo.x, lo.y, hi.z}, paint);
  }
}

void MeshBuilder::turned(const Turned& shape, const Paint& paint) {
  const auto corner = [&](int side, float radius, float y) {
    const float angle = shape.twist + 2.0f * std::numbers::pi_v<float> * static_cast<float>(side) /
                                          static_cast<float>(shape.num_sides);
    return shape.base + glm::vec3(radius * std::cos(angle), y, -radius * std::sin(angle));
  };
  const glm::vec3 top_center = shape.base + glm::vec3(0, shape.height, 0);
  for (int side = 0; side < shape.num_sides; ++side) {
    const glm::vec3 a = corner(side, shape.radius_bottom, 0);
    const glm::vec3 b = corner(side + 1, shape.radius_bottom, 0);
    const glm::vec3 c = corner(side + 1, shape.radius_top, shape.height);
    const glm::vec3 d = corner(side, shape.radius_top, shape.height);
    if (shape.radius_top <= 0.0f) {
      triangle(a, b, top_center, paint);
    } else if (shape.radius_bottom <= 0.0f) {
      triangle(shape.base, c, d, paint);
    } else {
      quad(a, b, c, d, paint);
    }
    if (shape.cap_top && shape.radius_top > 0.0f) {
      triangle(d, c, top_center, paint);
    }
    if (shape.cap_bottom && shape.radius_bottom > 0.0f) {
      triangle(b, a, shape.base, paint);
    }
  }
}

void MeshBuilder::ball(glm::vec3 center, glm::vec3 radius, int levels, float roughness,
                       const Paint& paint) {
  const Sphere sphere = unit_sphere(levels);
  const auto place = [&](uint32_t index) {
    const glm::vec3 unit = sphere.corners[index];
    const float noise =
        hash_lattice(static_cast<int>((unit.x + center.x) * 97.0f),
                     static_cast<int>((unit.y * 1.7f + unit.z + center.z) * 89.0f)) -
        0.5f;
    return center + unit * radius * (1.0f + roughness * 2.0f * noise);
  };
  for (const auto& [a, b, c] : sphere.faces) {
    triangle(place(a), place(b), place(c), paint);
  }
}

void MeshBuilder::smooth_ball(glm::vec3 center, glm::vec3 radius, int levels, const Paint& paint) {
  const Sphere sphere = unit_sphere(levels);
  const auto first = static_cast<uint32_t>(mesh_.vertices.size());
  for (const glm::vec3& unit : sphere.corners) {
    vertex(center + unit * radius, glm::normalize(unit / radius), paint);
  }
  for (const auto& face : sphere.faces) {
    for (const uint32_t index : face) {
      mesh_.indices.push_back(first + index);
    }
  }
}

}  // namespace ifr::host
