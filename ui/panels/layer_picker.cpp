// SPDX-License-Identifier: Apache-2.0
#include "panels/layer_picker.h"

#include <algorithm>
#include <cmath>

#include "panels/format.h"
#include "panels/map_drawing.h"
#include "panels/palette.h"
#include "panels/selection_map.h"
#include "panels/widgets.h"

namespace ifr::overlay {
namespace {

constexpr float kHeight = 26.0F;      // unscaled pixels
constexpr float kLeastWidth = 62.0F;  // unscaled pixels
constexpr int32_t kMaxLines = 2;

void draw_label(const MapFrame& frame, int32_t layer, ImU32 color) {
  const bool narrow = frame.width < scaled(90.0F);
  const ShortText name = narrow ? format_text("L%d", layer) : format_text("layer %d", layer);
  const ImVec2 size = ImGui::CalcTextSize(name.c_str());
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImVec2 corner(frame.origin.x + size.x + scaled(6.0F), frame.origin.y + size.y + 2.0F);
  list->AddRectFilled(frame.origin, corner, IM_COL32(8, 10, 14, 238), scaled(3.0F),
                      ImDrawFlags_RoundCornersBottomRight);
  list->AddText(ImVec2(frame.origin.x + scaled(3.0F), frame.origin.y + 1.0F), color, name.c_str());
}

void draw_thumbnail(const SelectionRing& ring, ImVec2 size, int32_t index, OverlayState& state) {
  const ImVec2 cursor = ImGui::GetCursorScreenPos();
  ImGui::PushID(index);
  if (ImGui::InvisibleButton("layer", size, ImGuiButtonFlags_EnableNav)) {
    state.layer_choice = index;
  }
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  ImGui::PopID();
  const MapFrame frame{ImVec2(std::floor(cursor.x), std::floor(cursor.y)), size.x, size.y};
  const MapGrid grid = plan_grid({.width = size.x,
                                  .height = size.y,
                                  .num_rows = ring.num_rows(),
                                  .num_blocks = num_blocks_of(ring, kLeastMapBlocks),
                                  .min_cell = 2.0F,
                                  .max_cell_height = size.y,
                                  .bin_rows = true});
  MapPicture& picture = state.thumbnails[static_cast<size_t>(index)];
  update_picture(ring, grid, state.map_color, state.palette, picture);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  draw_picture(picture, frame, *list);
  const bool chosen = index == state.layer_choice;
  draw_label(frame, ring.layer(), chosen ? theme::kText : theme::kTextDim);
  const ImU32 border = chosen ? theme::kAccent : (hovered ? theme::kTextDim : theme::kTrack);
  list->AddRect(frame.origin, ImVec2(frame.origin.x + size.x, frame.origin.y + size.y), border,
                scaled(2.0F), 0, chosen ? scaled(1.5F) : 1.0F);
}

}  // namespace

void draw_layer_picker(const Snapshot& snapshot, OverlayState& state) {
  const auto num_layers = static_cast<int32_t>(snapshot.layers.size());
  const float gap = scaled(5.0F);
  const float room = ImGui::GetContentRegionAvail().x;
  const auto fit = static_cast<int32_t>((room + gap) / (scaled(kLeastWidth) + gap));
  const int32_t per_line = std::clamp(fit, 1, num_layers);
  const int32_t most = per_line * kMaxLines;
  const ImVec2 size(std::max(std::floor((room + gap) / static_cast<float>(per_line) - gap), 1.0F),
                    std::floor(scaled(kHeight)));
  state.thumbnails.resize(snapshot.layers.size());
  // With more layers than there is room for, those around the chosen one.
  const int32_t begin =
      std::clamp(state.layer_choice - most / 2, 0, std::max(num_layers - most, 0));
  const int32_t end = std::min(begin + most, num_layers);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gap, gap));
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 0.78F);
  for (int32_t i = begin; i < end; ++i) {
    draw_thumbnail(snapshot.layers[static_cast<size_t>(i)], size, i, state);
    if ((i - begin + 1) % per_line != 0 && i + 1 < end) {
      ImGui::SameLine(0.0F, gap);
    }
  }
  ImGui::PopFont();
  ImGui::PopStyleVar();
}

}  // namespace ifr::overlay
