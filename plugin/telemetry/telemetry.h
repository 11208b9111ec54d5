// SPDX-License-Identifier: Apache-2.0
// Counters and times of a runtime: written by the thread that runs the steps, read by any thread
// without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "memory/budget.h"
#include "telemetry/latest_value.h"
#include "telemetry/selection_history.h"
#include "telemetry/step_observer.h"

namespace ifr {

inline constexpr size_t kNumOperators = static_cast<size_t>(OperatorId::kCount);

struct OperatorTotals {
  uint64_t calls = 0;
  uint64_t total_ns = 0;
  uint64_t last_ns = 0;
  uint64_t max_ns = 0;
  uint64_t bytes = 0;
  uint64_t flops = 0;
};

// What happened up to the end of a step; consistent in itself.
struct StepTotals {
  uint64_t model = 0;  // handles of what ran last
  uint64_t session = 0;
  int32_t context_tokens = 0;
  int32_t used_tokens = 0;
  uint64_t prompt_tokens = 0;
  uint64_t generated_tokens = 0;
  uint64_t steps = 0;
  uint64_t step_ns = 0;
  uint64_t selection_rows = 0;
  uint64_t last_decode_ns = 0;  // when the last decoding step ended
  float decode_tokens_per_second = 0.0F;
  float prefill_tokens_per_second = 0.0F;
  float first_token_ms = 0.0F;
  std::array<OperatorTotals, kNumOperators> operators = {};
};

struct MemoryUse {
  uint64_t used_bytes = 0;
  uint64_t limit_bytes = 0;
  uint64_t weight_bytes = 0;
  uint64_t cache_bytes = 0;
  uint64_t state_bytes = 0;
};

// One thread runs steps: it alone calls the functions of the first group.
class Telemetry final : public StepObserver {
 public:
  struct StepEnd {
    uint64_t model = 0;
    uint64_t session = 0;
    int32_t context_tokens = 0;
    int32_t used_tokens = 0;
    int32_t prompt_tokens = 0;     // fed by this step
    int32_t generated_tokens = 0;  // sampled by it
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
  };
  struct FirstToken {
    uint64_t latency_ns = 0;  // since the request was submitted
    uint64_t prefill_ns = 0;  // spent in steps of the prompt
    uint64_t prefill_tokens = 0;
  };

  // The session whose selections come next; null: they are dropped.
  void begin_step(SelectionHistory* selections) { selections_ = selections; }
  void on_operator(const OperatorSpan& span) override;
  void on_selection(const SelectionSpan& span) override;
  void note_first_token(const FirstToken& first);
  void end_step(const StepEnd& end);

  // Any thread.
  void set_enabled(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }
  [[nodiscard]] bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  // Copies what the budget says, which takes its lock: after a load, a session's begin or end.
  void note_memory(const MemoryBudget& budget);
  [[nodiscard]] MemoryUse memory() const;
  // Rates are 0 when their last step is over a second old at now_ns.
  [[nodiscard]] StepTotals read(uint64_t now_ns) const;

 private:
  static constexpr size_t kDecodeWindow = 512;  // steps that the rate looks back on at most
  [[nodiscard]] float decode_rate(uint64_t now_ns) const;

  struct DecodeStep {
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
  };
  StepTotals totals_;
  std::array<DecodeStep, kDecodeWindow> decode_steps_ = {};
  uint64_t num_decode_steps_ = 0;
  SelectionHistory* selections_ = nullptr;

  LatestValue<StepTotals> published_;
  std::atomic<bool> enabled_{true};
  std::atomic<uint64_t> limit_bytes_{0};
  std::array<std::atomic<uint64_t>, static_cast<size_t>(MemoryKind::kCount)> memory_bytes_ = {};
};

}  // namespace ifr
