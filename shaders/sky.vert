#version 460
// SPDX-License-Identifier: Apache-2.0
// One triangle over the whole screen, at the far plane.
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) out vec3 out_direction;  // from the eye, not normalised

void main() {
  vec2 corner = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0;
  gl_Position = vec4(corner, 1.0, 1.0);
  vec4 far = frame.inverse_view_projection * vec4(corner, 1.0, 1.0);
  out_direction = far.xyz / far.w - frame.camera_position.xyz;
}
