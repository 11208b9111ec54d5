// SPDX-License-Identifier: Apache-2.0
#include "telemetry/selection_history.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace ifr::test {
namespace {

using Row = SelectionHistory::Row;

std::unique_ptr<SelectionHistory> make_history(MemoryBudget& budget, int32_t max_blocks = 4) {
  const std::array<int32_t, 2> layers = {3, 7};
  Expected<std::unique_ptr<SelectionHistory>> made =
      SelectionHistory::create(layers, max_blocks, budget);
  EXPECT_TRUE(made.is_ok());
  return std::move(made).value();
}

void record(SelectionHistory& history, int32_t layer, int32_t position) {
  const std::array<int32_t, 3> block_idx = {position, position + 1, position + 2};
  const std::array<float, 3> scores = {3.0F, 2.0F, static_cast<float>(position)};
  history.record({.layer = layer,
                  .query_position = position,
                  .num_visible_blocks = position / 4,
                  .block_idx = block_idx,
                  .scores = scores});
}

TEST(SelectionHistory, KeepsTheLastRowsOfEachLayer) {
  MemoryBudget budget(0);
  const std::unique_ptr<SelectionHistory> history = make_history(budget);
  EXPECT_FALSE(history->window(5).has_value());
  EXPECT_EQ(history->window(3)->next, 1U);
  for (int32_t i = 0; i < 300; ++i) {
    record(*history, 3, i);
  }
  record(*history, 7, 42);
  record(*history, 5, 1);  // selects nothing: dropped
  const SelectionHistory::Window window = *history->window(3);
  EXPECT_EQ(window.next, 301U);
  EXPECT_EQ(window.oldest, 45U);
  std::array<int32_t, 4> blocks = {-9, -9, -9, -9};
  std::array<float, 4> scores = {};
  EXPECT_FALSE(history->read(3, 44, blocks, scores).has_value());
  EXPECT_FALSE(history->read(3, 301, blocks, scores).has_value());
  EXPECT_FALSE(history->read(3, 0, blocks, scores).has_value());
  const std::optional<Row> row = history->read(3, 45, blocks, scores);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->query_position, 44);
  EXPECT_EQ(row->num_visible_blocks, 11);
  EXPECT_EQ(row->num_blocks, 3);
  EXPECT_EQ(blocks, (std::array<int32_t, 4>{44, 45, 46, -9}));
  EXPECT_EQ(scores[2], 44.0F);
  EXPECT_EQ(history->read(7, 1, {}, {})->query_position, 42);
}

TEST(SelectionHistory, CutsRowsAndForgets) {
  MemoryBudget budget(0);
  const std::unique_ptr<SelectionHistory> history = make_history(budget, 2);
  record(*history, 3, 5);
  std::array<int32_t, 1> blocks = {};
  EXPECT_EQ(history->read(3, 1, blocks, {})->num_blocks, 2);
  EXPECT_EQ(blocks[0], 5);
  history->forget();
  EXPECT_EQ(history->window(3)->oldest, 2U);
  record(*history, 3, 6);
  EXPECT_EQ(history->window(3)->oldest, 2U);
  EXPECT_EQ(history->window(3)->next, 3U);
}

TEST(SelectionHistory, TakesItsMemoryFromTheBudget) {
  MemoryBudget small(100);
  const std::array<int32_t, 1> layers = {0};
  EXPECT_EQ(SelectionHistory::create(layers, 512, small).status().code(), Code::kOverBudget);
  EXPECT_EQ(SelectionHistory::create(layers, -1, small).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(SelectionHistory::create({}, 0, small).is_ok());
  MemoryBudget budget(0);
  {
    const std::unique_ptr<SelectionHistory> history = make_history(budget);
    EXPECT_GT(budget.used_bytes(MemoryKind::kState), 0U);
  }
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(SelectionHistory, NeverGivesATornRow) {
  MemoryBudget budget(0);
  const std::unique_ptr<SelectionHistory> history = make_history(budget);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int32_t i = 0; !stop; i = (i + 1) % 100'000) {
      record(*history, 3, i);
    }
  });
  int32_t num_read = 0;
  for (int32_t i = 0; i < 200'000 || num_read == 0; ++i) {
    const SelectionHistory::Window window = *history->window(3);
    std::array<int32_t, 4> blocks = {};
    std::array<float, 4> scores = {};
    const std::optional<Row> row = history->read(3, window.oldest, blocks, scores);
    if (row) {
      ++num_read;
      ASSERT_EQ(blocks[0], row->query_position);
      ASSERT_EQ(blocks[2], row->query_position + 2);
      ASSERT_EQ(scores[2], static_cast<float>(row->query_position));
    }
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace ifr::test
