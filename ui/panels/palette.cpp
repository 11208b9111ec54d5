// SPDX-License-Identifier: Apache-2.0
#include "panels/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ifr::overlay {
namespace {

struct Rgb {
  uint8_t r, g, b;
};

// Nine anchors each, made in OKLab: lightness 0.42 to 0.93 (grey: 0.97) in equal steps, hue 310 to
// 100 degrees (viridian), blue over grey to yellow along one axis (civic), no chroma (grey).
constexpr std::array<std::array<Rgb, 9>, 3> kAnchors = {{
    {{{102, 45, 136},
      {87, 77, 175},
      {49, 111, 198},
      {9, 143, 191},
      {10, 170, 184},
      {11, 197, 172},
      {104, 218, 142},
      {186, 229, 114},
      {255, 234, 109}}},
    {{{53, 73, 131},
      {76, 94, 135},
      {100, 113, 137},
      {126, 132, 138},
      {153, 152, 137},
      {180, 171, 135},
      {208, 190, 131},
      {236, 209, 123},
      {255, 231, 158}}},
    {{{77, 77, 77},
      {96, 96, 96},
      {116, 116, 116},
      {136, 136, 136},
      {157, 157, 157},
      {178, 178, 178},
      {200, 200, 200},
      {222, 222, 222},
      {245, 245, 245}}},
}};

ImU32 blend(uint8_t from, uint8_t to, float t) {
  const auto low = static_cast<float>(from);
  return static_cast<ImU32>(std::lround(low + (static_cast<float>(to) - low) * t));
}

}  // namespace

ImU32 palette_color(Palette palette, float t) {
  const auto index = static_cast<size_t>(palette);
  const auto& anchors = kAnchors[index < kAnchors.size() ? index : 0];
  const float position =
      (t > 0.0F ? std::min(t, 1.0F) : 0.0F) * static_cast<float>(anchors.size() - 1);
  const size_t low = std::min(static_cast<size_t>(position), anchors.size() - 2);
  const float part = position - static_cast<float>(low);
  const Rgb& from = anchors[low];
  const Rgb& to = anchors[low + 1];
  return IM_COL32(blend(from.r, to.r, part), blend(from.g, to.g, part), blend(from.b, to.b, part),
                  255);
}

const char* palette_name(Palette palette) {
  switch (palette) {
    case Palette::kViridian:
      return "viridian";
    case Palette::kCivic:
      return "civic";
    case Palette::kGrey:
      return "grey";
  }
  return "viridian";
}

}  // namespace ifr::overlay
