// SPDX-License-Identifier: Apache-2.0
// Top-k selection: which blocks of the context each query reads, layer by layer.
#include <algorithm>
#include <cmath>

#include "interframe_overlay/overlay.h"
#include "panels/format.h"
#include "panels/layer_picker.h"
#include "panels/map_drawing.h"
#include "panels/palette.h"
#include "panels/selection_map.h"
#include "panels/widgets.h"

namespace ifr::overlay {
namespace {

int32_t block_tokens_of(const Snapshot& snapshot) {
  return std::max(snapshot.model.selection_block_tokens, 1);
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
    text_right(format_text("layer %d, queries %d to %d", ring.layer(), first, last).c_str(),
               theme::kTextDim);
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
      "Score of a block, without unit. Of an indexer: relu of query times key over the root of the "
      "head width, summed over its heads.\n"
      "Of sparse attention in a dense model: query times the block's mean key over the root of the "
      "head width, the largest of the heads that read the block.\n"
      "Where several blocks share a cell, the best of them is shown.");
  ImGui::SameLine(0.0F, scaled(4.0F));
  text_dim(high.c_str());
  ImGui::SameLine(0.0F, scaled(14.0F));
  draw_key(theme::kMapNotChosen, "not chosen");
  ImGui::SameLine(0.0F, scaled(10.0F));
  draw_key(theme::kMapBack, "not yet there");
}

/// "a b c" in quotes, or the ids where there is no tokenizer; empty while it is not read yet.
ShortText tokens_text(const TokenText& text, TokenRange wanted) {
  if (text.range != wanted || text.ids.empty()) {
    return {};
  }
  if (text.has_text) {
    // 40 bytes and the rest of the character they end in.
    size_t length = std::min<size_t>(text.text.size(), 40);
    while (length < text.text.size() &&
           (static_cast<unsigned char>(text.text[length]) & 0xC0U) == 0x80U) {
      --length;
    }
    return format_text("\xE2\x80\x9C%.*s%s\xE2\x80\x9D", static_cast<int>(length),
                       text.text.c_str(), length < text.text.size() ? ".." : "");
  }
  ShortText ids = format_text("ids %d", text.ids[0]);
  const size_t most = std::min<size_t>(text.ids.size(), 4);
  for (size_t i = 1; i < most; ++i) {
    const ShortText before = ids;
    ids = format_text("%s %d", before.c_str(), text.ids[i]);
  }
  return ids;
}

void draw_rank(const CellDetail& detail) {
  if (detail.rank < 0) {
    text_dim(detail.visible ? "not chosen" : "not yet complete for this query");
    return;
  }
  ImGui::PushStyleColor(ImGuiCol_Text, theme::kAccent);
  ImGui::Text("rank %d of %d, score %s", detail.rank + 1, detail.num_chosen,
              format_number(static_cast<double>(detail.score)).c_str());
  ImGui::PopStyleColor();
}

void draw_range(TokenRange range) {
  ImGui::Text("tokens %d to %d", range.first, range.first + range.count - 1);
}

TokenRange block_range(const Snapshot& snapshot, const CellDetail& detail) {
  const int32_t block_tokens = block_tokens_of(snapshot);
  return {detail.block * block_tokens, block_tokens};
}

void want_text(const Snapshot& snapshot, const CellDetail& detail, OverlayState& state) {
  state.wanted_block = block_range(snapshot, detail);
  state.wanted_query = {detail.query_position, 1};
}

/// What the query is and what it reads; blank until it was collected.
void draw_texts(const Snapshot& snapshot, const CellDetail& detail) {
  const ShortText query = tokens_text(snapshot.query_text, {detail.query_position, 1});
  const ShortText block = tokens_text(snapshot.block_text, block_range(snapshot, detail));
  ImGui::Text("%s", query.c_str());
  ImGui::SameLine(0.0F, scaled(6.0F));
  text_dim(query.c_str()[0] != '\0' ? "reads" : " ");
  ImGui::SameLine(0.0F, scaled(6.0F));
  ImGui::Text("%s", block.c_str());
}

void draw_tooltip(const Snapshot& snapshot, const CellDetail& detail) {
  if (!ImGui::BeginTooltip()) {
    return;
  }
  ImGui::Text("query %d, block %d", detail.query_position, detail.block);
  draw_range(block_range(snapshot, detail));
  draw_rank(detail);
  draw_texts(snapshot, detail);
  ImGui::EndTooltip();
}

void draw_highlight(const MapFrame& frame, const MapGrid& grid, int32_t cell_row, int32_t column) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float top = cell_row_y(frame, grid, cell_row);
  const float bottom = cell_row_y(frame, grid, cell_row + 1);
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

void toggle_pin(const CellDetail& detail, OverlayState& state) {
  state.pinned = !state.pinned;
  state.pinned_query = detail.query_position;
  state.pinned_block = detail.block;
}

/// Marks the pinned cell and keeps its row in view.
void draw_pin(const Snapshot& snapshot, const SelectionRing& ring, const MapGrid& grid,
              const MapFrame& frame, OverlayState& state) {
  const int32_t row = find_row(ring, state.pinned_query);
  const CellDetail detail = detail_of(ring, row, state.pinned_block);
  if (!detail.valid || grid.rows == 0) {
    return;
  }
  want_text(snapshot, detail, state);
  const auto first = static_cast<int32_t>(grid.first_row);
  const auto num_rows = static_cast<int32_t>(grid.num_rows);
  if (row < first || row >= first + num_rows) {
    const int32_t newest = static_cast<int32_t>(ring.num_rows()) - 1;
    state.rows_back = std::max(newest - row - num_rows / 2, 0);  // seen in the next frame
  } else if (detail.block < grid.num_blocks) {
    draw_highlight(frame, grid, cell_row_of_row(grid, row), column_of_block(grid, detail.block));
  }
}

/// Mouse and keyboard on the map that was just drawn. `pressed`: clicked, or activated by keyboard.
void handle_map_input(const Snapshot& snapshot, const SelectionRing& ring, const MapGrid& grid,
                      const MapFrame& frame, bool pressed, OverlayState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_NoNavOverride)) {  // the mouse alone, not the focus
    if (pressed) {  // by keyboard: the newest query's best block
      const auto newest = static_cast<int32_t>(grid.first_row + grid.num_rows) - 1;
      const auto index = static_cast<uint32_t>(newest);
      const int32_t best = ring.row(index).num_chosen > 0 ? ring.block_idx(index)[0] : 0;
      toggle_pin(detail_of(ring, newest, best), state);
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
    toggle_pin(detail, state);
  }
  draw_highlight(frame, grid, cell_row, column);
  want_text(snapshot, detail, state);
  draw_tooltip(snapshot, detail);
}

/// The pinned cell: its line of text and two sliders, so that every cell can be reached without a
/// mouse.
void draw_pinned(const Snapshot& snapshot, const SelectionRing& ring, OverlayState& state) {
  const int32_t first = ring.row(0).query_position;
  const int32_t last = ring.row(ring.num_rows() - 1).query_position;
  const int32_t num_blocks = num_blocks_of(ring, kLeastMapBlocks);
  state.pinned_query = std::clamp(state.pinned_query, first, last);
  state.pinned_block = std::clamp(state.pinned_block, 0, num_blocks - 1);
  const float width = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) * 0.5F;
  ImGui::SetNextItemWidth(std::max(width, 1.0F));
  ImGui::SliderInt("##query", &state.pinned_query, first, last, "query %d");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::max(width, 1.0F));
  ImGui::SliderInt("##block", &state.pinned_block, 0, num_blocks - 1, "block %d");
  const CellDetail detail = detail_of(ring, find_row(ring, state.pinned_query), state.pinned_block);
  if (!detail.valid) {
    text_dim("this query is not kept any more");
    return;
  }
  draw_range(block_range(snapshot, detail));
  ImGui::SameLine(0.0F, scaled(12.0F));
  draw_rank(detail);
  draw_texts(snapshot, detail);
}

void draw_map(const Snapshot& snapshot, const SelectionRing& ring, OverlayState& state) {
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float above = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
  const float pinned = state.pinned ? ImGui::GetFrameHeightWithSpacing() + 2.0F * line : 0.0F;
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
                                  .num_blocks = num_blocks_of(ring, kLeastMapBlocks),
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
    draw_pin(snapshot, ring, grid, frame, state);
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
    ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 0.86F);
    draw_notice(
        "This model reads its whole past. Selections appear with a sparse budget, and with models "
        "that have an indexer.");
    ImGui::PopFont();
    return;
  }
  const auto num_layers = static_cast<int32_t>(snapshot.layers.size());
  state.layer_choice = std::clamp(state.layer_choice, 0, num_layers - 1);
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 0.9F);
  if (num_layers > 1) {
    draw_layer_picker(snapshot, state);
  }
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
