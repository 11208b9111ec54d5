// SPDX-License-Identifier: Apache-2.0
#include "base/checked_math.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ifr {
namespace {

constexpr uint64_t kMax = ~uint64_t{0};

TEST(CheckedMath, AddMulRoundUp) {
  EXPECT_EQ(checked_add<uint64_t>(kMax - 1, 1), kMax);
  EXPECT_EQ(checked_add<uint64_t>(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_mul<uint64_t>(uint64_t{1} << 32, (uint64_t{1} << 32) - 1),
            kMax - (uint64_t{1} << 32) + 1);
  EXPECT_EQ(checked_mul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul<uint64_t>(0, kMax), 0U);
  EXPECT_EQ(checked_mul<uint64_t>(uint64_t{1} << 61, 8), std::nullopt);  // wraps to 0 unchecked
  EXPECT_EQ(checked_round_up<uint64_t>(0, 64), 0U);
  EXPECT_EQ(checked_round_up<uint64_t>(65, 64), 128U);
  EXPECT_EQ(checked_round_up<uint64_t>(kMax, 64), std::nullopt);
}

TEST(CheckedMath, RangeInside) {
  EXPECT_TRUE(range_inside(0, 0, 0));
  EXPECT_TRUE(range_inside(10, 6, 16));
  EXPECT_FALSE(range_inside(10, 7, 16));
  EXPECT_FALSE(range_inside(17, 0, 16));
  EXPECT_FALSE(range_inside(kMax - 63, 64, 1024));  // wraps back into the file unchecked
}

}  // namespace
}  // namespace ifr
