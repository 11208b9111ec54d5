// SPDX-License-Identifier: Apache-2.0
// Low-polygon meshes built by code. Counter-clockwise is outside; y is up; a normal per face unless
// smooth.
#pragma once

#include <cstdint>
#include <glm/vec3.hpp>
#include <vector>

#include "shared/scene_shared.h"

namespace ifr::host {

struct Mesh {
  std::vector<shared::SceneVertex> vertices;
  std::vector<uint32_t> indices;
};

/// sRGB-like colour 0..1 (the shader squares it) and material.
struct Paint {
  glm::vec3 color;
  int material = shared::kMaterialPlain;
};

/// A prism or cone around the y axis. radius_top 0 gives a cone without cap.
struct Turned {
  glm::vec3 base{0.0f};
  float height = 1.0f;
  float radius_bottom = 1.0f;
  float radius_top = 1.0f;
  int num_sides = 6;
  float twist = 0.0f;  // radians, turns the whole shape
  bool cap_top = true;
  bool cap_bottom = false;
};

struct Box {
  glm::vec3 low;
  glm::vec3 high;
  bool bottom = false;
};

class MeshBuilder {
 public:
  void triangle(glm::vec3 a, glm::vec3 b, glm::vec3 c, const Paint& paint);
  /// Corners in order; both triangles share the normal of the first.
  void quad(glm::vec3 a, glm::vec3 b, glm::vec3 c, glm::vec3 d, const Paint& paint);
  void box(const Box& box, const Paint& paint);
  void turned(const Turned& shape, const Paint& paint);
  /// Sphere of 20 * 4^levels triangles, scaled per axis; `roughness` moves corners in and out
  /// (seeded by place).
  void ball(glm::vec3 center, glm::vec3 radius, int levels, float roughness, const Paint& paint);
  /// As ball(), with one vertex a corner and smooth normals.
  void smooth_ball(glm::vec3 center, glm::vec3 radius, int levels, const Paint& paint);

  [[nodiscard]] const Mesh& mesh() const { return mesh_; }
  [[nodiscard]] Mesh take() { return std::move(mesh_); }

 private:
  uint32_t vertex(glm::vec3 position, glm::vec3 normal, const Paint& paint);
  Mesh mesh_;
};

/// Shares corners between faces. A face keeps normal, colour and material of its first corner, the
/// one that flat interpolation takes; so about one vertex a triangle is left of three.
[[nodiscard]] Mesh share_corners(const Mesh& mesh);

/// Positions alone, each once: all that a shadow needs.
struct Silhouette {
  std::vector<glm::vec3> positions;
  std::vector<uint32_t> indices;
};
[[nodiscard]] Silhouette silhouette(const Mesh& mesh);

/// Repeatable numbers in 0..1.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 747796405u + 2891336453u) {}
  float next();
  float between(float low, float high) { return low + (high - low) * next(); }

 private:
  uint32_t state_;
};

/// Smooth value noise in 0..1.
float value_noise(float x, float z);

}  // namespace ifr::host
