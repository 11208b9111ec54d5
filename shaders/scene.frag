#version 460
// SPDX-License-Identifier: Apache-2.0
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(set = 0, binding = 1) uniform sampler2DShadow shadow_map;
layout(set = 0, binding = 2) uniform sampler2D light_map;  // rgb: light of all lamps at the ground; a: sky visibility

layout(location = 0) flat in vec3 in_ambient;
layout(location = 1) flat in vec3 in_direct;
layout(location = 2) flat in vec4 in_lamp;
layout(location = 3) in vec3 in_shadow;
layout(location = 4) in vec3 in_map;

layout(location = 0) out vec4 out_color;

void main() {
  float lit = texture(shadow_map, in_shadow);
  vec4 baked = texture(light_map, in_map.xy);
  float occlusion = mix(1.0, baked.a, in_lamp.a);
  vec3 color = in_ambient * occlusion + in_direct * (lit * mix(1.0, occlusion, 0.4)) + in_lamp.rgb * baked.rgb;
  color = mix(color, frame.fog_color.rgb, in_map.z);
  out_color = vec4(tonemap(color), 1.0);
}
