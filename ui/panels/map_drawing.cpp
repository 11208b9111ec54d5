// SPDX-License-Identifier: Apache-2.0
#include "panels/map_drawing.h"

#include <algorithm>
#include <cmath>

#include "panels/palette.h"

namespace ifr::overlay {
namespace {

/// From this size on cells keep a pixel between them.
constexpr float kGapFromPixels = 6.0F;

}  // namespace

float column_x(const MapFrame& frame, const MapGrid& grid, int32_t column) {
  const float part = static_cast<float>(column) / static_cast<float>(std::max(grid.columns, 1));
  return frame.origin.x + std::floor(frame.width * part);
}

float cell_row_y(const MapFrame& frame, const MapGrid& grid, int32_t cell_row) {
  return frame.origin.y + std::floor(grid.cell_height * static_cast<float>(cell_row));
}

float cells_height(const MapFrame& frame, const MapGrid& grid) {
  return std::min(frame.height, grid.cell_height * static_cast<float>(grid.rows));
}

void draw_picture(const MapPicture& picture, const MapFrame& frame, ImDrawList& list) {
  const MapGrid& grid = picture.grid;
  list.AddRectFilled(frame.origin,
                     ImVec2(frame.origin.x + frame.width, frame.origin.y + frame.height),
                     theme::kMapBack);
  if (grid.columns <= 0) {
    return;
  }
  const float cell_width = frame.width / static_cast<float>(grid.columns);
  const float gap = std::min(cell_width, grid.cell_height) >= kGapFromPixels ? 1.0F : 0.0F;
  const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
  for (int32_t row = 0; row < grid.rows; ++row) {
    const ImU32* const colors =
        picture.colors.data() + static_cast<size_t>(row) * static_cast<size_t>(grid.columns);
    const float top = cell_row_y(frame, grid, row);
    const float bottom = cell_row_y(frame, grid, row + 1) - gap;
    // Reserved for the worst case of a row at once, what is left over is given back.
    list.PrimReserve(6 * grid.columns, 4 * grid.columns);
    int32_t num_runs = 0;
    for (int32_t begin = 0; begin < grid.columns;) {
      int32_t end = begin + 1;
      while (end < grid.columns && colors[end] == colors[begin] && gap == 0.0F) {
        ++end;
      }
      if (colors[begin] != theme::kMapBack) {
        list.PrimRectUV(ImVec2(column_x(frame, grid, begin), top),
                        ImVec2(column_x(frame, grid, end) - gap, bottom), white, white,
                        colors[begin]);
        ++num_runs;
      }
      begin = end;
    }
    list.PrimUnreserve(6 * (grid.columns - num_runs), 4 * (grid.columns - num_runs));
  }
}

}  // namespace ifr::overlay
