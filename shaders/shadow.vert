#version 460
// SPDX-License-Identifier: Apache-2.0
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec4 in_row0;
layout(location = 2) in vec4 in_row1;
layout(location = 3) in vec4 in_row2;

void main() {
  vec4 local = vec4(in_position, 1.0);
  vec3 world = vec3(dot(in_row0, local), dot(in_row1, local), dot(in_row2, local));
  gl_Position = frame.shadow_matrix * vec4(world, 1.0);
}
