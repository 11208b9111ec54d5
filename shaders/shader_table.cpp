// SPDX-License-Identifier: Apache-2.0
#include "shared/shader_table.h"

namespace ifr::host {
namespace {
#include "disc_frag.h"
#include "disc_vert.h"
#include "glow_frag.h"
#include "glow_vert.h"
#include "scene_frag.h"
#include "scene_vert.h"
#include "shadow_vert.h"
#include "sky_frag.h"
#include "sky_vert.h"
#include "star_vert.h"
}  // namespace

std::span<const uint32_t> shader_code(Shader shader) {
  switch (shader) {
    case Shader::kSceneVertex:
      return kSceneVert;
    case Shader::kSceneFragment:
      return kSceneFrag;
    case Shader::kShadowVertex:
      return kShadowVert;
    case Shader::kSkyVertex:
      return kSkyVert;
    case Shader::kSkyFragment:
      return kSkyFrag;
    case Shader::kGlowVertex:
      return kGlowVert;
    case Shader::kGlowFragment:
      return kGlowFrag;
    case Shader::kDiscVertex:
      return kDiscVert;
    case Shader::kDiscFragment:
      return kDiscFrag;
    case Shader::kStarVertex:
      return kStarVert;
  }
  return {};
}

}  // namespace ifr::host
