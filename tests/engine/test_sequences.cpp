// SPDX-License-Identifier: Apache-2.0
// Sequences that go back, fork, leave as bytes and come in again: always as if they had been fed
// from the start.
#include <algorithm>
#include <functional>

#include "engine_cases.h"
#include "support/gguf_builder.h"

namespace ifr::test {

namespace {

constexpr int32_t kContext = 320;

class Sequences : public testing::TestWithParam<const char*> {
 protected:
  Sequences() : loaded_(path(), 0, options()), workspace_(loaded_.workspace(64)) {}

  [[nodiscard]] static std::string path() {
    if (std::string(GetParam()) == "micro") {
      return kMicro;
    }
    std::string b = make_temporary_folder("sequences") + "/b.gguf";
    write_file(b, make_gguf_b({.context_length = 512}).build());
    return b;
  }
  [[nodiscard]] static EngineOptions options() {
    return {.sparse_budget_tokens = std::string(GetParam()) == "b_sparse" ? 80 : 0};
  }
  [[nodiscard]] bool is_recurrent() const { return loaded_.engine->info().session_bytes > 0; }
  [[nodiscard]] std::unique_ptr<Sequence> make(int32_t num_checkpoints) const {
    Expected<std::unique_ptr<Sequence>> made =
        loaded_.engine->create_sequence(kContext, {.num_checkpoints = num_checkpoints});
    EXPECT_TRUE(made.is_ok()) << made.status().message();
    return made.is_ok() ? std::move(made).value() : nullptr;
  }
  [[nodiscard]] std::vector<int32_t> ids(size_t count, int32_t seed = 1) const {
    return some_ids(count, static_cast<int32_t>(loaded_.vocab()), seed);
  }
  // The last row of logits.
  std::vector<float> feed(Sequence& sequence, std::span<const int32_t> tokens) {
    std::vector<float> logits;
    const Status status = last_logits(loaded_, sequence, *workspace_, tokens, logits);
    EXPECT_TRUE(status.is_ok()) << status.message();
    return logits;
  }
  std::vector<float> cold(std::span<const int32_t> tokens) {
    const std::unique_ptr<Sequence> sequence = make(0);
    return feed(*sequence, tokens);
  }
  // What export_state gives.
  [[nodiscard]] std::vector<std::byte> state(const Sequence& sequence) const {
    std::vector<std::byte> bytes(loaded_.engine->state_bytes(sequence.num_tokens()));
    const Status status = loaded_.engine->export_state(sequence, bytes);
    EXPECT_TRUE(status.is_ok()) << status.message();
    return bytes;
  }

  LoadedEngine loaded_;
  std::unique_ptr<StepWorkspace> workspace_;
};

std::vector<int32_t> joined(std::span<const int32_t> a, std::span<const int32_t> b) {
  std::vector<int32_t> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// Case K03 below the sessions: two inputs of 300 tokens that are equal up to d.
TEST_P(Sequences, GoBackToACommonBeginning) {
  const std::vector<int32_t> first = ids(300);
  const std::vector<int32_t> different = ids(300, 2);
  for (const int32_t d : {0, 1, 3, 4, 5, 63, 64, 65, 127, 253, 255, 256, 299}) {
    SCOPED_TRACE(d);
    const std::unique_ptr<Sequence> sequence = make(8);
    for (size_t begin = 0; begin < first.size(); begin += 50) {
      (void)feed(*sequence, std::span(first).subspan(begin, 50));
      sequence->save_checkpoint();
    }
    const std::vector<int32_t> second =
        joined(std::span(first).first(static_cast<size_t>(d)),
               std::span(different).subspan(static_cast<size_t>(d)));
    const int32_t kept = sequence->rewindable_tokens(d);
    EXPECT_LE(kept, d);
    EXPECT_EQ(kept, is_recurrent() ? d / 50 * 50 : d);
    ASSERT_TRUE(sequence->rewind(kept).is_ok());
    EXPECT_EQ(sequence->num_tokens(), kept);
    const std::vector<float> logits =
        feed(*sequence, std::span(second).subspan(static_cast<size_t>(kept)));
    EXPECT_TRUE(same_bits(logits, cold(second)));
  }
}

TEST_P(Sequences, GoBackTwiceAndToTheBeginning) {
  const std::vector<int32_t> tokens = ids(200);
  const std::unique_ptr<Sequence> sequence = make(2);
  (void)feed(*sequence, std::span(tokens).first(70));
  sequence->save_checkpoint();
  const std::vector<float> logits = feed(*sequence, std::span(tokens).subspan(70));
  for (int32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(sequence->rewind(70).is_ok());
    EXPECT_TRUE(same_bits(feed(*sequence, std::span(tokens).subspan(70)), logits));
  }
  ASSERT_TRUE(sequence->rewind(0).is_ok());
  EXPECT_EQ(sequence->newest_checkpoint(), 0);
  EXPECT_TRUE(same_bits(feed(*sequence, tokens), logits));
}

TEST_P(Sequences, RefuseToGoWhereTheyCannot) {
  const std::unique_ptr<Sequence> sequence = make(1);
  const std::vector<int32_t> tokens = ids(100);
  (void)feed(*sequence, tokens);
  EXPECT_EQ(sequence->rewindable_tokens(1000), 100);
  EXPECT_EQ(sequence->rewindable_tokens(-1), 0);
  for (const int32_t wrong : {-1, 101, INT32_MAX}) {
    EXPECT_EQ(sequence->rewind(wrong).code(), Code::kInvalidArgument) << wrong;
  }
  EXPECT_EQ(sequence->rewind(50).is_ok(), !is_recurrent());
  if (is_recurrent()) {
    EXPECT_EQ(sequence->num_tokens(), 100);
    EXPECT_TRUE(same_bits(feed(*sequence, std::span(tokens).first(1)),
                          cold(joined(tokens, std::span(tokens).first(1)))));
  }
}

TEST_P(Sequences, KeepCheckpointsApart) {
  if (!is_recurrent()) {
    const std::unique_ptr<Sequence> sequence = make(4);
    (void)feed(*sequence, ids(9));
    EXPECT_EQ(sequence->newest_checkpoint(), 9);
    return;
  }
  const std::unique_ptr<Sequence> sequence = make(3);
  const std::vector<int32_t> tokens = ids(130);
  size_t fed = 0;
  for (const size_t position : {10, 20, 100, 101, 120}) {
    (void)feed(*sequence, std::span(tokens).subspan(fed, position - fed));
    fed = position;
    sequence->save_checkpoint();
    sequence->save_checkpoint();  // a second at the same place takes no room
  }
  // 100 and 101 stood closest; one of them and 20 or 10 gave way.
  EXPECT_EQ(sequence->newest_checkpoint(), 120);
  EXPECT_EQ(sequence->rewindable_tokens(119), 100);
  EXPECT_GT(sequence->rewindable_tokens(99), 0);
  ASSERT_TRUE(sequence->rewind(100).is_ok());
  EXPECT_TRUE(same_bits(feed(*sequence, std::span(tokens).subspan(100)), cold(tokens)));
}

TEST_P(Sequences, ForkIntoTwoThatDoNotSeeEachOther) {
  const std::vector<int32_t> begin = ids(100);
  const std::vector<int32_t> a = ids(60, 3);
  const std::vector<int32_t> b = ids(60, 4);
  std::unique_ptr<Sequence> source = make(2);
  (void)feed(*source, std::span(begin).first(90));
  source->save_checkpoint();
  (void)feed(*source, std::span(begin).subspan(90));
  const std::vector<std::byte> before = state(*source);

  Expected<std::unique_ptr<Sequence>> forked = loaded_.engine->fork(*source);
  ASSERT_TRUE(forked.is_ok()) << forked.status().message();
  const std::unique_ptr<Sequence> other = std::move(forked).value();
  EXPECT_EQ(state(*other), before);
  const std::vector<float> logits_a = feed(*other, a);
  EXPECT_EQ(state(*source), before);
  EXPECT_TRUE(same_bits(logits_a, cold(joined(begin, a))));
  // The checkpoint came along, as a copy.
  ASSERT_TRUE(source->rewind(90).is_ok());
  ASSERT_TRUE(other->rewind(90).is_ok());
  source.reset();
  EXPECT_TRUE(
      same_bits(feed(*other, joined(std::span(begin).subspan(90), b)), cold(joined(begin, b))));
}

TEST_P(Sequences, LeaveAsBytesAndComeBack) {
  const std::vector<int32_t> more = ids(20, 5);
  for (const size_t length : {0, 1, 3, 63, 64, 65, 200}) {
    SCOPED_TRACE(length);
    const std::vector<int32_t> begin = ids(length);
    const std::unique_ptr<Sequence> source = make(0);
    if (length > 0) {
      (void)feed(*source, begin);
    }
    const std::vector<std::byte> bytes = state(*source);
    const std::unique_ptr<Sequence> target = make(1);
    (void)feed(*target, ids(150, 6));  // something else before
    ASSERT_TRUE(loaded_.engine->import_state(*target, static_cast<int32_t>(length), bytes).is_ok());
    EXPECT_EQ(target->num_tokens(), static_cast<int32_t>(length));
    EXPECT_EQ(state(*target), bytes);
    EXPECT_TRUE(same_bits(feed(*target, more), cold(joined(begin, more))));
    EXPECT_EQ(target->rewindable_tokens(static_cast<int32_t>(length)),
              static_cast<int32_t>(length));
  }
}

// Equal whatever lay in the memory before, and however the tokens came. (Places of a recurrent
// state that nothing reads keep what the chunks left there.)
TEST_P(Sequences, SameStateGivesTheSameBytes) {
  const std::vector<int32_t> tokens = ids(150);
  const std::unique_ptr<Sequence> whole = make(0);
  (void)feed(*whole, tokens);
  const std::unique_ptr<Sequence> pieces = make(4);
  (void)feed(*pieces, ids(300, 9));
  pieces->reset();
  for (size_t i = 0; i < tokens.size(); i += 7) {
    (void)feed(*pieces, std::span(tokens).subspan(i, std::min<size_t>(7, tokens.size() - i)));
  }
  if (!is_recurrent()) {
    EXPECT_EQ(state(*whole), state(*pieces));
  }
  const std::vector<int32_t> more = ids(5, 2);
  EXPECT_TRUE(same_bits(feed(*whole, more), feed(*pieces, more)));
}

TEST_P(Sequences, RefuseForeignAndMismatchedStates) {
  const LoadedEngine other(path(), 0, options());
  const std::unique_ptr<Sequence> own = make(0);
  (void)feed(*own, ids(10));
  EXPECT_EQ(other.engine->fork(*own).status().code(), Code::kInvalidArgument);
  std::vector<std::byte> bytes = state(*own);
  EXPECT_EQ(other.engine->export_state(*own, bytes).code(), Code::kInvalidArgument);
  EXPECT_EQ(other.engine->import_state(*own, 10, bytes).code(), Code::kInvalidArgument);
  const std::span<const std::byte> all = bytes;
  const Engine& engine = *loaded_.engine;
  EXPECT_EQ(engine.import_state(*own, 11, all).code(), Code::kInvalidArgument);
  EXPECT_EQ(engine.import_state(*own, -1, all).code(), Code::kInvalidArgument);
  EXPECT_EQ(engine.import_state(*own, kContext + 1, all).code(), Code::kInvalidArgument);
  EXPECT_EQ(engine.import_state(*own, 10, all.first(all.size() - 1)).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(engine.export_state(*own, std::span(bytes).first(bytes.size() - 1)).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(state(*own), bytes);
  EXPECT_EQ(other.engine->state_layout(), engine.state_layout());
}

TEST_P(Sequences, CheckpointsAreCountedAndBounded) {
  for (const int32_t wrong : {-1, kMaxCheckpoints + 1}) {
    EXPECT_EQ(loaded_.engine->create_sequence(kContext, {.num_checkpoints = wrong}).status().code(),
              Code::kInvalidArgument);
  }
  const uint64_t before = loaded_.budget.used_bytes();
  const std::unique_ptr<Sequence> none = make(0);
  const uint64_t without = loaded_.budget.used_bytes() - before;
  const std::unique_ptr<Sequence> four = make(4);
  const uint64_t with = loaded_.budget.used_bytes() - before - without;
  EXPECT_EQ(with - without, 4 * loaded_.engine->info().session_bytes);
}

INSTANTIATE_TEST_SUITE_P(Models, Sequences, testing::Values("micro", "b", "b_sparse"),
                         [](const auto& info) { return std::string(info.param); });

TEST(SequenceLayout, TellsModelsApart) {
  const std::string b = make_temporary_folder("sequence_layout") + "/b.gguf";
  write_file(b, make_gguf_b().build());
  const uint64_t layout = LoadedEngine(b).engine->state_layout();
  EXPECT_NE(layout, LoadedEngine(kMicro).engine->state_layout());
  const uint64_t sparse = LoadedEngine(b, 0, {.sparse_budget_tokens = 64}).engine->state_layout();
  EXPECT_NE(layout, sparse);
  EXPECT_NE(sparse, LoadedEngine(b, 0, {.sparse_budget_tokens = 80}).engine->state_layout());
}

}  // namespace

}  // namespace ifr::test
