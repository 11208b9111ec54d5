// SPDX-License-Identifier: Apache-2.0
// Per-layer embedding of hashed n-grams, one sequence a call.
//   ngram_hash: id = (xor over j < n of token[t - j] * multiplier[j]) mod prime[head] +
//   offset[head],
//               orders n = 2 .. ngram_size, heads_per_ngram heads each, lower orders first; 64-bit
//               wraparound, non-negative remainder. A token before the start counts as EOS, and so
//               does every token left of an EOS (the EOS itself still sees its own segment).
//   ple_gate:   s[c] = key[c] . query[c] / sqrt(H);  s = sign(s) * sqrt(max(|s|, 1e-6));
//               u[c] = sigmoid(s[c]) * value
// The rows themselves come from a store that the caller owns; the convolution is causal_conv.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

struct NgramHashParams {
  const int32_t* tokens = nullptr;       // [num_tokens]
  const int64_t* multipliers = nullptr;  // [ngram_size]
  const int64_t* primes = nullptr;       // [(ngram_size - 1) * heads_per_ngram], each >= 1
  const int64_t* offsets = nullptr;      // [(ngram_size - 1) * heads_per_ngram]
  int32_t* window = nullptr;  // [ngram_size - 1]: the tokens before the call, oldest first;
                              // all EOS at the start; advanced in place
  int64_t* ids = nullptr;     // [num_tokens, (ngram_size - 1) * heads_per_ngram]
  int64_t num_tokens = 0;
  int64_t ngram_size = 0;  // >= 2
  int64_t heads_per_ngram = 0;
  int32_t eos_token = 0;
};

struct PleGateParams {
  const float* key = nullptr;    // [num_tokens, C, H], normalised
  const float* query = nullptr;  // [num_tokens, C, H], normalised
  const float* value = nullptr;  // [num_tokens, H]
  float* u = nullptr;            // [num_tokens, C, H]; may be key or query
  int64_t num_tokens = 0;
  int64_t num_streams = 0;  // C
  int64_t hidden = 0;       // H
};

[[nodiscard]] inline OperatorCost ngram_hash_cost(const NgramHashParams& p) {
  return {p.num_tokens * (4 + 8 * (p.ngram_size - 1) * p.heads_per_ngram), 0};
}

[[nodiscard]] inline OperatorCost ple_gate_cost(const PleGateParams& p) {
  const int64_t width = p.num_streams * p.hidden;
  return {4 * p.num_tokens * (3 * width + p.hidden), 3 * p.num_tokens * width};
}

[[nodiscard]] LaunchStatus ngram_hash_reference(const NgramHashParams& params,
                                                CpuExecutor& executor);
[[nodiscard]] LaunchStatus ple_gate_reference(const PleGateParams& params, CpuExecutor& executor);

}  // namespace ifr::kernels
