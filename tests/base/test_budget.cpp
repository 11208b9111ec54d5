// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "memory/budget.h"

namespace ifr {
namespace {

TEST(MemoryBudget, UsageIsKeptToTheByte) {
  MemoryBudget budget(1000);
  Expected<Reservation> weights = budget.reserve(MemoryKind::kWeights, 600, "weights of a model");
  ASSERT_TRUE(weights.is_ok());
  const Expected<Reservation> refused = budget.reserve(MemoryKind::kCache, 401, "a session");
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kOverBudget);
  for (const char* part : {"a session", "401", "600", "1000"}) {
    EXPECT_NE(refused.status().message().find(part), std::string::npos)
        << refused.status().message();
  }
  {
    const Expected<Reservation> cache = budget.reserve(MemoryKind::kCache, 400, "a session");
    ASSERT_TRUE(cache.is_ok());
    EXPECT_EQ(budget.used_bytes(), 1000U);
    EXPECT_EQ(budget.used_bytes(MemoryKind::kCache), 400U);
  }
  EXPECT_EQ(budget.used_bytes(), 600U);
  Reservation moved = std::move(weights).value();
  moved = Reservation();
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(MemoryBudget, NoLimitStillCountsAndNeverWraps) {
  MemoryBudget budget(0);
  Expected<Reservation> most = budget.reserve(MemoryKind::kWeights, ~uint64_t{0}, "all");
  ASSERT_TRUE(most.is_ok());
  EXPECT_EQ(budget.reserve(MemoryKind::kState, 1, "one more").status().code(), Code::kOverBudget);
}

}  // namespace
}  // namespace ifr
