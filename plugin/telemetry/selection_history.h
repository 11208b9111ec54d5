// SPDX-License-Identifier: Apache-2.0
// What the indexers of one session chose lately: a ring of rows for each layer that selects.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "memory/budget.h"
#include "telemetry/step_observer.h"

namespace ifr {

// Written by the thread that runs the steps, read by any thread without a lock. Rows of a layer are
// numbered from 1. A row that is overwritten while it is read counts as lost; nobody waits.
class SelectionHistory {
 public:
  static constexpr uint32_t kRowsPerLayer = 256;

  // Rows whose numbers are in [oldest, next) may still be readable.
  struct Window {
    uint64_t oldest = 1;
    uint64_t next = 1;
  };
  struct Row {
    int32_t query_position = 0;
    int32_t num_visible_blocks = 0;
    int32_t num_blocks = 0;  // entries copied
  };

  // `selecting_layers` ascending; a row keeps its best max_blocks entries. Memory is taken from
  // `budget` (kState), which outlives the history. kOverBudget, kInvalidArgument.
  [[nodiscard]] static Expected<std::unique_ptr<SelectionHistory>> create(
      std::span<const int32_t> selecting_layers, int32_t max_blocks, MemoryBudget& budget);

  // The writer's.
  void record(const SelectionSpan& span);
  void forget();  // all rows; numbers go on

  // Nothing when the layer does not select.
  [[nodiscard]] std::optional<Window> window(int32_t layer) const;
  // Copies row `number`, as many entries as each span holds (either may be empty). Nothing when it
  // is not there any more (the spans may then hold anything).
  [[nodiscard]] std::optional<Row> read(int32_t layer, uint64_t number,
                                        std::span<int32_t> block_idx,
                                        std::span<float> scores) const;

 private:
  struct RowHead {
    std::atomic<uint64_t> number{0};  // 0: empty or being written
    std::atomic<int32_t> query_position{0};
    std::atomic<int32_t> num_visible_blocks{0};
    std::atomic<int32_t> num_blocks{0};
  };
  struct Layer {
    int32_t layer = 0;
    std::unique_ptr<RowHead[]> heads;               // [kRowsPerLayer]
    std::unique_ptr<std::atomic<int32_t>[]> block;  // [kRowsPerLayer, max_blocks]
    std::unique_ptr<std::atomic<float>[]> score;    // [kRowsPerLayer, max_blocks]
    std::atomic<uint64_t> next{1};
    std::atomic<uint64_t> floor{1};  // rows below were forgotten
  };

  SelectionHistory() = default;
  [[nodiscard]] const Layer* find(int32_t layer) const;

  int32_t max_blocks_ = 0;
  size_t num_layers_ = 0;
  std::unique_ptr<Layer[]> layers_;
  Reservation reservation_;
};

}  // namespace ifr
