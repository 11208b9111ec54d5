#version 460
// SPDX-License-Identifier: Apache-2.0
// Camera-facing quads, two triangles an instance.
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) in vec4 in_center;  // w: radius
layout(location = 1) in vec4 in_light;   // w: 1 for a firefly

layout(location = 0) out vec2 out_corner;
layout(location = 1) out vec3 out_light;

void main() {
  const vec2 corners[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(-1, 1));
  vec2 corner = corners[gl_VertexIndex];
  float time = frame.camera_position.w;
  float seed = in_center.x * 3.7 + in_center.z * 5.3;
  vec3 center = in_center.xyz;
  float strength = frame.lamp_color.w;
  if (in_light.w > 0.5) {
    center += vec3(sin(time * 0.7 + seed), 0.5 * sin(time * 1.1 + seed * 2.0), cos(time * 0.6 + seed * 1.3)) * 0.9;
    strength *= smoothstep(-0.2, 0.7, sin(time * 1.9 + seed * 4.0));
  }
  out_corner = corner;
  out_light = in_light.rgb * strength;
  vec4 clip = frame.view_projection * vec4(center, 1.0);
  // Pulled towards the eye, so that the lamp's own glass does not cut the glow.
  clip.z -= 0.0012 * clip.w;
  vec2 size = in_center.w * kFocalLength * vec2(1.0 / frame.sky_horizon.w, 1.0);
  gl_Position = strength > 0.01 ? clip + vec4(corner * size, 0.0, 0.0) : vec4(2.0, 2.0, 2.0, 1.0);
}
