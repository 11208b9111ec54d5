// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "samples.h"

namespace ifr::host {
namespace {

TEST(Samples, NearestRank) {
  Samples samples;
  EXPECT_EQ(samples.percentile(0.5), 0.0);
  for (int value = 100; value >= 1; --value) {
    samples.add(value);
  }
  EXPECT_EQ(samples.percentile(0.0), 1.0);
  EXPECT_EQ(samples.percentile(0.5), 50.0);
  EXPECT_EQ(samples.percentile(0.99), 99.0);
  EXPECT_EQ(samples.percentile(1.0), 100.0);
  EXPECT_EQ(samples.max(), 100.0);
  EXPECT_EQ(samples.count(), 100u);
}

TEST(Samples, KeepsTheNewestAndTheMaximumOfAll) {
  Samples samples;
  samples.add(1000.0);
  for (size_t index = 0; index < Samples::kCapacity; ++index) {
    samples.add(2.0);
  }
  EXPECT_EQ(samples.percentile(1.0), 2.0);
  EXPECT_EQ(samples.max(), 1000.0);
  EXPECT_EQ(samples.count(), Samples::kCapacity + 1);
}

}  // namespace
}  // namespace ifr::host
