#version 460
// SPDX-License-Identifier: Apache-2.0
// Lit per vertex: meshes are flat shaded, so a fragment needs only shadow, lamp light and fog.
#extension GL_GOOGLE_include_directive : require
#include "scene_common.glsl"

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec4 in_normal;
layout(location = 2) in vec4 in_color;  // a: material / 255
layout(location = 3) in vec4 in_row0;
layout(location = 4) in vec4 in_row1;
layout(location = 5) in vec4 in_row2;
layout(location = 6) in vec4 in_tint;

// flat: a face has the colour of its first corner, so corners can be shared by faces of other colours and normals.
layout(location = 0) flat out vec3 out_ambient;
layout(location = 1) flat out vec3 out_direct;
layout(location = 2) flat out vec4 out_lamp;    // rgb: albedo times lamp reach; a: weight of baked occlusion
layout(location = 3) out vec3 out_shadow;  // xy: texture coordinates, z: depth
layout(location = 4) out vec3 out_map;     // xy: light map coordinates, z: fog

void main() {
  vec4 local = vec4(in_position, 1.0);
  vec3 world = vec3(dot(in_row0, local), dot(in_row1, local), dot(in_row2, local));
  vec3 normal = vec3(dot(in_row0.xyz, in_normal.xyz), dot(in_row1.xyz, in_normal.xyz), dot(in_row2.xyz, in_normal.xyz));
  normal = normalize(normal);
  int material = int(in_color.a * 255.0 + 0.5);
  float time = frame.camera_position.w;
  float night = frame.light_direction.w;
  vec3 albedo = in_color.rgb * in_color.rgb;
  if (material != kMaterialFixed && material != kMaterialWindow && material != kMaterialLamp) {
    albedo *= in_tint.rgb;
  }
  vec3 emission = vec3(0.0);
  vec3 view = normalize(frame.camera_position.xyz - world);
  float direct_weight = 1.0;

  if (material == kMaterialFoliage) {
    float sway = sin(time * 1.3 + in_tint.w + world.x * 0.35) * 0.045 * in_position.y;
    world.x += sway;
    world.z += 0.6 * sway;
  } else if (material == kMaterialWindow) {
    float lit = step(0.25, fract(in_tint.w * 7.31));
    emission = lit * frame.lamp_color.w * vec3(1.9, 1.05, 0.42) * (0.94 + 0.06 * sin(time * 5.0 + in_tint.w * 9.0));
  } else if (material == kMaterialLamp) {
    emission = albedo * mix(0.55, 2.6, frame.lamp_color.w);
  } else if (material == kMaterialWater) {
    float ripple = sin(world.x * 1.7 + time * 1.1) + sin(world.z * 2.3 - time * 1.4) + sin((world.x + world.z) * 3.1 + time * 2.0);
    normal = normalize(vec3(0.05 * cos(world.x * 1.7 + time * 1.1), 1.0, 0.05 * cos(world.z * 2.3 - time * 1.4)));
    float facing = 1.0 - max(dot(normal, view), 0.0);
    float fresnel = 0.06 + 0.6 * facing * facing * facing;
    vec3 mirrored = reflect(-view, normal);
    emission = sky_color(mirrored) * fresnel + frame.light_color.rgb * 0.06 * max(ripple - 1.4, 0.0);
    direct_weight = 0.6;
  } else if (material == kMaterialFall) {
    float streak = 0.5 + 0.5 * sin(in_position.y * 0.8 + time * 4.0 + fract(in_position.x * 3.7) * 6.0);
    albedo = mix(albedo, vec3(0.85), 0.3 * streak * streak);
  }

  float lambert = max(dot(normal, frame.light_direction.xyz), 0.0);
  if (material == kMaterialCloud) {
    lambert = 0.35 + 0.65 * max(0.5 * dot(normal, frame.light_direction.xyz) + 0.5, 0.0);
  } else if (material == kMaterialFoliage) {
    // Leaves pass some light on: no face is quite dark.
    lambert = max(lambert, 0.25 * dot(normal, frame.light_direction.xyz) + 0.25);
  }
  vec3 ambient = mix(frame.ambient_ground.rgb, frame.ambient_sky.rgb, 0.5 * normal.y + 0.5);
  // A cool rim from the sky on what turns away from the camera.
  float rim = 1.0 - max(dot(normal, view), 0.0);
  ambient += frame.ambient_sky.rgb * (0.22 * rim * rim * rim);

  float distance_to_eye = length(frame.camera_position.xyz - world);
  float fog = 1.0 - exp(-frame.fog_color.w * max(distance_to_eye - frame.ambient_sky.w, 0.0));
  // Mist gathers under the island.
  fog = clamp(fog + 0.035 * max(-world.y - 7.0, 0.0), 0.0, 0.94);
  if (material == kMaterialCloud) {
    fog = clamp(fog * 0.75, 0.0, 0.85);
  }

  out_ambient = albedo * ambient + emission;
  out_direct = albedo * frame.light_color.rgb * (lambert * direct_weight);
  float reach = clamp(1.0 - (world.y - 0.6) * 0.16, 0.0, 1.0) * (material == kMaterialRock ? 0.0 : 1.0);
  float facing_lamp = 0.65 + 0.35 * abs(normal.y);
  out_lamp = vec4(albedo * (frame.lamp_color.rgb * (reach * facing_lamp)), material == kMaterialGround ? 1.0 : 0.0);
  vec4 shadow = frame.shadow_matrix * vec4(world + normal * 0.06, 1.0);
  out_shadow = vec3(shadow.xy * 0.5 + 0.5, material == kMaterialCloud ? -1.0 : shadow.z);
  out_map = vec3(world.xz / (2.0 * kLightMapHalfExtent) + 0.5, fog);
  gl_Position = frame.view_projection * vec4(world, 1.0);
}
