// SPDX-License-Identifier: Apache-2.0
// What an engine refuses, keeps and gives back: budgets, cancel, contexts, other
// threads.
#include <atomic>
#include <thread>

#include "engine_cases.h"
#include "model/byte_source.h"
#include "support/gguf_builder.h"

namespace ifr::test {

namespace {

std::unique_ptr<ModelFile> open_bytes(std::unique_ptr<ByteSource> source) {
  Expected<std::unique_ptr<ModelFile>> file = ModelFile::open_gguf(std::move(source));
  EXPECT_TRUE(file.is_ok()) << file.status().message();
  return file.is_ok() ? std::move(file).value() : nullptr;
}

// Passes reads on until `fail_at`; calls `on_read` before each.
class WatchedSource final : public ByteSource {
 public:
  struct Watch {
    std::atomic<int64_t> num_reads{0};
    std::atomic<int64_t> fail_at{-1};
    std::atomic<size_t> longest_read{0};
    LoadProgress* cancel_at_read_5 = nullptr;
  };
  WatchedSource(std::span<const std::byte> bytes, Watch& watch)
      : inner_("watched", bytes), watch_(watch) {}
  [[nodiscard]] uint64_t size_bytes() const override { return inner_.size_bytes(); }
  [[nodiscard]] const std::string& name() const override { return inner_.name(); }
  [[nodiscard]] Status read(uint64_t offset, std::span<std::byte> out) const override {
    const int64_t read = watch_.num_reads.fetch_add(1);
    watch_.longest_read = std::max(watch_.longest_read.load(), out.size());
    if (read == 5 && watch_.cancel_at_read_5 != nullptr) {
      watch_.cancel_at_read_5->cancel = true;
    }
    if (read == watch_.fail_at) {
      return make_error(Code::kIo, Part::kBase, "read %lld failed", static_cast<long long>(read));
    }
    return inner_.read(offset, out);
  }

 private:
  MemorySource inner_;
  Watch& watch_;
};

TEST(EngineLoad, ReportsProgressAndInfo) {
  const LoadedEngine loaded(kMicro);
  ASSERT_TRUE(loaded.is_ok());
  const EngineInfo& info = loaded.engine->info();
  EXPECT_EQ(info.architecture, "qwen4_exp");
  EXPECT_EQ(info.num_layers, 4);
  EXPECT_EQ(info.vocab_size, 256);
  EXPECT_EQ(info.context_tokens, 4096);
  EXPECT_EQ(info.selecting_layers, std::vector<int32_t>{3});
  EXPECT_EQ(info.selection_block_tokens, 4);
  EXPECT_EQ(info.selection_max_blocks, 8);
  EXPECT_GT(loaded.progress.total_bytes.load(), 0U);
  EXPECT_EQ(loaded.progress.done_bytes.load(), loaded.progress.total_bytes.load());
  EXPECT_EQ(loaded.budget.used_bytes(MemoryKind::kWeights), info.weight_bytes);
  EXPECT_EQ(loaded.budget.used_bytes(), info.weight_bytes);
  // 1 layer x 2 heads x 32 channels of keys and of values, and 16 channels of index key every 4.
  EXPECT_EQ(info.context_bytes_per_token, 4U * (2 * 2 * 32 + 16 / 4));
}

TEST(EngineLoad, DescribeTellsTheSameWithoutLoading) {
  const std::string b = make_temporary_folder("engine_describe") + "/b.gguf";
  write_file(b, make_gguf_b().build());
  for (const std::string& path : {b, std::string(kMicro)}) {
    const LoadedEngine loaded(path);
    Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(path);
    ASSERT_TRUE(file.is_ok());
    const EngineInfo described = Engine::describe(**file);
    const EngineInfo& info = loaded.engine->info();
    EXPECT_EQ(described.weight_bytes, info.weight_bytes);
    EXPECT_EQ(described.session_bytes, info.session_bytes);
    EXPECT_EQ(described.context_bytes_per_token, info.context_bytes_per_token);
    EXPECT_EQ(described.num_parameters, info.num_parameters);
    EXPECT_EQ(described.selecting_layers, info.selecting_layers);
    EXPECT_EQ(described.architecture, info.architecture);
  }
}

TEST(EngineLoad, CancelEndsItAndFreesEverything) {
  const std::string bytes = make_gguf_b({.num_layers = 8}).build();
  WatchedSource::Watch watch;
  auto file = open_bytes(std::make_unique<WatchedSource>(std::as_bytes(std::span(bytes)), watch));
  ASSERT_NE(file, nullptr);
  MemoryBudget budget(0);
  LoadProgress progress;
  watch.num_reads = 0;
  watch.cancel_at_read_5 = &progress;
  const auto loaded = Engine::load(std::move(file), budget, progress, LogSink{});
  ASSERT_FALSE(loaded.is_ok());
  EXPECT_EQ(loaded.status().code(), Code::kCancelled);
  EXPECT_EQ(watch.num_reads, 6) << "reads went on after the cancel";
  EXPECT_LE(watch.longest_read, size_t{4} << 20);
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(EngineLoad, AnyFailingReadFreesEverything) {
  const std::string bytes = make_gguf_b().build();
  WatchedSource::Watch watch;
  const auto load = [&](MemoryBudget& budget) {
    LoadProgress progress;
    watch.fail_at = -1;
    auto file = open_bytes(std::make_unique<WatchedSource>(std::as_bytes(std::span(bytes)), watch));
    return Engine::load(std::move(file), budget, progress, LogSink{});
  };
  MemoryBudget budget(0);
  ASSERT_TRUE(load(budget).is_ok());
  ASSERT_EQ(budget.used_bytes(), 0U);
  int64_t num_failures = 0;
  for (int64_t fail_at = 0;; ++fail_at) {
    LoadProgress progress;
    watch.fail_at = -1;
    auto file = open_bytes(std::make_unique<WatchedSource>(std::as_bytes(std::span(bytes)), watch));
    watch.num_reads = 0;
    watch.fail_at = fail_at;
    const auto loaded = Engine::load(std::move(file), budget, progress, LogSink{});
    if (loaded.is_ok()) {
      break;
    }
    ++num_failures;
    EXPECT_EQ(loaded.status().code(), Code::kIo);
    EXPECT_EQ(budget.used_bytes(), 0U);
  }
  EXPECT_GE(num_failures, 20);
}

TEST(EngineLoad, BudgetIsKeptAndNamed) {
  for (const uint64_t limit : {uint64_t{1}, uint64_t{100'000}}) {
    MemoryBudget budget(limit);
    LoadProgress progress;
    Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(kMicro);
    ASSERT_TRUE(file.is_ok());
    const auto loaded = Engine::load(std::move(file).value(), budget, progress, LogSink{});
    ASSERT_FALSE(loaded.is_ok());
    EXPECT_EQ(loaded.status().code(), Code::kOverBudget);
    EXPECT_NE(loaded.status().message().find(std::to_string(limit)), std::string::npos)
        << loaded.status().message();
    EXPECT_EQ(budget.used_bytes(), 0U);
  }
}

TEST(EngineMemory, SequencesAndWorkspacesAreInTheBudget) {
  LoadedEngine loaded(kMicro);
  ASSERT_TRUE(loaded.is_ok());
  const EngineInfo& info = loaded.engine->info();
  const uint64_t before = loaded.budget.used_bytes();
  {
    const auto sequence = loaded.sequence(1000);
    EXPECT_EQ(loaded.budget.used_bytes(MemoryKind::kState), info.session_bytes);
    const uint64_t cache = loaded.budget.used_bytes(MemoryKind::kCache);
    EXPECT_GE(cache, 1000 * info.context_bytes_per_token);
    EXPECT_LE(cache, 1064 * info.context_bytes_per_token + 64);
    const auto workspace = loaded.workspace(64);
    EXPECT_GT(loaded.budget.used_bytes(MemoryKind::kState), info.session_bytes);
    const auto second = loaded.sequence(1000);
    EXPECT_EQ(loaded.budget.used_bytes(MemoryKind::kCache), 2 * cache);
  }
  EXPECT_EQ(loaded.budget.used_bytes(), before);
}

TEST(EngineMemory, SequenceThatDoesNotFitIsRefusedWhole) {
  Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(kMicro);
  ASSERT_TRUE(file.is_ok());
  const EngineInfo info = Engine::describe(**file);
  // From nothing left to just short of enough, so that each of its parts is the one refused.
  const uint64_t need = info.session_bytes + 512 * info.context_bytes_per_token;
  for (uint64_t room = 0; room < need; room += need / 16) {
    LoadedEngine loaded(kMicro, info.weight_bytes + room);
    ASSERT_TRUE(loaded.is_ok());
    const auto sequence = loaded.engine->create_sequence(512);
    ASSERT_FALSE(sequence.is_ok());
    EXPECT_EQ(sequence.status().code(), Code::kOverBudget) << sequence.status().message();
    EXPECT_EQ(loaded.budget.used_bytes(), info.weight_bytes);
  }
  LoadedEngine loaded(kMicro, info.weight_bytes + need);
  EXPECT_TRUE(loaded.engine->create_sequence(512).is_ok());
  EXPECT_FALSE(loaded.engine->create_workspace(4096).is_ok());
}

TEST(EngineStep, ContextFullIsRefusedUnchanged) {
  const std::string b = make_temporary_folder("engine_context") + "/b.gguf";
  write_file(b, make_gguf_b().build());
  for (const std::string& path : {b, std::string(kMicro)}) {
    SCOPED_TRACE(path);
    const LoadedEngine loaded(path);
    ASSERT_TRUE(loaded.is_ok());
    const auto workspace = loaded.workspace(32);
    const std::vector<int32_t> ids = some_ids(100'000, static_cast<int32_t>(loaded.vocab()));
    std::vector<float> cold;
    const auto fresh = loaded.sequence(64);
    ASSERT_TRUE(last_logits(loaded, *fresh, *workspace, std::span(ids).first(64), cold).is_ok());
    for (const size_t kept : {size_t{0}, size_t{40}}) {
      const auto sequence = loaded.sequence(64);
      std::vector<float> logits;
      if (kept > 0) {
        ASSERT_TRUE(
            last_logits(loaded, *sequence, *workspace, std::span(ids).first(kept), logits).is_ok());
      }
      for (const size_t total : {size_t{65}, size_t{66}, size_t{100'000}}) {
        const std::span<const int32_t> more = std::span(ids).subspan(kept, total - kept);
        const Status status = last_logits(loaded, *sequence, *workspace, more, logits);
        EXPECT_EQ(status.code(), Code::kContextFull);
        EXPECT_NE(status.message().find(std::to_string(more.size())), std::string::npos);
        EXPECT_NE(status.message().find(std::to_string(64 - kept)), std::string::npos);
        EXPECT_EQ(sequence->num_tokens(), static_cast<int32_t>(kept));
      }
      // The next answer equals a cold one, and the context fills to its last place.
      ASSERT_TRUE(last_logits(loaded, *sequence, *workspace,
                              std::span(ids).subspan(kept, 64 - kept), logits)
                      .is_ok());
      EXPECT_TRUE(same_bits(logits, cold));
      EXPECT_EQ(last_logits(loaded, *sequence, *workspace, std::span(ids).first(1), logits).code(),
                Code::kContextFull);
      sequence->reset();
      EXPECT_EQ(sequence->num_tokens(), 0);
      ASSERT_TRUE(
          last_logits(loaded, *sequence, *workspace, std::span(ids).first(64), logits).is_ok());
      EXPECT_TRUE(same_bits(logits, cold));
    }
  }
}

TEST(EngineStep, WrongArgumentsAreRefusedUnchanged) {
  const LoadedEngine loaded(kMicro);
  const LoadedEngine other(kMicro);
  const auto sequence = loaded.sequence(64);
  const auto workspace = loaded.workspace(16);
  const auto foreign_sequence = other.sequence(64);
  const auto foreign_workspace = other.workspace(16);
  std::vector<float> logits;
  const std::vector<int32_t> good = {1, 2, 3};
  for (const int32_t bad : {-1, 256, INT32_MAX, INT32_MIN}) {
    const std::vector<int32_t> ids = {1, 2, bad};
    const Status status = last_logits(loaded, *sequence, *workspace, ids, logits);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(std::to_string(bad)), std::string::npos);
  }
  EXPECT_EQ(last_logits(loaded, *sequence, *workspace, {}, logits).code(), Code::kInvalidArgument);
  EXPECT_EQ(last_logits(loaded, *foreign_sequence, *workspace, good, logits).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(last_logits(loaded, *sequence, *foreign_workspace, good, logits).code(),
            Code::kInvalidArgument);
  kernels::CpuExecutor executor(1);
  std::vector<float> too_small(loaded.vocab() * 2);
  EXPECT_EQ(loaded.engine
                ->step(*sequence, *workspace, executor, good, {.logits_rows = LogitsRows::kAll},
                       too_small)
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(sequence->num_tokens(), 0);
  for (const int32_t context : {0, -1, 4097, INT32_MAX}) {
    EXPECT_EQ(loaded.engine->create_sequence(context).status().code(), Code::kInvalidArgument);
  }
  for (const int32_t chunk : {0, -1, INT32_MAX}) {
    EXPECT_EQ(loaded.engine->create_workspace(chunk).status().code(), Code::kInvalidArgument);
  }
}

TEST(EngineStep, RowsAskedForAreTheSameNumbers) {
  const LoadedEngine loaded(kMicro);
  const auto workspace = loaded.workspace(16);
  const std::vector<int32_t> ids = some_ids(50, 256);
  kernels::CpuExecutor executor(1);
  std::vector<float> all(ids.size() * loaded.vocab());
  const auto a = loaded.sequence(51);
  ASSERT_TRUE(
      loaded.engine->step(*a, *workspace, executor, ids, {.logits_rows = LogitsRows::kAll}, all)
          .is_ok());
  std::vector<float> last;
  const auto b = loaded.sequence(51);
  ASSERT_TRUE(last_logits(loaded, *b, *workspace, ids, last).is_ok());
  EXPECT_TRUE(
      same_bits(last, {all.end() - static_cast<std::ptrdiff_t>(loaded.vocab()), all.end()}));
  const auto c = loaded.sequence(51);
  ASSERT_TRUE(
      loaded.engine->step(*c, *workspace, executor, ids, {.logits_rows = LogitsRows::kNone}, {})
          .is_ok());
  EXPECT_EQ(c->num_tokens(), 50);
  std::vector<float> next_b;
  std::vector<float> next_c;
  ASSERT_TRUE(last_logits(loaded, *b, *workspace, std::span(ids).first(1), next_b).is_ok());
  ASSERT_TRUE(last_logits(loaded, *c, *workspace, std::span(ids).first(1), next_c).is_ok());
  EXPECT_TRUE(same_bits(next_b, next_c));
}

TEST(EngineSequences, InterleavedAndReusedEqualAlone) {
  const std::string b = make_temporary_folder("engine_interleaved") + "/b.gguf";
  write_file(b, make_gguf_b().build());
  for (const std::string& path : {b, std::string(kMicro)}) {
    SCOPED_TRACE(path);
    const LoadedEngine loaded(path);
    const auto workspace = loaded.workspace(64);
    const int32_t vocab = static_cast<int32_t>(loaded.vocab());
    std::vector<std::vector<int32_t>> prompts;
    prompts.reserve(4);
    std::vector<std::vector<float>> alone(4);
    for (int32_t i = 0; i < 4; ++i) {
      prompts.push_back(some_ids(70 + 23 * static_cast<size_t>(i), vocab, i));
      const auto sequence = loaded.sequence(256);
      ASSERT_TRUE(
          last_logits(loaded, *sequence, *workspace, prompts.back(), alone[static_cast<size_t>(i)])
              .is_ok());
    }
    std::vector<std::unique_ptr<Sequence>> sequences(4);
    for (auto& sequence : sequences) {
      sequence = loaded.sequence(256);
    }
    std::vector<float> logits;
    for (size_t at = 0; at < 160; at += 9) {
      for (size_t i = 0; i < 4; ++i) {
        const std::span<const int32_t> rest =
            std::span(prompts[i]).subspan(std::min(at, prompts[i].size()));
        if (!rest.empty()) {
          ASSERT_TRUE(last_logits(loaded, *sequences[i], *workspace,
                                  rest.first(std::min<size_t>(9, rest.size())), logits)
                          .is_ok());
          if (rest.size() <= 9) {
            EXPECT_TRUE(same_bits(logits, alone[i])) << i;
            // Its pages go to another, which must not see them.
            sequences[i] = loaded.sequence(200);
            ASSERT_TRUE(
                last_logits(loaded, *sequences[i], *workspace, prompts[3 - i], logits).is_ok());
            EXPECT_TRUE(same_bits(logits, alone[3 - i])) << i;
          }
        }
      }
    }
  }
}

TEST(EngineSequences, TwoThreadsAtOnce) {
  const LoadedEngine loaded(kMicro);
  std::vector<std::vector<float>> once(2);
  std::vector<std::vector<float>> together(2);
  const auto work = [&](size_t i, std::vector<float>& out) {
    const auto sequence = loaded.sequence(200);
    const auto workspace = loaded.workspace(16);
    const std::vector<int32_t> ids = some_ids(150, 256, static_cast<int32_t>(i));
    EXPECT_TRUE(last_logits(loaded, *sequence, *workspace, ids, out).is_ok());
  };
  for (size_t i = 0; i < 2; ++i) {
    work(i, once[i]);
  }
  std::thread thread([&] { work(0, together[0]); });
  work(1, together[1]);
  thread.join();
  EXPECT_TRUE(same_bits(once[0], together[0]));
  EXPECT_TRUE(same_bits(once[1], together[1]));
}

}  // namespace

}  // namespace ifr::test
