// SPDX-License-Identifier: Apache-2.0
// Top-k selection: which blocks of the context each query reads, layer by layer.
#include <algorithm>
#include <cmath>

#include "interframe_overlay/overlay.h"
#include "panels/format.h"
#include "panels/map_drawing.h"
#include "panels/palette.h"
#include "panels/selection_map.h"
#include "panels/widgets.h"

namespace ifr::overlay {
namespace {

constexpr int32_t kLeastBlocks = 8;        // a young context is not stretched over the whole width
constexpr float kThumbnailHeight = 26.0F;  // unscaled pixels
constexpr float kThumbnailWidth = 62.0F;   // at least
constexpr int32_t kMaxThumbnailLines = 2;

int32_t block_tokens_of(const Snapshot& snapshot) {
  return std::max(snapshot.model.selection_block_tokens, 1);
}

/// One small map a layer; a click or the keyboard picks the layer.
void draw_layer_picker(const Snapshot& snapshot, OverlayState& state) {
  const auto num_layers = static_cast<int32_t>(snapshot.layers.size());
  const float gap = scaled(5.0F);
  const float room = ImGui::GetContentRegionAvail().x;
  const auto fit = static_cast<int32_t>((room + gap) / (scaled(kThumbnailWidth) + gap));
  const int32_t per_line = std::clamp(fit, 1, num_layers);
  const int32_t most = per_line * kMaxThumbnailLines;
  const float width = std::max(std::floor((room + gap) / static_cast<float>(per_line) - gap), 1.0F);
  state.thumbnails.resize(snapshot.layers.size());
  // With more layers than there is room for, those around the chosen one.
  const int32_t begin =
      std::clamp(state.layer_choice - most / 2, 0, std::max(num_layers - most, 0));
  const int32_t end = std::min(begin + most, num_layers);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gap, gap));
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 0.78F);
  for (int32_t i = begin; i < end; ++i) {
    const SelectionRing& ring = snapshot.layers[static_cast<size_t>(i)];
    MapPicture& picture = state.thumbnails[static_cast<size_t>(i)];
    const float height = std::floor(scaled(kThumbnailHeight));
    ImGui::PushID(i);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("layer", ImVec2(width, height), ImGuiButtonFlags_EnableNav)) {
      state.layer_choice = i;
    }
    const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    ImGui::PopID();
    const MapFrame frame{ImVec2(std::floor(origin.x), std::floor(origin.y)), width, height};
    const MapGrid grid = plan_grid({.width = width,
                                    .height = height,
                                    .num_rows = ring.num_rows(),
                                    .num_blocks = num_blocks_of(ring, kLeastBlocks),
                                    .min_cell = 2.0F,
                                    .max_cell_height = height,
                                    .bin_rows = true});
    update_picture(ring, grid, state.map_color, state.palette, picture);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    draw_picture(picture, frame, *list);
    const ImVec2 corner(frame.origin.x + width, frame.origin.y + height);
    const bool chosen = i == state.layer_choice;
    const ImU32 border = chosen ? theme::kAccent : (hovered ? theme::kTextDim : theme::kTrack);
    list->AddRect(frame.origin, corner, border, scaled(2.0F), 0, chosen ? scaled(1.5F) : 1.0F);
    const ShortText name = format_text("layer %d", ring.layer());
    const ImVec2 size = ImGui::CalcTextSize(name.c_str());
    list->AddRectFilled(
        frame.origin,
        ImVec2(frame.origin.x + size.x + scaled(6.0F), frame.origin.y + size.y + 1.0F),
        IM_COL32(8, 10, 14, 190), scaled(2.0F));
    list->AddText(ImVec2(frame.origin.x + scaled(3.0F), frame.origin.y),
                  chosen ? theme::kText : theme::kTextDim, name.c_str());
    if ((i - begin + 1) % per_line != 0 && i + 1 < end) {
      ImGui::SameLine(0.0F, gap);
    }
  }
  ImGui::PopFont();
  ImGui::PopStyleVar();
}

void draw_controls(const SelectionRing& ring, const MapGrid& grid, OverlayState& state) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const auto choice = [&](const char* name, MapColor color) {
    const bool on = state.map_color == color;
    if (on) {
      ImGui::PushStyleColor(ImGuiCol_Button, style.Colors[ImGuiCol_HeaderActive]);
    }
    if (ImGui::SmallButton(name)) {
      state.map_color = color;
    }
    if (on) {
      ImGui::PopStyleColor();
    }
    ImGui::SameLine(0.0F, scaled(3.0F));
  };
  choice("rank", MapColor::kRank);
  choice("score", MapColor::kScore);
  const ShortText palette = format_text("%s###palette", palette_name(state.palette));
  if (ImGui::SmallButton(palette.c_str())) {
    state.palette = static_cast<Palette>((static_cast<int32_t>(state.palette) + 1) % 3);
  }
  ImGui::SetItemTooltip("Colours of the map. All can be told apart with any colour vision.");
  if (state.rows_back > 0) {
    ImGui::SameLine(0.0F, scaled(3.0F));
    if (ImGui::SmallButton("newest")) {
      state.rows_back = 0;
    }
    ImGui::SetItemTooltip("Follow the newest query again");
  }
  if (grid.rows > 0) {
    const int32_t first = ring.row(grid.first_row).query_position;
    const int32_t last = ring.row(grid.first_row + grid.num_rows - 1).query_position;
    ImGui::SameLine();
    text_right(format_text("queries %d to %d", first, last).c_str(), theme::kTextDim);
  }
}

void draw_legend(const MapPicture& picture) {
  const bool by_score = picture.color == MapColor::kScore;
  const ShortText low = by_score ? format_number(static_cast<double>(picture.low))
                                 : format_text("%d", static_cast<int>(1.0F - picture.low));
  const ShortText high =
      by_score ? format_number(static_cast<double>(picture.high)) : format_text("1, best");
  text_dim(by_score ? "score" : "rank");
  ImGui::SameLine(0.0F, scaled(6.0F));
  text_dim(low.c_str());
  ImGui::SameLine(0.0F, scaled(4.0F));
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float width = scaled(64.0F);
  const float line = ImGui::GetTextLineHeight();
  const float height = std::floor(line * 0.6F);
  const float y = std::floor(begin.y + (line - height) * 0.55F);
  constexpr int kSteps = 16;
  for (int i = 0; i < kSteps; ++i) {
    const float x0 = begin.x + width * static_cast<float>(i) / kSteps;
    const float x1 = begin.x + width * static_cast<float>(i + 1) / kSteps;
    ImGui::GetWindowDrawList()->AddRectFilledMultiColor(
        ImVec2(x0, y), ImVec2(x1, y + height),
        palette_color(picture.palette, static_cast<float>(i) / kSteps),
        palette_color(picture.palette, static_cast<float>(i + 1) / kSteps),
        palette_color(picture.palette, static_cast<float>(i + 1) / kSteps),
        palette_color(picture.palette, static_cast<float>(i) / kSteps));
  }
  ImGui::Dummy(ImVec2(width, line));
  ImGui::SetItemTooltip(
      "Score of a block: relu of query times key over the root of the head width, summed over the "
      "indexer's heads.\n"
      "No unit. Where several blocks share a cell, the best of them is shown.");
  ImGui::SameLine(0.0F, scaled(4.0F));
  text_dim(high.c_str());
  ImGui::SameLine(0.0F, scaled(14.0F));
  draw_key(theme::kMapNotChosen, "not chosen");
  ImGui::SameLine(0.0F, scaled(10.0F));
  draw_key(theme::kMapBack, "not yet there");
}

void text_of_tokens(const char* caption, const TokenText& text, TokenRange wanted) {
  if (text.range != wanted || text.ids.empty()) {
    return;
  }
  if (text.has_text) {
    ImGui::TextWrapped("%s \xE2\x80\x9C%s\xE2\x80\x9D", caption, text.text.c_str());
    return;
  }
  ShortText ids = format_text("%d", text.ids[0]);
  const size_t most = std::min<size_t>(text.ids.size(), 6);
  for (size_t i = 1; i < most; ++i) {
    ids = format_text("%s %d", ShortText(ids).c_str(), text.ids[i]);
  }
  ImGui::TextWrapped("%s token ids %s%s", caption, ids.c_str(),
                     text.ids.size() > most ? " ..." : "");
}

/// What is known of one cell, for tooltip and pinned line alike.
void draw_detail(const Snapshot& snapshot, const CellDetail& detail, const OverlayState& state) {
  const int32_t block_tokens = block_tokens_of(snapshot);
  const int32_t first = detail.block * block_tokens;
  ImGui::Text("query %d, block %d: tokens %d to %d", detail.query_position, detail.block, first,
              first + block_tokens - 1);
  if (detail.rank >= 0) {
    ImGui::PushStyleColor(ImGuiCol_Text, theme::kAccent);
    ImGui::Text("rank %d of %d, score %s", detail.rank + 1, detail.num_chosen,
                format_number(static_cast<double>(detail.score)).c_str());
    ImGui::PopStyleColor();
  } else {
    text_dim(detail.visible ? "not chosen" : "not yet complete for this query");
  }
  text_of_tokens("block", snapshot.block_text, state.wanted_block);
  text_of_tokens("query", snapshot.query_text, state.wanted_query);
}

void want_text(const Snapshot& snapshot, const CellDetail& detail, OverlayState& state) {
  const int32_t block_tokens = block_tokens_of(snapshot);
  state.wanted_block = {detail.block * block_tokens, block_tokens};
  state.wanted_query = {detail.query_position, 1};
}

void draw_highlight(const MapFrame& frame, const MapGrid& grid, int32_t cell_row, int32_t column) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float top = cell_row_y(frame, grid, cell_row);
  const float bottom = top + grid.cell_height;
  const float left = column_x(frame, grid, column);
  const float right = column_x(frame, grid, column + 1);
  list->AddRect(ImVec2(frame.origin.x, top - 1.0F),
                ImVec2(frame.origin.x + frame.width, bottom + 1.0F), IM_COL32(255, 255, 255, 70));
  list->AddRect(ImVec2(left - 1.0F, frame.origin.y),
                ImVec2(right + 1.0F, frame.origin.y + cells_height(frame, grid)),
                IM_COL32(255, 255, 255, 70));
  list->AddRect(ImVec2(left - 2.0F, top - 2.0F), ImVec2(right + 2.0F, bottom + 2.0F),
                theme::kHighlight, 1.0F, 0, scaled(1.5F));
}

void pin(const CellDetail& detail, OverlayState& state) {
  state.pinned = true;
  state.pinned_query = detail.query_position;
  state.pinned_block = detail.block;
}

/// Mouse and keyboard on the map that was just drawn. `pressed`: clicked, or activated by keyboard.
void handle_map_input(const Snapshot& snapshot, const SelectionRing& ring, const MapGrid& grid,
                      const MapFrame& frame, bool pressed, OverlayState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsItemHovered()) {
    if (pressed) {  // by keyboard: the newest query's best block
      const auto newest = static_cast<int32_t>(grid.first_row + grid.num_rows) - 1;
      const auto index = static_cast<uint32_t>(newest);
      const int32_t best = ring.row(index).num_chosen > 0 ? ring.block_idx(index)[0] : 0;
      state.pinned ? state.pinned = false : (pin(detail_of(ring, newest, best), state), true);
    }
    return;
  }
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  if (io.MouseWheel != 0.0F) {
    const auto step = static_cast<float>(std::max(grid.rows / 8, 1));
    const int32_t most = static_cast<int32_t>(ring.num_rows() - grid.num_rows);
    const auto moved = static_cast<int32_t>(std::lround(io.MouseWheel * step));
    state.rows_back = std::clamp(state.rows_back + moved, 0, most);
  }
  const auto cell_row =
      static_cast<int32_t>((io.MousePos.y - frame.origin.y) / std::max(grid.cell_height, 1.0F));
  const float part = (io.MousePos.x - frame.origin.x) / frame.width;
  const float position = std::clamp(part, 0.0F, 1.0F) * static_cast<float>(grid.columns);
  const int32_t column = std::clamp(static_cast<int32_t>(position), 0, grid.columns - 1);
  const CellDetail detail =
      detail_of_cell(ring, grid, cell_row, column, position - std::floor(position));
  if (!detail.valid) {
    return;
  }
  if (pressed) {
    state.pinned ? state.pinned = false : (pin(detail, state), true);
  }
  draw_highlight(frame, grid, cell_row, column);
  want_text(snapshot, detail, state);
  if (ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(scaled(320.0F));
    draw_detail(snapshot, detail, state);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
}

/// The pinned cell: its line of text and two sliders, so that every cell can be reached without a
/// mouse.
void draw_pinned(const Snapshot& snapshot, const SelectionRing& ring, OverlayState& state) {
  const int32_t first = ring.row(0).query_position;
  const int32_t last = ring.row(ring.num_rows() - 1).query_position;
  const int32_t num_blocks = num_blocks_of(ring, kLeastBlocks);
  state.pinned_query = std::clamp(state.pinned_query, first, last);
  state.pinned_block = std::clamp(state.pinned_block, 0, num_blocks - 1);
  const float width = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) * 0.5F;
  ImGui::SetNextItemWidth(std::max(width, 1.0F));
  ImGui::SliderInt("##query", &state.pinned_query, first, last, "query %d");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::max(width, 1.0F));
  ImGui::SliderInt("##block", &state.pinned_block, 0, num_blocks - 1, "block %d");
  const CellDetail detail = detail_of(ring, find_row(ring, state.pinned_query), state.pinned_block);
  if (detail.valid) {
    draw_detail(snapshot, detail, state);
  } else {
    text_dim("this query is not kept any more");
  }
}

void draw_map(const Snapshot& snapshot, const SelectionRing& ring, OverlayState& state) {
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float above = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
  const float pinned = state.pinned ? ImGui::GetFrameHeightWithSpacing() + 4.0F * line : 0.0F;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = std::floor(std::max(room.x, 1.0F));
  const float height = std::floor(std::max(room.y - above - line - pinned, scaled(24.0F)));
  // A view of the past stays where it is while new rows come.
  if (state.rows_back > 0 && ring.revision() > state.seen_revision) {
    const uint64_t added = std::min<uint64_t>(ring.revision() - state.seen_revision, 1U << 20U);
    state.rows_back += static_cast<int32_t>(added);
  }
  state.seen_revision = ring.revision();
  const MapGrid grid = plan_grid({.width = width,
                                  .height = height,
                                  .num_rows = ring.num_rows(),
                                  .num_blocks = num_blocks_of(ring, kLeastBlocks),
                                  .rows_back = state.rows_back,
                                  .min_cell = std::max(std::floor(scaled(2.0F)), 1.0F),
                                  .max_cell_height = std::floor(scaled(14.0F))});
  state.rows_back =
      std::clamp(state.rows_back, 0, static_cast<int32_t>(ring.num_rows() - grid.num_rows));
  draw_controls(ring, grid, state);
  update_picture(ring, grid, state.map_color, state.palette, state.map);
  const ImVec2 cursor = ImGui::GetCursorScreenPos();
  const MapFrame frame{ImVec2(std::floor(cursor.x), std::floor(cursor.y)), width, height};
  const bool pressed =
      ImGui::InvisibleButton("map", ImVec2(width, height), ImGuiButtonFlags_EnableNav);
  draw_picture(state.map, frame, *ImGui::GetWindowDrawList());
  state.wanted_block = {};
  state.wanted_query = {};
  if (state.pinned) {
    const int32_t row = find_row(ring, state.pinned_query);
    const CellDetail detail = detail_of(ring, row, state.pinned_block);
    if (detail.valid) {
      want_text(snapshot, detail, state);
      const auto first = static_cast<int32_t>(grid.first_row);
      if (row >= first && row < first + static_cast<int32_t>(grid.num_rows) &&
          detail.block < grid.num_blocks) {
        draw_highlight(frame, grid, cell_row_of_row(grid, row),
                       column_of_block(grid, detail.block));
      }
    }
  }
  if (grid.rows > 0) {
    handle_map_input(snapshot, ring, grid, frame, pressed, state);
  }
  draw_legend(state.map);
  if (state.pinned) {
    draw_pinned(snapshot, ring, state);
  }
}

}  // namespace

void draw_selection_panel(const Snapshot& snapshot, OverlayState& state) {
  if (!snapshot.has_model) {
    draw_notice("No model has run yet.");
    return;
  }
  if (snapshot.layers.empty()) {
    draw_notice("This model attends densely; sparse selections appear with qwen4_exp models.");
    return;
  }
  const auto num_layers = static_cast<int32_t>(snapshot.layers.size());
  state.layer_choice = std::clamp(state.layer_choice, 0, num_layers - 1);
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 0.9F);
  draw_layer_picker(snapshot, state);
  const SelectionRing& ring = snapshot.layers[static_cast<size_t>(state.layer_choice)];
  if (ring.num_rows() == 0) {
    draw_notice(snapshot.session_state == SessionState::kClosed
                    ? "The session was closed before anything was read of it."
                    : "No query has chosen blocks yet.");
  } else {
    draw_map(snapshot, ring, state);
  }
  ImGui::PopFont();
}

}  // namespace ifr::overlay
