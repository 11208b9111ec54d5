// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "panels/palette.h"
#include "panels/selection_map.h"

namespace ifr::overlay::testing {
namespace {

constexpr int32_t kNone = MapPicture::kNotChosen;
constexpr int32_t kUnseen = MapPicture::kNotVisible;

/// Rows of queries 0, 1, 2, ...: blocks best first, scores 10, 9, 8, ...
SelectionRing make_ring(const std::vector<std::vector<int32_t>>& rows, int32_t visible) {
  SelectionRing ring;
  ring.reset(3, 64, 64);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<float> scores;
    for (size_t rank = 0; rank < rows[i].size(); ++rank) {
      scores.push_back(10.0F - static_cast<float>(rank));
    }
    ring.push({i, static_cast<int32_t>(i), visible, static_cast<int32_t>(rows[i].size())},
              rows[i].data(), scores.data());
  }
  return ring;
}

struct PlanCase {
  GridRequest request;
  int32_t columns;
  int32_t rows;
  uint32_t first_row;
  uint32_t num_rows;
  float cell_height;
};

TEST(MapPlan, Cases) {
  const PlanCase cases[] = {
      // nothing to show
      {{.width = 100, .height = 100, .num_rows = 0, .num_blocks = 8}, 0, 0, 0, 0, 0},
      {{.width = 100, .height = 100, .num_rows = 4, .num_blocks = 0}, 0, 0, 0, 0, 0},
      {{.width = 1, .height = 100, .num_rows = 4, .num_blocks = 8}, 0, 0, 0, 0, 0},
      {{.width = NAN, .height = 100, .num_rows = 4, .num_blocks = 8}, 0, 0, 0, 0, 0},
      // all fits: cells grow to their largest
      {{.width = 100, .height = 100, .num_rows = 4, .num_blocks = 8}, 8, 4, 0, 4, 14},
      // exactly as many as fit
      {{.width = 16, .height = 8, .num_rows = 4, .num_blocks = 8}, 8, 4, 0, 4, 2},
      // more blocks than pixels: binned; more rows than pixels: the newest
      {{.width = 16, .height = 8, .num_rows = 10, .num_blocks = 20}, 8, 4, 6, 4, 2},
      // scrolled back, and too far back
      {{.width = 16, .height = 8, .num_rows = 10, .num_blocks = 20, .rows_back = 3}, 8, 4, 3, 4, 2},
      {{.width = 16, .height = 8, .num_rows = 10, .num_blocks = 20, .rows_back = 99},
       8,
       4,
       0,
       4,
       2},
      // rows binned as well
      {{.width = 16, .height = 8, .num_rows = 10, .num_blocks = 20, .bin_rows = true},
       8,
       4,
       0,
       10,
       2},
  };
  for (const PlanCase& test : cases) {
    const MapGrid grid = plan_grid(test.request);
    SCOPED_TRACE(::testing::Message()
                 << test.request.width << " x " << test.request.height << ", "
                 << test.request.num_rows << " rows, " << test.request.num_blocks << " blocks");
    EXPECT_EQ(grid.columns, test.columns);
    EXPECT_EQ(grid.rows, test.rows);
    EXPECT_EQ(grid.first_row, test.first_row);
    EXPECT_EQ(grid.num_rows, test.num_rows);
    EXPECT_FLOAT_EQ(grid.cell_height, test.cell_height);
  }
}

TEST(MapPlan, NeverMoreCellsThanTheBound) {
  const MapGrid grid =
      plan_grid({.width = 3000, .height = 3000, .num_rows = 2000, .num_blocks = 65536});
  EXPECT_LE(grid.columns * grid.rows, kMaxMapCells);
  EXPECT_GT(grid.rows, 0);
}

TEST(MapBins, CoverEveryBlockOnce) {
  for (int32_t num_blocks : {1, 2, 7, 8, 64, 511, 512, 513, 65536}) {
    for (int32_t columns : {1, 2, 3, 7, 100, 512}) {
      if (columns > num_blocks) {
        continue;
      }
      MapGrid grid;
      grid.columns = columns;
      grid.num_blocks = num_blocks;
      int32_t next = 0;
      for (int32_t column = 0; column < columns; ++column) {
        const IndexRange range = blocks_of_column(grid, column);
        ASSERT_EQ(range.begin, next);
        ASSERT_GT(range.end, range.begin);
        ASSERT_EQ(column_of_block(grid, range.begin), column);
        ASSERT_EQ(column_of_block(grid, range.end - 1), column);
        next = range.end;
      }
      ASSERT_EQ(next, num_blocks);
    }
  }
}

TEST(MapCells, OneBlockACell) {
  const SelectionRing ring = make_ring({{2, 0}, {1}}, 3);
  MapPicture picture;
  fill_cells(ring, plan_grid({.width = 100, .height = 100, .num_rows = 2, .num_blocks = 4}),
             picture);
  EXPECT_EQ(picture.best_rank, (std::vector<int32_t>{1, kNone, 0, kUnseen,  //
                                                     kNone, 0, kNone, kUnseen}));
  EXPECT_EQ(picture.best_score[2], 10.0F);
  EXPECT_EQ(picture.best_score[0], 9.0F);
}

TEST(MapCells, BlocksSharingACellShowTheBest) {
  // 8 blocks, 4 columns: 0-1, 2-3, 4-5, 6-7; 5 visible: column 2 is half seen, column 3 is not.
  const SelectionRing ring = make_ring({{4, 1, 0}}, 5);
  MapPicture picture;
  fill_cells(ring, plan_grid({.width = 8, .height = 8, .num_rows = 1, .num_blocks = 8}), picture);
  EXPECT_EQ(picture.best_rank, (std::vector<int32_t>{1, kNone, 0, kUnseen}));
}

TEST(MapCells, RowsSharingACellShowTheBest) {
  const SelectionRing ring = make_ring({{0, 1}, {1, 0}, {2}, {2}}, 4);
  MapPicture picture;
  fill_cells(ring,
             plan_grid({.width = 8, .height = 4, .num_rows = 4, .num_blocks = 4, .bin_rows = true}),
             picture);
  EXPECT_EQ(picture.best_rank, (std::vector<int32_t>{0, 0, kNone, kNone,  //
                                                     kNone, kNone, 0, kNone}));
}

TEST(MapCells, BlocksOutsideAreLeftOut) {
  const SelectionRing ring = make_ring({{-1, 99, 2, std::numeric_limits<int32_t>::max()}}, 4);
  MapPicture picture;
  fill_cells(ring, plan_grid({.width = 100, .height = 10, .num_rows = 1, .num_blocks = 4}),
             picture);
  EXPECT_EQ(picture.best_rank, (std::vector<int32_t>{kNone, kNone, 2, kNone}));
}

TEST(MapColors, RankAndScore) {
  const SelectionRing ring = make_ring({{2, 0, 1}}, 3);
  const MapGrid grid = plan_grid({.width = 100, .height = 10, .num_rows = 1, .num_blocks = 5});
  MapPicture picture;
  EXPECT_TRUE(update_picture(ring, grid, MapColor::kRank, Palette::kViridian, picture));
  EXPECT_EQ(picture.colors[2], palette_color(Palette::kViridian, 1.0F));
  EXPECT_EQ(picture.colors[1], palette_color(Palette::kViridian, 0.0F));
  EXPECT_EQ(picture.colors[3], theme::kMapBack);
  EXPECT_FALSE(update_picture(ring, grid, MapColor::kRank, Palette::kViridian, picture));
  EXPECT_TRUE(update_picture(ring, grid, MapColor::kScore, Palette::kCivic, picture));
  EXPECT_EQ(picture.low, 8.0F);
  EXPECT_EQ(picture.high, 10.0F);
  EXPECT_EQ(picture.colors[2], palette_color(Palette::kCivic, 1.0F));
  EXPECT_EQ(picture.colors[1], palette_color(Palette::kCivic, 0.0F));
}

TEST(MapColors, EqualAndBadScoresHaveAColor) {
  SelectionRing ring;
  ring.reset(0, 4, 4);
  const int32_t blocks[] = {0, 1, 2};
  const float scores[] = {NAN, INFINITY, 1.0F};
  ring.push({0, 0, 4, 3}, blocks, scores);
  const MapGrid grid = plan_grid({.width = 100, .height = 10, .num_rows = 1, .num_blocks = 4});
  MapPicture picture;
  update_picture(ring, grid, MapColor::kScore, Palette::kGrey, picture);
  EXPECT_EQ(picture.low, 1.0F);
  EXPECT_EQ(picture.high, 1.0F);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(picture.colors[static_cast<size_t>(i)], theme::kMapNotChosen);
  }
  EXPECT_EQ(picture.colors[3], theme::kMapNotChosen);
}

TEST(MapDetail, SaysRankScoreAndVisibility) {
  const SelectionRing ring = make_ring({{2, 0}}, 3);
  const CellDetail best = detail_of(ring, 0, 2);
  EXPECT_TRUE(best.valid);
  EXPECT_EQ(best.rank, 0);
  EXPECT_EQ(best.score, 10.0F);
  EXPECT_EQ(best.num_chosen, 2);
  const CellDetail other = detail_of(ring, 0, 1);
  EXPECT_EQ(other.rank, -1);
  EXPECT_TRUE(other.visible);
  EXPECT_FALSE(detail_of(ring, 0, 3).visible);
  EXPECT_FALSE(detail_of(ring, 1, 0).valid);
  EXPECT_FALSE(detail_of(ring, -1, 0).valid);
  EXPECT_FALSE(detail_of(ring, 0, -1).valid);
}

TEST(MapDetail, OfACellIsItsBestBlockElseTheOneUnderTheMouse) {
  const SelectionRing ring = make_ring({{1, 0}}, 8);
  const MapGrid grid = plan_grid({.width = 4, .height = 4, .num_rows = 1, .num_blocks = 8});
  ASSERT_EQ(grid.columns, 2);
  EXPECT_EQ(detail_of_cell(ring, grid, 0, 0, 0.9F).block, 1);
  EXPECT_EQ(detail_of_cell(ring, grid, 0, 1, 0.0F).block, 4);
  EXPECT_EQ(detail_of_cell(ring, grid, 0, 1, 0.99F).block, 7);
  EXPECT_EQ(detail_of_cell(ring, grid, 0, 1, 5.0F).block, 7);
  EXPECT_FALSE(detail_of_cell(ring, grid, 1, 0, 0.0F).valid);
  EXPECT_FALSE(detail_of_cell(ring, grid, 0, 2, 0.0F).valid);
}

TEST(MapDetail, FindsRowsByPosition) {
  const SelectionRing ring = make_ring({{0}, {0}, {0}}, 1);
  EXPECT_EQ(find_row(ring, 0), 0);
  EXPECT_EQ(find_row(ring, 2), 2);
  EXPECT_EQ(find_row(ring, 3), -1);
  EXPECT_EQ(find_row(ring, -1), -1);
  EXPECT_EQ(find_row(SelectionRing{}, 0), -1);
}

/// Relative luminance of sRGB, as contrast guidelines define it.
double luminance(ImU32 color) {
  const auto channel = [&](unsigned shift) {
    const double value = static_cast<double>((color >> shift) & 0xFFU) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(IM_COL32_R_SHIFT) + 0.7152 * channel(IM_COL32_G_SHIFT) +
         0.0722 * channel(IM_COL32_B_SHIFT);
}

TEST(Palettes, RiseInLightnessAboveWhatIsNotChosen) {
  for (const Palette palette : {Palette::kViridian, Palette::kCivic, Palette::kGrey}) {
    double before = luminance(theme::kMapNotChosen);
    EXPECT_GT(before, luminance(theme::kMapBack));
    for (int i = 0; i <= 64; ++i) {
      const double now = luminance(palette_color(palette, static_cast<float>(i) / 64.0F));
      EXPECT_GT(now, before) << palette_name(palette) << " at " << i;
      before = now;
    }
    EXPECT_EQ(palette_color(palette, -5.0F), palette_color(palette, 0.0F));
    EXPECT_EQ(palette_color(palette, 5.0F), palette_color(palette, 1.0F));
    EXPECT_EQ(palette_color(palette, NAN), palette_color(palette, 0.0F));
  }
}

}  // namespace
}  // namespace ifr::overlay::testing
