// SPDX-License-Identifier: Apache-2.0
// A loaded model with all that a step needs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace ifr::test {

class LoadedEngine {
 public:
  explicit LoadedEngine(const std::string& path, uint64_t budget_bytes = 0,
                        const EngineOptions& options = {})
      : budget(budget_bytes) {
    Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(path);
    if (!file.is_ok()) {
      ADD_FAILURE() << file.status().message();
      return;
    }
    take(std::move(file).value(), options);
  }
  explicit LoadedEngine(std::unique_ptr<ModelFile> file, const EngineOptions& options = {})
      : budget(0) {
    take(std::move(file), options);
  }

  [[nodiscard]] bool is_ok() const { return engine != nullptr; }
  [[nodiscard]] std::unique_ptr<Sequence> sequence(int32_t context_tokens) const {
    Expected<std::unique_ptr<Sequence>> made = engine->create_sequence(context_tokens);
    EXPECT_TRUE(made.is_ok()) << made.status().message();
    return made.is_ok() ? std::move(made).value() : nullptr;
  }
  [[nodiscard]] std::unique_ptr<StepWorkspace> workspace(int32_t max_chunk_tokens) const {
    Expected<std::unique_ptr<StepWorkspace>> made = engine->create_workspace(max_chunk_tokens);
    EXPECT_TRUE(made.is_ok()) << made.status().message();
    return made.is_ok() ? std::move(made).value() : nullptr;
  }
  [[nodiscard]] size_t vocab() const { return static_cast<size_t>(engine->info().vocab_size); }

  MemoryBudget budget;
  LoadProgress progress;
  std::unique_ptr<Engine> engine;

 private:
  void take(std::unique_ptr<ModelFile> file, const EngineOptions& options) {
    Expected<std::unique_ptr<Engine>> loaded =
        Engine::load(std::move(file), budget, progress, LogSink{}, options);
    if (!loaded.is_ok()) {
      ADD_FAILURE() << loaded.status().message();
      return;
    }
    engine = std::move(loaded).value();
  }
};

// |ours - expected| / |expected| over all elements; not finite when one of ours is not.
inline double relative_error(const std::vector<float>& ours, const std::vector<float>& expected) {
  if (ours.size() != expected.size() || ours.empty()) {
    ADD_FAILURE() << ours.size() << " values against " << expected.size();
    return INFINITY;
  }
  double difference = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double d = double{ours[i]} - double{expected[i]};
    difference += d * d;
    size += double{expected[i]} * double{expected[i]};
  }
  return std::sqrt(difference / size);
}

// What queries chose, by layer and position.
class SelectionRecorder final : public StepObserver {
 public:
  struct Selection {
    int32_t num_visible_blocks = 0;
    std::vector<int32_t> blocks;
    std::vector<float> scores;
    bool operator==(const Selection&) const = default;
  };

  void on_operator(const OperatorSpan& span) override {
    ++num_spans;
    num_bad_spans += span.end_ns < span.begin_ns || span.bytes < 0 || span.flops < 0 ? 1 : 0;
    seen[static_cast<size_t>(span.id)] = true;
  }
  void on_selection(const SelectionSpan& span) override {
    Selection& selection = selections[{span.layer, span.query_position}];
    selection.num_visible_blocks = span.num_visible_blocks;
    selection.blocks.assign(span.block_idx.begin(), span.block_idx.end());
    selection.scores.assign(span.scores.begin(), span.scores.end());
  }

  // Row of a mask: 1 where the query may attend.
  [[nodiscard]] std::vector<uint8_t> mask(int32_t layer, int32_t position, int32_t ratio,
                                          size_t num_columns) const {
    std::vector<uint8_t> row(num_columns, 0);
    const auto found = selections.find({layer, position});
    if (found == selections.end()) {
      ADD_FAILURE() << "layer " << layer << " told nothing of position " << position;
      return row;
    }
    for (const int32_t block : found->second.blocks) {
      for (int32_t i = 0; i < ratio; ++i) {
        row.at(static_cast<size_t>(block) * static_cast<size_t>(ratio) + static_cast<size_t>(i)) =
            1;
      }
    }
    for (int32_t i = (position + 1) / ratio * ratio; i <= position; ++i) {
      row.at(static_cast<size_t>(i)) = 1;
    }
    return row;
  }

  std::map<std::pair<int32_t, int32_t>, Selection> selections;
  int64_t num_spans = 0;
  int64_t num_bad_spans = 0;
  bool seen[static_cast<size_t>(OperatorId::kCount)] = {};
};

}  // namespace ifr::test
