#version 460
// SPDX-License-Identifier: Apache-2.0
// A coarse grid over the whole screen, at the far plane. The sky is smooth: its colour at the grid's corners is enough,
// and a fragment has next to nothing to do.
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) out vec3 out_color;  // display space

void main() {
  const ivec2 corners[6] = ivec2[](ivec2(0, 0), ivec2(1, 0), ivec2(1, 1), ivec2(0, 0), ivec2(1, 1), ivec2(0, 1));
  int cell = gl_VertexIndex / 6;
  ivec2 corner = ivec2(cell % kSkyColumns, cell / kSkyColumns) + corners[gl_VertexIndex % 6];
  vec2 position = 2.0 * vec2(corner) / vec2(kSkyColumns, kSkyRows) - 1.0;
  gl_Position = vec4(position, 1.0, 1.0);
  vec4 far = frame.inverse_view_projection * vec4(position, 1.0, 1.0);
  out_color = tonemap(sky_color(normalize(far.xyz / far.w - frame.camera_position.xyz)));
}
