#version 460
// SPDX-License-Identifier: Apache-2.0
layout(location = 0) in vec2 in_corner;
layout(location = 1) in vec3 in_light;
layout(location = 0) out vec4 out_color;

void main() {
  float falloff = max(0.0, 1.0 - dot(in_corner, in_corner));
  out_color = vec4(in_light * (falloff * falloff * falloff), 0.0);
}
