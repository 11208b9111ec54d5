// SPDX-License-Identifier: Apache-2.0
// What the scene's shaders and the C++ that feeds them both read. Compiled as GLSL and as C++.
#ifndef IFR_SHADERS_SHARED_SCENE_SHARED_H
#define IFR_SHADERS_SHARED_SCENE_SHARED_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#include <glm/mat4x4.hpp>
#include <glm/vec4.hpp>

namespace ifr::host::shared {
using mat4 = glm::mat4;
using vec4 = glm::vec4;
#define IFR_CONST inline constexpr
#else
#define IFR_CONST const
#endif

/// Materials, in the fourth byte of a vertex colour.
IFR_CONST int kMaterialPlain = 0;
IFR_CONST int kMaterialFoliage = 1;  // sways in the wind
IFR_CONST int kMaterialWindow = 2;   // glows after dusk
IFR_CONST int kMaterialLamp = 3;     // glows always
IFR_CONST int kMaterialWater = 4;    // rippling, mirrors the sky
IFR_CONST int kMaterialCloud = 5;    // takes no shadow
IFR_CONST int kMaterialFall = 6;     // falling water
IFR_CONST int kMaterialGround = 7;   // takes baked occlusion
IFR_CONST int kMaterialFixed = 8;    // keeps its colour whatever the instance's tint
IFR_CONST int kMaterialRock = 9;     // takes no lamp light

/// Half the edge, in world units, of the square that the baked light map covers around the origin.
IFR_CONST float kLightMapHalfExtent = 28.0f;

/// Cells of the grid that the sky is drawn with, 6 vertices each.
IFR_CONST int kSkyColumns = 40;
IFR_CONST int kSkyRows = 24;

IFR_CONST int kNumStars = 500;

/// Cotangent of half the vertical field of view: sizes of camera-facing quads follow it.
IFR_CONST float kFocalLength = 2.7f;

/// Uniform block of one frame, std140. Colours are linear.
struct FrameUniforms {
  mat4 view_projection;
  mat4 inverse_view_projection;
  mat4 shadow_matrix;    // world -> shadow clip space
  vec4 camera_position;  // w: time in seconds
  vec4 light_direction;  // towards the sun, or towards the moon at night; w: night, 0 (day) .. 1
  vec4 light_color;      // w: strength of the disc in the sky
  vec4 ambient_sky;      // w: distance at which fog begins
  vec4 ambient_ground;
  vec4 fog_color;    // w: density
  vec4 sky_zenith;   // w: star brightness
  vec4 sky_horizon;  // w: width / height
  vec4 lamp_color;   // w: lamp power, 0 .. 1
};

#ifdef __cplusplus
/// One corner of a mesh.
struct SceneVertex {
  float position[3];
  int8_t normal[4];  // w unused
  uint8_t color[4];  // sRGB-encoded; w: material
};

/// One copy of a mesh: rows of an affine 3x4 matrix, then tint (linear, multiplies the colour) and
/// a phase.
struct SceneInstance {
  float row0[4];
  float row1[4];
  float row2[4];
  float tint[4];  // w: phase of sway and flicker, radians
};

/// A camera-facing additive light.
struct GlowInstance {
  float center[4];  // w: radius in world units
  float color[4];   // linear; w: 1 to flicker and drift like a firefly
};

static_assert(sizeof(FrameUniforms) == 3 * 64 + 9 * 16);
static_assert(offsetof(FrameUniforms, camera_position) == 192);
static_assert(offsetof(FrameUniforms, lamp_color) == 320);
static_assert(sizeof(SceneVertex) == 20 && sizeof(SceneInstance) == 64 &&
              sizeof(GlowInstance) == 32);
}  // namespace ifr::host::shared
#endif
#undef IFR_CONST

#endif
