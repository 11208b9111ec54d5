// SPDX-License-Identifier: Apache-2.0
#extension GL_GOOGLE_include_directive : require
#include "shared/scene_shared.h"

layout(set = 0, binding = 0, std140) uniform FrameBlock { FrameUniforms frame; };

/// Filmic curve that ends in display gamma: one division and no pow, as the CPU rasteriser pays for each.
vec3 tonemap(vec3 color) {
  vec3 x = max(vec3(0.0), color - 0.004);
  return (x * (6.2 * x + 0.5)) / (x * (6.2 * x + 1.7) + 0.06);
}

vec3 sky_color(vec3 direction) {
  float height = clamp(direction.y, -1.0, 1.0);
  float up = 1.0 - clamp(height * 2.1, 0.0, 1.0);
  float haze = up * up;
  vec3 color = mix(frame.sky_zenith.rgb, frame.sky_horizon.rgb, haze);
  // Below the horizon the sky darkens into a sea of mist.
  color = mix(color, frame.fog_color.rgb * 0.55 + frame.sky_zenith.rgb * 0.35, clamp(-height * 2.6, 0.0, 1.0));
  float toward = max(dot(direction, frame.light_direction.xyz), 0.0);
  float t2 = toward * toward;
  float t8 = t2 * t2 * t2 * t2;
  return color + frame.light_color.rgb * (0.10 * t8 + 0.16 * t8 * t8 * t8);
}
