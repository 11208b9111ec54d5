// SPDX-License-Identifier: Apache-2.0
// A MapPicture as rectangles of a draw list.
#ifndef INTERFRAME_PANELS_MAP_DRAWING_H
#define INTERFRAME_PANELS_MAP_DRAWING_H

#include "interframe_overlay/overlay.h"

namespace ifr::overlay {

/// Where the cells of a picture stand, in whole pixels.
struct MapFrame {
  ImVec2 origin;
  float width = 0.0F;
  float height = 0.0F;  ///< of the whole area; cells fill it from the top
};

float column_x(const MapFrame& frame, const MapGrid& grid, int32_t column);
float cell_row_y(const MapFrame& frame, const MapGrid& grid, int32_t cell_row);
float cells_height(const MapFrame& frame, const MapGrid& grid);

/// Cells of one colour side by side become one rectangle.
void draw_picture(const MapPicture& picture, const MapFrame& frame, ImDrawList& list);

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_MAP_DRAWING_H
