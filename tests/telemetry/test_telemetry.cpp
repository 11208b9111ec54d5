// SPDX-License-Identifier: Apache-2.0
#include "telemetry/telemetry.h"

#include <gtest/gtest.h>

#include <thread>

namespace ifr::test {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(Telemetry, AddsUpOperators) {
  Telemetry telemetry;
  telemetry.begin_step(nullptr);
  telemetry.on_operator({.id = OperatorId::kLinear,
                         .layer = 0,
                         .begin_ns = 100,
                         .end_ns = 160,
                         .bytes = 10,
                         .flops = 20});
  telemetry.on_operator({.id = OperatorId::kLinear,
                         .layer = 1,
                         .begin_ns = 200,
                         .end_ns = 230,
                         .bytes = 1,
                         .flops = 2});
  EXPECT_EQ(telemetry.read(0).operators[static_cast<size_t>(OperatorId::kLinear)].calls, 0U)
      << "only ended steps are seen";
  telemetry.end_step({.begin_ns = 100, .end_ns = 300});
  const StepTotals totals = telemetry.read(300);
  const OperatorTotals& linear = totals.operators[static_cast<size_t>(OperatorId::kLinear)];
  EXPECT_EQ(linear.calls, 2U);
  EXPECT_EQ(linear.total_ns, 90U);
  EXPECT_EQ(linear.last_ns, 30U);
  EXPECT_EQ(linear.max_ns, 60U);
  EXPECT_EQ(linear.bytes, 11U);
  EXPECT_EQ(linear.flops, 22U);
  EXPECT_EQ(totals.steps, 1U);
  EXPECT_EQ(totals.step_ns, 200U);
}

TEST(Telemetry, SurvivesOddSpans) {
  Telemetry telemetry;
  telemetry.on_operator({.id = OperatorId::kCount});
  telemetry.on_operator({.id = static_cast<OperatorId>(-1)});
  telemetry.on_operator({.id = OperatorId::kLinear, .begin_ns = 5, .end_ns = 4, .bytes = -1});
  telemetry.end_step({.begin_ns = 5, .end_ns = 4});
  const StepTotals totals = telemetry.read(0);
  EXPECT_EQ(totals.operators[static_cast<size_t>(OperatorId::kLinear)].total_ns, 0U);
  EXPECT_EQ(totals.operators[static_cast<size_t>(OperatorId::kLinear)].bytes, 0U);
  EXPECT_EQ(totals.step_ns, 0U);
}

TEST(Telemetry, RatesLookBackOneSecond) {
  Telemetry telemetry;
  // 10 ms a token, one after another: 100 a second.
  uint64_t now_ns = 5'000 * kMs;
  for (int32_t i = 0; i < 300; ++i) {
    telemetry.end_step({.generated_tokens = 1, .begin_ns = now_ns, .end_ns = now_ns + 10 * kMs});
    now_ns += 10 * kMs;
  }
  EXPECT_NEAR(telemetry.read(now_ns).decode_tokens_per_second, 100.0F, 2.0F);
  // A pause of 10 s: idle; then two tokens of 20 ms.
  now_ns += 10'000 * kMs;
  EXPECT_EQ(telemetry.read(now_ns).decode_tokens_per_second, 0.0F);
  for (int32_t i = 0; i < 2; ++i) {
    telemetry.end_step({.generated_tokens = 1, .begin_ns = now_ns, .end_ns = now_ns + 20 * kMs});
    now_ns += 20 * kMs;
  }
  EXPECT_NEAR(telemetry.read(now_ns).decode_tokens_per_second, 50.0F, 1.0F);
  // A step longer than the window still counts.
  telemetry.end_step(
      {.generated_tokens = 1, .begin_ns = now_ns + 9'000 * kMs, .end_ns = now_ns + 11'000 * kMs});
  EXPECT_NEAR(telemetry.read(now_ns + 11'000 * kMs).decode_tokens_per_second, 0.5F, 0.01F);
  // A prompt's last step is no decoding.
  Telemetry prompt;
  prompt.note_first_token({.latency_ns = 30 * kMs, .prefill_ns = 20 * kMs, .prefill_tokens = 40});
  prompt.end_step({.prompt_tokens = 40, .generated_tokens = 1, .end_ns = 20 * kMs});
  EXPECT_EQ(prompt.read(0).decode_tokens_per_second, 0.0F);
  EXPECT_NEAR(prompt.read(0).prefill_tokens_per_second, 2000.0F, 1.0F);
  EXPECT_NEAR(prompt.read(0).first_token_ms, 30.0F, 0.01F);
}

TEST(Telemetry, KnowsMemoryByKind) {
  Telemetry telemetry;
  MemoryBudget budget(1000);
  const Expected<Reservation> weights = budget.reserve(MemoryKind::kWeights, 500, "w");
  const Expected<Reservation> cache = budget.reserve(MemoryKind::kCache, 200, "c");
  const Expected<Reservation> state = budget.reserve(MemoryKind::kState, 30, "s");
  telemetry.note_memory(budget);
  const MemoryUse use = telemetry.memory();
  EXPECT_EQ(use.weight_bytes, 500U);
  EXPECT_EQ(use.cache_bytes, 200U);
  EXPECT_EQ(use.state_bytes, 30U);
  EXPECT_EQ(use.used_bytes, 730U);
  EXPECT_EQ(use.limit_bytes, 1000U);
}

struct Wide {
  std::array<uint64_t, 100> words = {};
};

TEST(LatestValue, IsAlwaysWhole) {
  LatestValue<Wide> latest;
  EXPECT_EQ(latest.read().words[99], 0U);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    Wide value;
    for (uint64_t i = 1; !stop; ++i) {
      value.words.fill(i);
      latest.publish(value);
    }
  });
  uint64_t last = 0;
  for (int32_t i = 0; i < 50'000; ++i) {
    const Wide value = latest.read();
    for (const uint64_t word : value.words) {
      ASSERT_EQ(word, value.words[0]);
    }
    if (value.words[0] != 0) {  // a reader that is overtaken again and again gives up with zeros
      ASSERT_GE(value.words[0], last);
      last = value.words[0];
    }
  }
  stop = true;
  writer.join();
  EXPECT_GT(last, 0U);
}

}  // namespace
}  // namespace ifr::test
