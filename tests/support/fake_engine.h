// SPDX-License-Identifier: Apache-2.0
// A model without mathematics: what it says is a function of the conversation, how long it takes
// and where it fails is the test's choice.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "engine/engine.h"
#include "schedule/model_loader.h"

namespace ifr::test {

// The behaviour of a fake model; shared by the test and the engine, outlives both.
struct FakeScript {
  // The next token of a conversation; by default it depends on every token so far.
  std::function<int32_t(std::span<const int32_t>)> next = [](std::span<const int32_t> tokens) {
    uint32_t hash = 2166136261U;
    for (const int32_t token : tokens) {
      hash = (hash ^ static_cast<uint32_t>(token)) * 16777619U;
    }
    return static_cast<int32_t>(hash % 200U);
  };
  int32_t vocab_size = 256;
  int32_t context_tokens = 4096;
  std::vector<int32_t> selecting_layers;
  int32_t selection_max_blocks = 8;
  std::chrono::microseconds step_time{0};
  std::chrono::microseconds token_time{0};  // more for each token of a step
  std::atomic<std::chrono::milliseconds> load_time{std::chrono::milliseconds(0)};
  Status load_failure;
  int32_t fail_at_step = -1;  // counted over all sequences
  bool throw_at_step = false;
  bool recurrent = false;  // only checkpoints can be gone back to

  // What happened.
  std::atomic<int32_t> num_steps{0};
  std::atomic<int32_t> longest_step{0};
  std::atomic<int32_t> num_sequences{0};
  std::atomic<int32_t> num_engines{0};
  std::mutex mutex;
  std::vector<int32_t> order;  // id of the sequence of each step

  // A gate that steps pass one permit each, once closed.
  void close_gate() {
    const std::lock_guard lock(mutex);
    permits_ = 0;
  }
  void permit(int32_t count) {
    const std::lock_guard lock(mutex);
    permits_ = *permits_ + count;
    gate_.notify_all();
  }
  void open_gate() {
    const std::lock_guard lock(mutex);
    permits_.reset();
    gate_.notify_all();
  }
  void pass_gate() {
    std::unique_lock lock(mutex);
    gate_.wait(lock, [this] { return !permits_ || *permits_ > 0; });
    if (permits_) {
      --*permits_;
    }
  }

 private:
  std::optional<int32_t> permits_;
  std::condition_variable gate_;
};

class FakeSequence final : public Sequence {
 public:
  FakeSequence(FakeScript& script, int32_t id, int32_t context, Reservation reservation)
      : script_(script), id_(id), context_(context), reservation_(std::move(reservation)) {
    ++script_.num_sequences;
  }
  ~FakeSequence() override { --script_.num_sequences; }
  FakeSequence(const FakeSequence&) = delete;
  FakeSequence& operator=(const FakeSequence&) = delete;

  [[nodiscard]] int32_t num_tokens() const override { return static_cast<int32_t>(fed_.size()); }
  [[nodiscard]] int32_t context_tokens() const override { return context_; }
  void reset() override {
    fed_.clear();
    checkpoints_.clear();
  }
  // As a model with recurrent states when the script says so.
  [[nodiscard]] int32_t rewindable_tokens(int32_t num_tokens) const override {
    const int32_t wanted = std::clamp(num_tokens, 0, this->num_tokens());
    if (!script_.recurrent || wanted == this->num_tokens()) {
      return wanted;
    }
    int32_t best = 0;
    for (const int32_t checkpoint : checkpoints_) {
      best = checkpoint <= wanted ? std::max(best, checkpoint) : best;
    }
    return best;
  }
  [[nodiscard]] Status rewind(int32_t num_tokens) override {
    if (num_tokens != rewindable_tokens(num_tokens)) {
      return make_error(Code::kInvalidArgument, Part::kEngine, "the fake cannot go back to %d",
                        num_tokens);
    }
    std::erase_if(checkpoints_, [&](int32_t entry) { return entry > num_tokens; });
    fed_.resize(static_cast<size_t>(num_tokens));
    return {};
  }
  void save_checkpoint() override {
    if (newest_checkpoint() != num_tokens()) {
      checkpoints_.push_back(num_tokens());
    }
  }
  [[nodiscard]] int32_t newest_checkpoint() const override {
    return !script_.recurrent ? num_tokens() : checkpoints_.empty() ? 0 : checkpoints_.back();
  }

 private:
  friend class FakeEngine;
  FakeScript& script_;
  int32_t id_;
  int32_t context_;
  Reservation reservation_;
  std::vector<int32_t> fed_;
  std::vector<int32_t> checkpoints_;  // ascending
};

class FakeWorkspace final : public StepWorkspace {
 public:
  explicit FakeWorkspace(int32_t max_chunk_tokens) : max_chunk_tokens_(max_chunk_tokens) {}
  [[nodiscard]] int32_t max_chunk_tokens() const override { return max_chunk_tokens_; }

 private:
  int32_t max_chunk_tokens_;
};

class FakeEngine final : public Engine {
 public:
  static constexpr uint64_t kWeightBytes = 1000;
  static constexpr uint64_t kBytesPerToken = 10;

  FakeEngine(FakeScript& script, MemoryBudget& budget, Reservation weights)
      : script_(script), budget_(budget), weights_(std::move(weights)) {
    info_.architecture = "fake";
    info_.num_layers = 8;
    info_.vocab_size = script.vocab_size;
    info_.context_tokens = script.context_tokens;
    info_.weight_bytes = kWeightBytes;
    info_.context_bytes_per_token = kBytesPerToken;
    info_.selecting_layers = script.selecting_layers;
    info_.selection_block_tokens = 4;
    info_.selection_max_blocks = script.selection_max_blocks;
    ++script_.num_engines;
  }
  ~FakeEngine() override { --script_.num_engines; }
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  [[nodiscard]] const EngineInfo& info() const override { return info_; }
  [[nodiscard]] const ModelFile& file() const override {
    throw std::logic_error("a fake model has no file");
  }

  using Engine::create_sequence;
  [[nodiscard]] Expected<std::unique_ptr<Sequence>> create_sequence(
      int32_t context_tokens, const SequenceOptions& /*options*/) const override {
    IFR_ASSIGN_OR_RETURN(
        Reservation reservation,
        budget_.reserve(MemoryKind::kCache, kBytesPerToken * static_cast<uint64_t>(context_tokens),
                        "the caches of a session"));
    return std::unique_ptr<Sequence>(std::make_unique<FakeSequence>(
        script_, next_id_.fetch_add(1), context_tokens, std::move(reservation)));
  }
  [[nodiscard]] Expected<std::unique_ptr<StepWorkspace>> create_workspace(
      int32_t max_chunk_tokens) const override {
    return std::unique_ptr<StepWorkspace>(std::make_unique<FakeWorkspace>(max_chunk_tokens));
  }

  [[nodiscard]] Expected<std::unique_ptr<Sequence>> fork(const Sequence& source) const override {
    const auto& from = static_cast<const FakeSequence&>(source);
    IFR_ASSIGN_OR_RETURN(std::unique_ptr<Sequence> made,
                         create_sequence(from.context_, SequenceOptions{}));
    auto& to = static_cast<FakeSequence&>(*made);
    to.fed_ = from.fed_;
    to.checkpoints_ = from.checkpoints_;
    return made;
  }
  [[nodiscard]] uint64_t state_bytes(int32_t num_tokens) const override {
    return static_cast<uint64_t>(num_tokens) * sizeof(int32_t);
  }
  [[nodiscard]] uint64_t state_layout() const override { return 1; }
  [[nodiscard]] Status export_state(const Sequence& sequence,
                                    std::span<std::byte> out) const override {
    const auto& from = static_cast<const FakeSequence&>(sequence);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(from.fed_));
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return {};
  }
  [[nodiscard]] Status import_state(Sequence& sequence, int32_t num_tokens,
                                    std::span<const std::byte> state) const override {
    auto& to = static_cast<FakeSequence&>(sequence);
    to.reset();
    to.fed_.resize(static_cast<size_t>(num_tokens));
    std::copy(state.begin(), state.end(), std::as_writable_bytes(std::span(to.fed_)).begin());
    to.save_checkpoint();
    return {};
  }

  [[nodiscard]] Status step(Sequence& sequence, StepWorkspace& workspace,
                            kernels::CpuExecutor& /*executor*/, std::span<const int32_t> token_ids,
                            const StepOptions& options, std::span<float> logits) const override {
    auto& self = static_cast<FakeSequence&>(sequence);
    script_.pass_gate();
    const uint64_t begin_ns = monotonic_ns();
    const int32_t step = script_.num_steps.fetch_add(1);
    const auto num_tokens = static_cast<int32_t>(token_ids.size());
    if (script_.fail_at_step == step) {
      if (script_.throw_at_step) {
        throw std::runtime_error("the fake step throws");
      }
      return make_error(Code::kIo, Part::kEngine, "the fake step fails");
    }
    if (num_tokens < 1 || num_tokens > workspace.max_chunk_tokens() ||
        self.num_tokens() + num_tokens > self.context_) {
      return make_error(Code::kInternal, Part::kEngine, "a step of %d tokens at %d of %d",
                        num_tokens, self.num_tokens(), self.context_);
    }
    const auto pause = script_.step_time + script_.token_time * num_tokens;
    if (pause.count() > 0) {
      std::this_thread::sleep_for(pause);
    }
    script_.longest_step = std::max(script_.longest_step.load(), num_tokens);
    {
      const std::lock_guard lock(script_.mutex);
      script_.order.push_back(self.id_);
    }
    for (const int32_t token : token_ids) {
      self.fed_.push_back(token);
      observe(options.observer, self, begin_ns);
    }
    if (options.logits_rows == LogitsRows::kLast) {
      std::fill(logits.begin(), logits.end(), -10.0F);
      const int32_t next = script_.next(self.fed_);
      if (next >= 0) {
        logits[static_cast<size_t>(next)] = 10.0F;
      } else {
        std::fill(logits.begin(), logits.end(), -std::numeric_limits<float>::infinity());
      }
    }
    return {};
  }

 private:
  void observe(StepObserver* observer, const FakeSequence& sequence, uint64_t begin_ns) const {
    if (observer == nullptr) {
      return;
    }
    observer->on_operator({.id = OperatorId::kLinear,
                           .layer = 0,
                           .begin_ns = begin_ns,
                           .end_ns = begin_ns + 1000,
                           .bytes = 64,
                           .flops = 128});
    const int32_t position = sequence.num_tokens() - 1;
    for (const int32_t layer : script_.selecting_layers) {
      const std::array<int32_t, 3> block_idx = {position, layer, 7};
      const std::array<float, 3> scores = {3.0F, 2.0F, 1.0F};
      observer->on_selection({.layer = layer,
                              .query_position = position,
                              .num_visible_blocks = (position + 1) / 4,
                              .block_idx = block_idx,
                              .scores = scores});
    }
  }

  FakeScript& script_;
  MemoryBudget& budget_;
  Reservation weights_;
  EngineInfo info_;
  mutable std::atomic<int32_t> next_id_{0};
};

// Ids 0..199 are the bytes of the same value (text must stay below 200), 200.. are `pieces`.
class FakeCodec final : public TextCodec {
 public:
  static constexpr int32_t kFirstPiece = 200;
  explicit FakeCodec(std::vector<std::string> pieces, std::set<int32_t> control = {},
                     std::vector<int32_t> ends = {})
      : control_(std::move(control)), ends_(std::move(ends)) {
    for (int32_t id = 0; id < kFirstPiece; ++id) {
      texts_.emplace_back(1, static_cast<char>(id));
    }
    texts_.insert(texts_.end(), pieces.begin(), pieces.end());
  }

  [[nodiscard]] Expected<std::vector<int32_t>> encode(
      std::string_view text, SpecialTokens /*special*/,
      std::optional<int32_t> /*last_id*/) const override {
    std::vector<int32_t> ids;
    for (const char byte : text) {
      ids.push_back(static_cast<unsigned char>(byte));
    }
    return ids;
  }
  [[nodiscard]] Expected<std::vector<int32_t>> encode_messages(
      std::span<const ChatMessage> messages, std::optional<int32_t> last_id) const override {
    std::vector<int32_t> ids = {last_id ? 1 : 0};
    for (const ChatMessage& message : messages) {
      for (const char byte : message.content) {
        ids.push_back(static_cast<unsigned char>(byte));
      }
    }
    return ids;
  }
  [[nodiscard]] bool has_chat_form() const override { return true; }
  [[nodiscard]] std::string_view token_bytes(int32_t id) const override {
    return static_cast<size_t>(id) < texts_.size()
               ? std::string_view(texts_[static_cast<size_t>(id)])
               : std::string_view();
  }
  [[nodiscard]] bool is_control(int32_t id) const override { return control_.contains(id); }
  [[nodiscard]] std::span<const int32_t> end_tokens() const override { return ends_; }

 private:
  std::vector<std::string> texts_;
  std::set<int32_t> control_;
  std::vector<int32_t> ends_;
};

class FakeLoader final : public ModelLoader {
 public:
  using MakeCodec = std::function<std::unique_ptr<TextCodec>()>;
  explicit FakeLoader(FakeScript& script, MakeCodec make_codec = {})
      : script_(script), make_codec_(std::move(make_codec)) {}

  [[nodiscard]] Expected<LoadedModel> load(const std::string& path, MemoryBudget& budget,
                                           LoadProgress& progress,
                                           const LogSink& /*log*/) const override {
    constexpr uint64_t kParts = 100;
    progress.total_bytes = kParts;
    const uint64_t end_ns =
        monotonic_ns() + static_cast<uint64_t>(script_.load_time.load().count()) * 1'000'000;
    while (monotonic_ns() < end_ns) {
      if (progress.cancel) {
        return make_error(Code::kCancelled, Part::kEngine, "loading '%s' was cancelled",
                          path.c_str());
      }
      progress.done_bytes = std::min<uint64_t>(progress.done_bytes + 1, kParts);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    IFR_TRY(script_.load_failure);
    progress.done_bytes = kParts;
    IFR_ASSIGN_OR_RETURN(
        Reservation weights,
        budget.reserve(MemoryKind::kWeights, FakeEngine::kWeightBytes, "the weights"));
    LoadedModel loaded;
    loaded.engine = std::make_unique<FakeEngine>(script_, budget, std::move(weights));
    loaded.name = "fake";
    if (make_codec_) {
      loaded.codec = make_codec_();
      const std::span<const int32_t> ends = loaded.codec->end_tokens();
      loaded.end_tokens.assign(ends.begin(), ends.end());
    }
    return loaded;
  }

 private:
  FakeScript& script_;
  MakeCodec make_codec_;
};

}  // namespace ifr::test
