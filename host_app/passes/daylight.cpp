// SPDX-License-Identifier: Apache-2.0
#include "passes/daylight.h"

#ifndef GLM_FORCE_DEPTH_ZERO_TO_ONE
#error "the project defines GLM_FORCE_DEPTH_ZERO_TO_ONE: Vulkan's depth goes from 0 to 1"
#endif

#include <algorithm>
#include <cmath>
#include <glm/ext/matrix_clip_space.hpp>
#include <glm/ext/matrix_transform.hpp>
#include <glm/geometric.hpp>
#include <glm/matrix.hpp>
#include <iterator>
#include <numbers>

namespace ifr::host {
namespace {

using glm::vec3;
using glm::vec4;
constexpr float kPi = std::numbers::pi_v<float>;

struct SkyKey {
  float hour;
  vec3 zenith;
  vec3 horizon;
  vec3 light;
  vec3 ambient_sky;
  vec3 ambient_ground;
  vec3 fog;
  float lamps;
  float stars;
};

// Linear colours. The first key repeats as the last, a day later.
constexpr SkyKey kSkyKeys[] = {
    {0.0f,
     {0.010f, 0.018f, 0.055f},
     {0.035f, 0.060f, 0.130f},
     {0.16f, 0.22f, 0.38f},
     {0.060f, 0.080f, 0.150f},
     {0.030f, 0.035f, 0.060f},
     {0.030f, 0.050f, 0.110f},
     1.0f,
     1.0f},
    {4.8f,
     {0.014f, 0.024f, 0.070f},
     {0.070f, 0.075f, 0.150f},
     {0.10f, 0.13f, 0.24f},
     {0.070f, 0.085f, 0.150f},
     {0.035f, 0.038f, 0.062f},
     {0.050f, 0.062f, 0.125f},
     1.0f,
     0.8f},
    {5.9f,
     {0.080f, 0.130f, 0.280f},
     {0.750f, 0.420f, 0.330f},
     {0.02f, 0.01f, 0.01f},
     {0.190f, 0.190f, 0.270f},
     {0.110f, 0.090f, 0.100f},
     {0.420f, 0.300f, 0.330f},
     0.8f,
     0.1f},
    {7.2f,
     {0.140f, 0.270f, 0.520f},
     {0.880f, 0.640f, 0.460f},
     {1.45f, 0.88f, 0.52f},
     {0.300f, 0.340f, 0.430f},
     {0.190f, 0.170f, 0.150f},
     {0.600f, 0.520f, 0.480f},
     0.1f,
     0.0f},
    {10.0f,
     {0.070f, 0.230f, 0.620f},
     {0.360f, 0.560f, 0.760f},
     {1.45f, 1.25f, 0.98f},
     {0.240f, 0.310f, 0.430f},
     {0.170f, 0.160f, 0.130f},
     {0.330f, 0.480f, 0.660f},
     0.0f,
     0.0f},
    {14.5f,
     {0.070f, 0.230f, 0.620f},
     {0.380f, 0.560f, 0.740f},
     {1.50f, 1.25f, 0.94f},
     {0.240f, 0.310f, 0.430f},
     {0.170f, 0.160f, 0.130f},
     {0.350f, 0.480f, 0.640f},
     0.0f,
     0.0f},
    {16.9f,
     {0.120f, 0.230f, 0.500f},
     {0.880f, 0.480f, 0.220f},
     {2.10f, 1.12f, 0.50f},
     {0.270f, 0.290f, 0.420f},
     {0.200f, 0.150f, 0.145f},
     {0.560f, 0.400f, 0.380f},
     0.25f,
     0.0f},
    {17.7f,
     {0.060f, 0.095f, 0.300f},
     {0.850f, 0.270f, 0.130f},
     {1.85f, 0.66f, 0.26f},
     {0.195f, 0.190f, 0.350f},
     {0.140f, 0.095f, 0.125f},
     {0.380f, 0.200f, 0.260f},
     0.85f,
     0.05f},
    {18.5f,
     {0.045f, 0.062f, 0.190f},
     {0.560f, 0.230f, 0.260f},
     {0.02f, 0.01f, 0.01f},
     {0.135f, 0.135f, 0.260f},
     {0.080f, 0.062f, 0.090f},
     {0.230f, 0.140f, 0.230f},
     1.0f,
     0.4f},
    {19.8f,
     {0.014f, 0.024f, 0.075f},
     {0.075f, 0.085f, 0.180f},
     {0.12f, 0.16f, 0.30f},
     {0.075f, 0.090f, 0.170f},
     {0.038f, 0.040f, 0.070f},
     {0.050f, 0.066f, 0.145f},
     1.0f,
     0.9f},
    {24.0f,
     {0.010f, 0.018f, 0.055f},
     {0.035f, 0.060f, 0.130f},
     {0.16f, 0.22f, 0.38f},
     {0.060f, 0.080f, 0.150f},
     {0.030f, 0.035f, 0.060f},
     {0.030f, 0.050f, 0.110f},
     1.0f,
     1.0f},
};

SkyKey sky_at(float hour) {
  size_t next = 1;
  while (next + 1 < std::size(kSkyKeys) && kSkyKeys[next].hour < hour) {
    ++next;
  }
  const SkyKey& a = kSkyKeys[next - 1];
  const SkyKey& b = kSkyKeys[next];
  const float t = std::clamp((hour - a.hour) / (b.hour - a.hour), 0.0f, 1.0f);
  return {hour,
          glm::mix(a.zenith, b.zenith, t),
          glm::mix(a.horizon, b.horizon, t),
          glm::mix(a.light, b.light, t),
          glm::mix(a.ambient_sky, b.ambient_sky, t),
          glm::mix(a.ambient_ground, b.ambient_ground, t),
          glm::mix(a.fog, b.fog, t),
          std::lerp(a.lamps, b.lamps, t),
          std::lerp(a.stars, b.stars, t)};
}

/// Towards the sun by day, towards the moon by night; both are dark when they change over.
vec3 light_direction(float hour) {
  const bool is_day = hour >= 5.9f && hour < 18.5f;
  const float along =
      is_day ? (hour - 5.9f) / 12.6f : std::fmod(hour - 18.5f + 24.0f, 24.0f) / 11.4f;
  const float angle = kPi * (0.035f + 0.93f * along);
  const float height = is_day ? 0.92f : 0.75f;
  return glm::normalize(
      vec3(std::cos(angle) * 0.95f, std::sin(angle) * height, is_day ? 0.42f : -0.6f));
}

glm::mat4 shadow_matrix(vec3 toward_light) {
  // A sphere that holds all that casts a shadow on the island.
  constexpr float kRadius = 23.0f;
  const glm::mat4 view = glm::lookAt(toward_light * 40.0f, vec3(0.0f), vec3(0, 1, 0));
  return glm::ortho(-kRadius, kRadius, -kRadius, kRadius, 10.0f, 66.0f) * view;
}

}  // namespace

double hour_of_day(double start_hour, double time_s, double day_length_s) {
  const double hour = std::fmod(start_hour + 24.0 * time_s / day_length_s, 24.0);
  return hour < 0.0 ? hour + 24.0 : hour;
}

shared::FrameUniforms frame_uniforms(const SceneTime& time) {
  const auto t = static_cast<float>(time.time_s);
  const auto hour = static_cast<float>(time.hour);
  const float orbit = 0.62f + 0.045f * t;
  const float radius = 43.0f + 2.0f * std::sin(0.05f * t);
  const vec3 eye{radius * std::cos(orbit), 12.5f + 1.5f * std::sin(0.07f * t),
                 radius * std::sin(orbit)};
  // The island moves to the middle of what the panels leave free, and away until it fits.
  const float free_share = std::clamp(time.free_width_share, 0.35f, 1.0f);
  const vec3 pulled_eye = eye * std::pow(free_share, -0.7f);
  const glm::mat4 view = glm::lookAt(pulled_eye, vec3(0.0f, 0.6f, 0.0f), vec3(0, 1, 0));
  glm::mat4 projection =
      glm::perspective(2.0f * std::atan(1.0f / shared::kFocalLength), time.aspect, 1.0f, 220.0f);
  projection[1][1] *= -1.0f;  // Vulkan's y goes down
  projection[2][0] = 1.0f - free_share;
  projection[2][1] = 0.14f;  // up, as the chat stands at the bottom

  const SkyKey sky = sky_at(hour);
  const vec3 toward_light = light_direction(hour);
  const float night = std::clamp((sky.lamps - 0.2f) / 0.8f, 0.0f, 1.0f);
  shared::FrameUniforms out{};
  out.view_projection = projection * view;
  out.inverse_view_projection = glm::inverse(out.view_projection);
  out.shadow_matrix = shadow_matrix(toward_light);
  out.camera_position = vec4(pulled_eye, t);
  out.light_direction = vec4(toward_light, night);
  out.light_color = vec4(sky.light, 0.75f);
  out.ambient_sky = vec4(sky.ambient_sky, glm::length(pulled_eye) - 4.0f);
  out.ambient_ground = vec4(sky.ambient_ground, 0.0f);
  out.fog_color = vec4(sky.fog, 0.0085f);
  out.sky_zenith = vec4(sky.zenith, sky.stars);
  out.sky_horizon = vec4(sky.horizon, time.aspect);
  out.lamp_color = vec4(vec3(1.55f, 1.35f, 1.2f) * sky.lamps, sky.lamps);
  return out;
}

ScreenPoint project(const shared::FrameUniforms& uniforms, vec3 world) {
  const vec4 clip = uniforms.view_projection * vec4(world, 1.0f);
  if (clip.w <= 0.0f) {
    return {};
  }
  const float x = clip.x / clip.w * 0.5f + 0.5f;
  const float y = clip.y / clip.w * 0.5f + 0.5f;
  return {x, y, x >= 0.0f && x <= 1.0f && y >= 0.0f && y <= 1.0f};
}

}  // namespace ifr::host
