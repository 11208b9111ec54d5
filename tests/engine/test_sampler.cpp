// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace ifr {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class SamplerTest : public testing::Test {
 protected:
  SamplerTest() : budget_(0), executor_(2) {}

  Expected<int32_t> draw(const std::vector<float>& logits, const SamplerParams& params,
                         int64_t position = 0) {
    Expected<Sampler> sampler = Sampler::create(budget_, static_cast<int32_t>(logits.size()));
    EXPECT_TRUE(sampler.is_ok());
    return sampler->sample(logits, position, params, executor_);
  }

  MemoryBudget budget_;
  kernels::CpuExecutor executor_;
};

TEST_F(SamplerTest, WrongParametersAreRefusedByName) {
  const std::vector<float> logits = {1.0F, 2.0F};
  struct Case {
    SamplerParams params;
    const char* name;
  };
  for (const Case& c :
       {Case{{.temperature = -1.0F}, "temperature"}, Case{{.temperature = -1e-30F}, "temperature"},
        Case{{.temperature = kNan}, "temperature"}, Case{{.temperature = kInfinity}, "temperature"},
        Case{{.temperature = 1.0F, .top_k = -1}, "top_k"},
        Case{{.temperature = 0.0F, .top_k = INT32_MIN}, "top_k"},
        Case{{.temperature = 1.0F, .top_p = 1.5F}, "top_p"},
        Case{{.temperature = 1.0F, .top_p = -0.1F}, "top_p"},
        Case{{.temperature = 1.0F, .top_p = kNan}, "top_p"}}) {
    const Status checked = check_sampler_params(c.params);
    EXPECT_EQ(checked.code(), Code::kInvalidArgument);
    EXPECT_NE(checked.message().find(c.name), std::string::npos) << checked.message();
    EXPECT_EQ(draw(logits, c.params).status().message(), checked.message());
  }
}

TEST_F(SamplerTest, GreedyTakesTheLowestOfEqualLogits) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const float temperature : {0.0F, 1e-30F}) {
      const SamplerParams params = {.temperature = temperature,
                                    .top_k = temperature > 0 ? 1 : 40,
                                    .top_p = 0.9F,
                                    .seed = seed};
      const Expected<int32_t> id = draw({1.0F, 3.0F, 3.0F, 2.0F}, params);
      ASSERT_TRUE(id.is_ok()) << id.status().message();
      EXPECT_EQ(id.value(), 1);
    }
  }
}

TEST_F(SamplerTest, DependsOnSeedAndPositionOnly) {
  const std::vector<float> logits(64, 0.5F);
  std::set<int32_t> ids;
  for (int64_t position = 0; position < 50; ++position) {
    const SamplerParams params = {.temperature = 0.8F, .seed = 42};
    const Expected<int32_t> once = draw(logits, params, position);
    const Expected<int32_t> again = draw(logits, params, position);
    ASSERT_TRUE(once.is_ok());
    EXPECT_EQ(once.value(), again.value());
    ids.insert(once.value());
  }
  EXPECT_GT(ids.size(), 20U);
}

TEST_F(SamplerTest, LogitsWithoutANumberAreAnError) {
  for (const float value : {-kInfinity, kNan}) {
    for (const float temperature : {0.0F, 1.0F}) {
      const Expected<int32_t> id = draw(std::vector<float>(5, value), {.temperature = temperature});
      ASSERT_FALSE(id.is_ok());
      EXPECT_EQ(id.status().code(), Code::kInternal);
    }
  }
}

TEST_F(SamplerTest, WrongLengthIsRefusedAndScratchIsInTheBudget) {
  {
    Expected<Sampler> sampler = Sampler::create(budget_, 8);
    ASSERT_TRUE(sampler.is_ok());
    EXPECT_GT(budget_.used_bytes(), 0U);
    EXPECT_EQ(sampler->sample(std::vector<float>(7), 0, {}, executor_).status().code(),
              Code::kInvalidArgument);
  }
  EXPECT_EQ(budget_.used_bytes(), 0U);
  MemoryBudget small(10);
  EXPECT_EQ(Sampler::create(small, 100).status().code(), Code::kOverBudget);
}

}  // namespace

}  // namespace ifr
