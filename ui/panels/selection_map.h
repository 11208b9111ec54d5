// SPDX-License-Identifier: Apache-2.0
// The selection map as arithmetic: which rows and blocks fall into which cell, what a cell shows.
// No ImGui state is touched.
#ifndef INTERFRAME_PANELS_SELECTION_MAP_H
#define INTERFRAME_PANELS_SELECTION_MAP_H

#include "interframe_overlay/overlay.h"

namespace ifr::overlay {

struct GridRequest {
  float width = 0.0F;             ///< pixels
  float height = 0.0F;            ///< pixels
  uint32_t num_rows = 0;          ///< in the ring
  int32_t num_blocks = 0;         ///< of the newest query's context
  int32_t rows_back = 0;          ///< newest rows left out at the bottom; clamped
  float min_cell = 2.0F;          ///< pixels, either side
  float max_cell_height = 14.0F;  ///< pixels
  bool bin_rows =
      false;  ///< show all rows, several to a cell when there is no room; else the newest that fit
};

/// Most cells of one map: bounds the time of a frame, whatever the display's size.
inline constexpr int32_t kMaxMapCells = 32768;

/// Columns never exceed blocks, rows never exceed rows; empty (0 rows) when there is nothing to
/// show.
MapGrid plan_grid(const GridRequest& request);

struct IndexRange {
  int32_t begin = 0;
  int32_t end = 0;
};

/// Blocks of a column, rows of the ring of a row of cells. Ranges of neighbours touch and cover
/// everything.
IndexRange blocks_of_column(const MapGrid& grid, int32_t column);
IndexRange rows_of_cell_row(const MapGrid& grid, int32_t cell_row);
int32_t column_of_block(const MapGrid& grid, int32_t block);
int32_t cell_row_of_row(const MapGrid& grid, int32_t row);

/// Blocks to show for a ring: what its newest rows see, at least `minimum`.
int32_t num_blocks_of(const SelectionRing& ring, int32_t minimum);

/// Fills picture.best_rank and best_score: a cell shows the best of its blocks (lowest rank).
/// Blocks outside the grid are left out.
void fill_cells(const SelectionRing& ring, const MapGrid& grid, MapPicture& picture);

/// Fills picture.colors, low and high from its cells.
void color_cells(MapColor color, Palette palette, MapPicture& picture);

/// Both, when anything of it changed since the last time. True when it was redone.
bool update_picture(const SelectionRing& ring, const MapGrid& grid, MapColor color, Palette palette,
                    MapPicture& picture);

/// What is at one block of one row.
struct CellDetail {
  bool valid = false;
  bool visible = false;
  int32_t rank = -1;   ///< 0-based; -1: not chosen
  float score = 0.0F;  ///< when chosen
  int32_t query_position = 0;
  int32_t block = 0;
  int32_t num_chosen = 0;
};

CellDetail detail_of(const SelectionRing& ring, int32_t row, int32_t block);
/// Of a cell: its best chosen block, else the block at `fraction` (0..1) across the column.
CellDetail detail_of_cell(const SelectionRing& ring, const MapGrid& grid, int32_t cell_row,
                          int32_t column, float fraction);

/// Row of the ring with this query position, -1 when it is not kept.
int32_t find_row(const SelectionRing& ring, int32_t query_position);

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_SELECTION_MAP_H
