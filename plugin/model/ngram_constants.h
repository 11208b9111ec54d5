// SPDX-License-Identifier: Apache-2.0
// The numbers that the hashed n-gram embedding derives from its configuration: hash multipliers,
// table sizes and offsets. Checkpoints store them too; the reader holds them against these.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model_config.h"

namespace ifr {

// Of one PLE layer. Heads run over all of order 2, then order 3 and on.
struct NgramConstants {
  std::vector<int64_t> multipliers;  // [ngram_size]: of the token j places back
  std::vector<int64_t> primes;       // [num_heads]: rows of each head's table
  std::vector<int64_t> offsets;      // [num_heads]: sum of the primes before
  int64_t num_rows = 0;              // sum of the primes, rounded up to vocab_divisor
  int64_t rows_per_shard = 0;        // ceil(num_rows / split_parts); the last shard may be shorter
};

// `ple_idx`: index of the layer among the PLE layers. `config` has been checked.
[[nodiscard]] NgramConstants make_ngram_constants(const PleConfig& config, int32_t vocab_size,
                                                  int32_t ple_idx);

[[nodiscard]] uint64_t splitmix64(uint64_t value);
// Exact for value < 2^32.
[[nodiscard]] bool is_prime(uint64_t value);

}  // namespace ifr
