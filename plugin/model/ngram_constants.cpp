// SPDX-License-Identifier: Apache-2.0
#include "model/ngram_constants.h"

#include <algorithm>
#include <limits>

namespace ifr {

namespace {

constexpr uint64_t kGamma = 0x9E3779B97F4A7C15ULL;

uint64_t power_mod(uint64_t base, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  base %= modulus;
  while (exponent != 0) {
    if ((exponent & 1) != 0) {
      result = result * base % modulus;
    }
    base = base * base % modulus;
    exponent >>= 1;
  }
  return result;
}

int64_t round_up(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

uint64_t splitmix64(uint64_t value) {
  value += kGamma;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

bool is_prime(uint64_t value) {
  for (const uint64_t prime : {2U, 3U, 5U, 7U, 11U, 13U, 17U, 19U, 23U, 29U, 31U, 37U}) {
    if (value % prime == 0) {
      return value == prime;
    }
  }
  if (value < 2) {
    return false;
  }
  // Miller-Rabin: the witnesses 2, 7, 61 decide every number below 4,759,123,141; products of two
  // numbers below 2^32 fit 64 bits.
  uint64_t odd = value - 1;
  int32_t num_twos = 0;
  while (odd % 2 == 0) {
    odd /= 2;
    ++num_twos;
  }
  for (const uint64_t witness : {2U, 7U, 61U}) {
    uint64_t x = power_mod(witness, odd, value);
    if (witness % value == 0 || x == 1 || x == value - 1) {
      continue;
    }
    bool composite = true;
    for (int32_t round = 1; round < num_twos && composite; ++round) {
      x = x * x % value;
      composite = x != value - 1;
    }
    if (composite) {
      return false;
    }
  }
  return true;
}

NgramConstants make_ngram_constants(const PleConfig& config, int32_t vocab_size, int32_t ple_idx) {
  NgramConstants constants;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto half =
      static_cast<uint64_t>(std::max<int64_t>(1, kMax / std::max<int64_t>(vocab_size, 1) / 2));
  for (int32_t j = 0; j < config.ngram_size; ++j) {
    const uint64_t value = config.seed + 10007ULL * static_cast<uint64_t>(ple_idx) +
                           kGamma * static_cast<uint64_t>(j + 1);
    constants.multipliers.push_back(static_cast<int64_t>(2 * (splitmix64(value) % half) + 1));
  }

  // Layer p takes primes p * heads .. p * heads + heads - 1 of those not below the base.
  const int64_t num_skipped = int64_t{ple_idx} * config.num_heads();
  auto candidate = static_cast<uint64_t>(config.vocab_size_base);
  for (int64_t idx = 0; idx < num_skipped + config.num_heads(); ++idx) {
    while (!is_prime(candidate)) {
      ++candidate;
    }
    if (idx >= num_skipped) {
      constants.offsets.push_back(constants.num_rows);
      constants.primes.push_back(static_cast<int64_t>(candidate));
      constants.num_rows += static_cast<int64_t>(candidate);
    }
    ++candidate;
  }
  constants.num_rows = round_up(constants.num_rows, config.vocab_divisor);
  constants.rows_per_shard = (constants.num_rows + config.split_parts - 1) / config.split_parts;
  return constants;
}

}  // namespace ifr
