// SPDX-License-Identifier: Apache-2.0
// The host's shaders as SPIR-V words, linked into the program: it runs from any folder.
#pragma once

#include <cstdint>
#include <span>

namespace ifr::host {

enum class Shader {
  kSceneVertex,
  kSceneFragment,
  kShadowVertex,
  kSkyVertex,
  kSkyFragment,
  kGlowVertex,
  kGlowFragment,
  kDiscVertex,
  kDiscFragment,
  kStarVertex
};

/// Valid for the life of the program. Any thread.
[[nodiscard]] std::span<const uint32_t> shader_code(Shader shader);

}  // namespace ifr::host
