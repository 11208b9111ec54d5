// SPDX-License-Identifier: Apache-2.0
#include "panels/layout.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "interframe_overlay/overlay.h"

namespace ifr::overlay {
namespace {

// Unscaled pixels.
constexpr float kMargin = 12.0F;
constexpr float kGap = 8.0F;
constexpr float kColumnWidth = 430.0F;
constexpr float kWideColumnWidth = 560.0F;
constexpr float kGenerationHeight = 244.0F;
constexpr float kOperatorsHeight = 170.0F;
constexpr float kSelectionHeight = 270.0F;
constexpr float kSelectionLineHeight = 60.0F;

struct Wish {
  bool shown;
  float height;  // pixels at least
  float growth;  // share of what is left over
};

}  // namespace

PanelLayout plan_layout(const LayoutRequest& request) {
  const float scale = request.scale;
  const float width = std::max(request.display_width, 1.0F);
  const float height = std::max(request.display_height, 1.0F);
  const float margin_x = std::min(kMargin * scale, width * 0.05F);
  const float margin_y = std::min(kMargin * scale, height * 0.05F);

  // A large display gives the column more, once the host's left and a free middle have theirs.
  float column = std::clamp(width * 0.29F, kColumnWidth * scale, kWideColumnWidth * scale);
  column = std::max(std::min(column, width - 2.0F * margin_x), 1.0F);

  const bool map = request.selection_has_map;
  const std::array<Wish, 3> wishes = {{
      {request.show_generation, kGenerationHeight * scale, map ? 0.15F : 0.4F},
      {request.show_operators, kOperatorsHeight * scale, map ? 0.30F : 0.6F},
      {request.show_selection, (map ? kSelectionHeight : kSelectionLineHeight) * scale,
       map ? 0.55F : 0.0F},
  }};
  float wanted = 0.0F;
  float growth = 0.0F;
  int num_shown = 0;
  for (const Wish& wish : wishes) {
    if (wish.shown) {
      wanted += wish.height;
      growth += wish.growth;
      ++num_shown;
    }
  }
  const float gap = std::min(kGap * scale, height * 0.02F);
  const float gaps = gap * static_cast<float>(std::max(num_shown - 1, 0));
  const float available = std::max(height - 2.0F * margin_y - gaps, 1.0F);
  const float shrink = wanted > available ? available / wanted : 1.0F;
  const float left_over = std::max(available - wanted, 0.0F);

  std::array<PanelRect, 3> rects{};
  float y = margin_y;
  for (size_t i = 0; i < wishes.size(); ++i) {
    if (!wishes[i].shown) {
      continue;
    }
    float panel_height = wishes[i].height * shrink;
    if (growth > 0.0F) {
      panel_height += left_over * wishes[i].growth / growth;
    }
    rects[i] = {width - margin_x - column, y, column, std::max(panel_height, 1.0F)};
    y += rects[i].height + gap;
  }
  return {rects[0], rects[1], rects[2]};
}

}  // namespace ifr::overlay
