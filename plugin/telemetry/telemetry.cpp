// SPDX-License-Identifier: Apache-2.0
#include "telemetry/telemetry.h"

#include <algorithm>

namespace ifr {

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

float per_second(uint64_t count, uint64_t elapsed_ns) {
  if (elapsed_ns == 0) {
    return 0.0F;
  }
  return static_cast<float>(static_cast<double>(count) * 1e9 / static_cast<double>(elapsed_ns));
}

}  // namespace

void Telemetry::on_operator(const OperatorSpan& span) {
  const auto idx = static_cast<size_t>(span.id);
  if (idx >= kNumOperators) {
    return;
  }
  OperatorTotals& totals = totals_.operators[idx];
  const uint64_t elapsed_ns = span.end_ns > span.begin_ns ? span.end_ns - span.begin_ns : 0;
  ++totals.calls;
  totals.total_ns += elapsed_ns;
  totals.last_ns = elapsed_ns;
  totals.max_ns = std::max(totals.max_ns, elapsed_ns);
  totals.bytes += static_cast<uint64_t>(std::max<int64_t>(0, span.bytes));
  totals.flops += static_cast<uint64_t>(std::max<int64_t>(0, span.flops));
}

void Telemetry::on_selection(const SelectionSpan& span) {
  ++totals_.selection_rows;
  if (selections_ != nullptr) {
    selections_->record(span);
  }
}

void Telemetry::note_first_token(const FirstToken& first) {
  totals_.first_token_ms = static_cast<float>(static_cast<double>(first.latency_ns) / 1e6);
  totals_.prefill_tokens_per_second = per_second(first.prefill_tokens, first.prefill_ns);
}

float Telemetry::decode_rate(uint64_t now_ns) const {
  const uint64_t since_ns = now_ns > kSecondNs ? now_ns - kSecondNs : 0;
  const uint64_t kept = std::min<uint64_t>(num_decode_steps_, kDecodeWindow);
  uint64_t count = 0;
  uint64_t begin_ns = now_ns;
  while (count < kept) {
    const DecodeStep& step = decode_steps_[(num_decode_steps_ - 1 - count) % kDecodeWindow];
    if (count > 0 && step.end_ns < since_ns) {
      break;
    }
    begin_ns = step.begin_ns;
    ++count;
  }
  return per_second(count, now_ns > begin_ns ? now_ns - begin_ns : 0);
}

void Telemetry::end_step(const StepEnd& end) {
  totals_.model = end.model;
  totals_.session = end.session;
  totals_.context_tokens = end.context_tokens;
  totals_.used_tokens = end.used_tokens;
  totals_.prompt_tokens += static_cast<uint64_t>(end.prompt_tokens);
  totals_.generated_tokens += static_cast<uint64_t>(end.generated_tokens);
  ++totals_.steps;
  totals_.step_ns = end.end_ns > end.begin_ns ? end.end_ns - end.begin_ns : 0;
  if (end.generated_tokens > 0 && end.prompt_tokens == 0) {
    decode_steps_[num_decode_steps_ % kDecodeWindow] = {end.begin_ns, end.end_ns};
    ++num_decode_steps_;
    totals_.last_decode_ns = end.end_ns;
    totals_.decode_tokens_per_second = decode_rate(end.end_ns);
  }
  selections_ = nullptr;
  published_.publish(totals_);
}

void Telemetry::note_memory(const MemoryBudget& budget) {
  for (size_t i = 0; i < memory_bytes_.size(); ++i) {
    memory_bytes_[i].store(budget.used_bytes(static_cast<MemoryKind>(i)),
                           std::memory_order_relaxed);
  }
  limit_bytes_.store(budget.limit_bytes(), std::memory_order_relaxed);
}

MemoryUse Telemetry::memory() const {
  const auto bytes = [this](MemoryKind kind) {
    return memory_bytes_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  };
  MemoryUse use;
  use.weight_bytes = bytes(MemoryKind::kWeights);
  use.cache_bytes = bytes(MemoryKind::kCache);
  use.state_bytes = bytes(MemoryKind::kState);
  use.used_bytes = use.weight_bytes + use.cache_bytes + use.state_bytes;
  use.limit_bytes = limit_bytes_.load(std::memory_order_relaxed);
  return use;
}

StepTotals Telemetry::read(uint64_t now_ns) const {
  StepTotals totals = published_.read();
  if (totals.last_decode_ns + kSecondNs < now_ns) {
    totals.decode_tokens_per_second = 0.0F;
  }
  return totals;
}

}  // namespace ifr
