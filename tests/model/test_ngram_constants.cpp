// SPDX-License-Identifier: Apache-2.0
#include "model/ngram_constants.h"

#include <gtest/gtest.h>

namespace ifr {
namespace {

bool is_prime_by_division(uint64_t value) {
  for (uint64_t divisor = 2; divisor * divisor <= value; ++divisor) {
    if (value % divisor == 0) {
      return false;
    }
  }
  return value >= 2;
}

TEST(NgramConstants, KnowsPrimes) {
  for (uint64_t value = 0; value < 20'000; ++value) {
    ASSERT_EQ(is_prime(value), is_prime_by_division(value)) << value;
  }
  for (const uint64_t around :
       {uint64_t{20'000'000}, uint64_t{2'000'000'000}, uint64_t{4'294'967'000}}) {
    for (uint64_t value = around; value < around + 150; ++value) {
      ASSERT_EQ(is_prime(value), is_prime_by_division(value)) << value;
    }
  }
  // Strong pseudoprimes to base 2, to 2 and 7, and a Carmichael number.
  for (const uint64_t value : {2047U, 3215031751U, 1373653U, 25326001U, 561U}) {
    EXPECT_FALSE(is_prime(value)) << value;
  }
}

TEST(NgramConstants, MixesAsTheReferenceDoes) {
  // The generator's published outputs from state 0: finaliser of 0 and of one gamma.
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(splitmix64(0x9E3779B97F4A7C15ULL), 0x6E789E6AA1B965F4ULL);
}

PleConfig real_config() {
  PleConfig config;
  config.layers = {1};
  config.embed_dim = 2560;
  return config;
}

TEST(NgramConstants, HasTheRealModelsTable) {
  const NgramConstants constants = make_ngram_constants(real_config(), 248320, 0);
  EXPECT_EQ(constants.num_rows, 320'001'536);
  EXPECT_EQ(constants.rows_per_shard, 625'003);
  ASSERT_EQ(constants.primes.size(), 16U);
  EXPECT_EQ(constants.primes[0], 20'000'003);
  int64_t sum = 0;
  for (size_t head = 0; head < 16; ++head) {
    EXPECT_EQ(constants.offsets[head], sum);
    EXPECT_TRUE(head == 0 || constants.primes[head] > constants.primes[head - 1]);
    sum += constants.primes[head];
  }
  EXPECT_LE(sum, constants.num_rows);
  EXPECT_LT(constants.num_rows - sum, 128);
  for (const int64_t multiplier : constants.multipliers) {
    EXPECT_EQ(multiplier % 2, 1);
    EXPECT_GT(multiplier, 0);
  }
}

TEST(NgramConstants, LayersContinueThePrimes) {
  PleConfig config = real_config();
  config.vocab_size_base = 1;
  config.vocab_divisor = 1;
  config.split_parts = 3;
  const NgramConstants first = make_ngram_constants(config, 256, 0);
  const NgramConstants second = make_ngram_constants(config, 256, 1);
  EXPECT_EQ(first.primes.front(), 2);
  EXPECT_EQ(first.primes.back(), 53);
  EXPECT_EQ(second.primes.front(), 59);
  EXPECT_EQ(second.offsets.front(), 0);
  EXPECT_NE(first.multipliers, second.multipliers);
  EXPECT_EQ(first.num_rows, 381);
  EXPECT_EQ(first.rows_per_shard, 127);
}

}  // namespace
}  // namespace ifr
