#version 460
// SPDX-License-Identifier: Apache-2.0
// The sun or the moon: a quad at the far plane.
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) out vec2 out_corner;
layout(location = 1) out vec3 out_light;

void main() {
  const vec2 corners[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(-1, 1));
  vec2 corner = corners[gl_VertexIndex];
  vec4 clip = frame.view_projection * vec4(frame.camera_position.xyz + frame.light_direction.xyz * 150.0, 1.0);
  out_corner = corner;
  out_light = frame.light_color.rgb * frame.light_color.w;
  vec2 size = 0.055 * kFocalLength * vec2(1.0 / frame.sky_horizon.w, 1.0);
  gl_Position = clip.w > 0.0 ? vec4(clip.xy + corner * size * clip.w, clip.w, clip.w) : vec4(2.0, 2.0, 2.0, 1.0);
}
