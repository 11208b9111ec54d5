#version 460
// SPDX-License-Identifier: Apache-2.0
layout(location = 0) in vec2 in_corner;
layout(location = 1) in vec3 in_light;
layout(location = 0) out vec4 out_color;

void main() {
  float radius = dot(in_corner, in_corner);
  float disc = 1.0 - smoothstep(0.10, 0.14, radius);
  float halo = max(0.0, 1.0 - radius);
  out_color = vec4(in_light * (disc + 0.16 * halo * halo * halo), 0.0);
}
