// SPDX-License-Identifier: Apache-2.0
// Sun, moon, sky and camera for a time: pure functions.
#pragma once

#include <glm/vec3.hpp>

#include "shared/scene_shared.h"

namespace ifr::host {

struct SceneTime {
  double time_s = 0.0;  // since the start, drives animation and camera
  double hour = 17.3;   // of the day, 0 <= hour < 24
  float aspect = 16.0f / 9.0f;
  float free_width_share = 1.0f;  // of the picture's width, from the left: what panels do not cover
};

/// Hour of the day after `time_s`, for a day that takes `day_length_s` and starts at `start_hour`.
[[nodiscard]] double hour_of_day(double start_hour, double time_s, double day_length_s);

/// Everything the shaders need for one frame.
[[nodiscard]] shared::FrameUniforms frame_uniforms(const SceneTime& time);

struct ScreenPoint {
  float x = 0.0f;  // 0..1 from the left
  float y = 0.0f;  // 0..1 from the top
  bool visible = false;
};
[[nodiscard]] ScreenPoint project(const shared::FrameUniforms& uniforms, glm::vec3 world);

}  // namespace ifr::host
