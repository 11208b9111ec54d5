// SPDX-License-Identifier: Apache-2.0
#include "panels/selection_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "panels/palette.h"

namespace ifr::overlay {
namespace {

/// First of the items that fall into bin `bin` of `num_bins`: ranges differ by one item at most.
int32_t bin_begin(int64_t bin, int64_t num_items, int64_t num_bins) {
  return static_cast<int32_t>((bin * num_items + num_bins - 1) / num_bins);
}

int32_t cells_that_fit(float pixels, float cell) {
  return static_cast<int32_t>(std::clamp(pixels / cell, 0.0F, 16384.0F));
}

}  // namespace

MapGrid plan_grid(const GridRequest& request) {
  MapGrid grid;
  const float cell = std::max(request.min_cell, 1.0F);
  if (request.num_rows == 0 || request.num_blocks <= 0 || !(request.width >= cell) ||
      !(request.height >= cell)) {
    return grid;
  }
  const auto num_rows = static_cast<int32_t>(request.num_rows);
  grid.num_blocks = request.num_blocks;
  grid.columns = std::min(request.num_blocks, cells_that_fit(request.width, cell));
  const int32_t most_rows =
      std::min(cells_that_fit(request.height, cell), std::max(kMaxMapCells / grid.columns, 1));
  grid.rows = std::min(num_rows, most_rows);
  grid.num_rows = request.bin_rows ? request.num_rows : static_cast<uint32_t>(grid.rows);
  const int32_t back =
      std::clamp(request.rows_back, 0, num_rows - static_cast<int32_t>(grid.num_rows));
  grid.first_row = request.num_rows - grid.num_rows - static_cast<uint32_t>(back);
  const float stretched = request.height / static_cast<float>(grid.rows);
  grid.cell_height = std::min(stretched, std::max(request.max_cell_height, cell));
  return grid;
}

IndexRange blocks_of_column(const MapGrid& grid, int32_t column) {
  return {bin_begin(column, grid.num_blocks, grid.columns),
          bin_begin(int64_t{column} + 1, grid.num_blocks, grid.columns)};
}

IndexRange rows_of_cell_row(const MapGrid& grid, int32_t cell_row) {
  const auto first = static_cast<int32_t>(grid.first_row);
  return {first + bin_begin(cell_row, grid.num_rows, grid.rows),
          first + bin_begin(int64_t{cell_row} + 1, grid.num_rows, grid.rows)};
}

int32_t column_of_block(const MapGrid& grid, int32_t block) {
  return static_cast<int32_t>(int64_t{block} * grid.columns / grid.num_blocks);
}

int32_t cell_row_of_row(const MapGrid& grid, int32_t row) {
  return static_cast<int32_t>((int64_t{row} - grid.first_row) * grid.rows / grid.num_rows);
}

int32_t num_blocks_of(const SelectionRing& ring, int32_t minimum) {
  int32_t most = minimum;
  // Visible blocks only grow within a conversation; the newest row knows best.
  if (ring.num_rows() > 0) {
    most = std::max(most, ring.row(ring.num_rows() - 1).num_visible_blocks);
  }
  return most;
}

void fill_cells(const SelectionRing& ring, const MapGrid& grid, MapPicture& picture) {
  const size_t num_cells = static_cast<size_t>(grid.columns) * static_cast<size_t>(grid.rows);
  picture.best_rank.assign(num_cells, MapPicture::kNotVisible);
  picture.best_score.assign(num_cells, 0.0F);
  for (int32_t cell_row = 0; cell_row < grid.rows; ++cell_row) {
    const size_t line = static_cast<size_t>(cell_row) * static_cast<size_t>(grid.columns);
    int32_t* const ranks = picture.best_rank.data() + line;
    float* const scores = picture.best_score.data() + line;
    const IndexRange rows = rows_of_cell_row(grid, cell_row);
    for (int32_t i = rows.begin; i < rows.end; ++i) {
      const auto row_idx = static_cast<uint32_t>(i);
      const SelectionRow& row = ring.row(row_idx);
      const int32_t visible = std::clamp(row.num_visible_blocks, 0, grid.num_blocks);
      const int32_t end = visible > 0 ? column_of_block(grid, visible - 1) + 1 : 0;
      for (int32_t column = 0; column < end; ++column) {
        ranks[column] = std::max(ranks[column], MapPicture::kNotChosen);
      }
      const int32_t* const blocks = ring.block_idx(row_idx);
      const float* const row_scores = ring.scores(row_idx);
      for (int32_t rank = 0; rank < row.num_chosen; ++rank) {
        if (blocks[rank] < 0 || blocks[rank] >= grid.num_blocks) {
          continue;
        }
        const int32_t column = column_of_block(grid, blocks[rank]);
        if (ranks[column] < 0 || rank < ranks[column]) {
          ranks[column] = rank;
          scores[column] = row_scores[rank];
        }
      }
    }
  }
}

void color_cells(MapColor color, Palette palette, MapPicture& picture) {
  const size_t num_cells = picture.best_rank.size();
  const auto value_of = [&](size_t i) {
    return color == MapColor::kScore ? picture.best_score[i]
                                     : -static_cast<float>(picture.best_rank[i]);
  };
  float low = INFINITY;
  float high = -INFINITY;
  for (size_t i = 0; i < num_cells; ++i) {
    const float value = value_of(i);
    if (picture.best_rank[i] >= 0 && std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low <= high)) {
    low = high = 0.0F;
  }
  if (color == MapColor::kRank) {
    high = 0.0F;  // the best rank is always the bright end
  }
  std::array<ImU32, 64> ramp;
  for (size_t i = 0; i < ramp.size(); ++i) {
    ramp[i] = palette_color(palette, static_cast<float>(i) / static_cast<float>(ramp.size() - 1));
  }
  const float range = high - low;
  picture.colors.resize(num_cells);
  for (size_t i = 0; i < num_cells; ++i) {
    if (picture.best_rank[i] < 0) {
      picture.colors[i] =
          picture.best_rank[i] == MapPicture::kNotVisible ? theme::kMapBack : theme::kMapNotChosen;
      continue;
    }
    const float t = range > 0.0F ? (value_of(i) - low) / range : 1.0F;
    const float step = t > 0.0F ? std::min(t, 1.0F) * static_cast<float>(ramp.size() - 1) : 0.0F;
    picture.colors[i] = ramp[static_cast<size_t>(std::lround(step))];
  }
  picture.low = low;
  picture.high = high;
}

bool update_picture(const SelectionRing& ring, const MapGrid& grid, MapColor color, Palette palette,
                    MapPicture& picture) {
  if (picture.grid == grid && picture.revision == ring.revision() &&
      picture.layer == ring.layer() && picture.color == color && picture.palette == palette) {
    return false;
  }
  fill_cells(ring, grid, picture);
  color_cells(color, palette, picture);
  picture.grid = grid;
  picture.revision = ring.revision();
  picture.layer = ring.layer();
  picture.color = color;
  picture.palette = palette;
  return true;
}

CellDetail detail_of(const SelectionRing& ring, int32_t row, int32_t block) {
  CellDetail detail;
  if (row < 0 || static_cast<uint32_t>(row) >= ring.num_rows() || block < 0) {
    return detail;
  }
  const auto row_idx = static_cast<uint32_t>(row);
  const SelectionRow& found = ring.row(row_idx);
  detail.valid = true;
  detail.visible = block < found.num_visible_blocks;
  detail.query_position = found.query_position;
  detail.block = block;
  detail.num_chosen = found.num_chosen;
  const int32_t* const blocks = ring.block_idx(row_idx);
  for (int32_t rank = 0; rank < found.num_chosen; ++rank) {
    if (blocks[rank] == block) {
      detail.rank = rank;
      detail.score = ring.scores(row_idx)[rank];
      break;
    }
  }
  return detail;
}

CellDetail detail_of_cell(const SelectionRing& ring, const MapGrid& grid, int32_t cell_row,
                          int32_t column, float fraction) {
  if (cell_row < 0 || cell_row >= grid.rows || column < 0 || column >= grid.columns) {
    return {};
  }
  const IndexRange blocks = blocks_of_column(grid, column);
  const IndexRange rows = rows_of_cell_row(grid, cell_row);
  CellDetail best;
  for (int32_t row = rows.begin; row < rows.end; ++row) {
    for (int32_t block = blocks.begin; block < blocks.end; ++block) {
      const CellDetail detail = detail_of(ring, row, block);
      if (detail.rank >= 0 && (best.rank < 0 || detail.rank < best.rank)) {
        best = detail;
      }
    }
  }
  if (best.valid) {
    return best;
  }
  const auto width = static_cast<float>(blocks.end - blocks.begin);
  const int32_t offset = static_cast<int32_t>(std::clamp(fraction, 0.0F, 1.0F) * width);
  return detail_of(ring, rows.end - 1, std::min(blocks.begin + offset, blocks.end - 1));
}

int32_t find_row(const SelectionRing& ring, int32_t query_position) {
  // Positions rise within a ring.
  uint32_t low = 0;
  uint32_t high = ring.num_rows();
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (ring.row(middle).query_position < query_position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool found = low < ring.num_rows() && ring.row(low).query_position == query_position;
  return found ? static_cast<int32_t>(low) : -1;
}

}  // namespace ifr::overlay
