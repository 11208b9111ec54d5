#version 460
// SPDX-License-Identifier: Apache-2.0
// Stars: small quads at the far plane, an instance each, spread over the upper sky by a golden spiral and a hash.
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) out vec2 out_corner;
layout(location = 1) out vec3 out_light;

float hash(float n) { return fract(sin(n * 12.9898) * 43758.5453); }

void main() {
  const vec2 corners[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(-1, 1));
  vec2 corner = corners[gl_VertexIndex];
  float number = float(gl_InstanceIndex);
  float height = 0.02 + 0.85 * pow(hash(number), 1.6);
  float angle = number * 2.399963 + hash(number + 0.5);
  vec3 direction = vec3(cos(angle), height, sin(angle));
  vec4 clip = frame.view_projection * vec4(frame.camera_position.xyz + direction * 120.0, 1.0);
  float brightness = 0.45 + 1.1 * hash(number + 7.0) * hash(number + 3.0);
  float twinkle = 0.8 + 0.2 * sin(frame.camera_position.w * (1.0 + 2.0 * hash(number + 1.0)) + number);
  out_corner = corner;
  out_light = mix(vec3(0.75, 0.85, 1.0), vec3(1.0, 0.88, 0.75), hash(number + 2.0)) *
              (brightness * twinkle * frame.sky_zenith.w * clamp(height * 6.0, 0.2, 1.0));
  vec2 size = (0.0030 + 0.0034 * brightness) * kFocalLength * vec2(1.0 / frame.sky_horizon.w, 1.0);
  gl_Position = clip.w > 0.0 ? vec4(clip.xy + corner * size * clip.w, clip.w, clip.w) : vec4(2.0, 2.0, 2.0, 1.0);
}
