#version 460
// SPDX-License-Identifier: Apache-2.0
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) in vec3 in_color;
layout(location = 1) in vec3 in_direction;
layout(location = 0) out vec4 out_color;

/// Pseudo-random in 0..1 without trigonometry.
float hash(vec3 p) {
  p = fract(p * 0.3183099 + vec3(0.71, 0.113, 0.419));
  p *= 17.0;
  return fract(p.x * p.y * p.z * (p.x + p.y + p.z));
}

void main() {
  vec3 color = in_color;
  if (frame.sky_zenith.w > 0.01) {
    vec3 direction = normalize(in_direction);
    vec3 cell = direction * 90.0;
    vec3 id = floor(cell);
    vec3 offset = fract(cell) - 0.5;
    float chance = hash(id);
    float star = max(0.0, 1.0 - dot(offset, offset) * 14.0) * step(0.955, chance);
    float twinkle = 0.7 + 0.3 * sin(frame.camera_position.w * 2.0 + chance * 900.0);
    color += vec3(0.75, 0.85, 1.0) * (star * twinkle * frame.sky_zenith.w * clamp(direction.y * 4.0 + 0.3, 0.0, 1.0));
  }
  out_color = vec4(color, 1.0);
}
