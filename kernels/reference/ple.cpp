// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/ple.h"

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

// Token `index` of the call, or of the window before it when negative.
int32_t token_at(const NgramHashParams& params, int64_t index) {
  return index >= 0 ? params.tokens[index] : params.window[params.ngram_size - 1 + index];
}

// All products and sums wrap, so they run unsigned.
void hash_token(const NgramHashParams& params, int64_t token) {
  int64_t* ids = params.ids + token * (params.ngram_size - 1) * params.heads_per_ngram;
  uint64_t mixed = 0;
  bool before_segment = false;
  for (int64_t j = 0; j < params.ngram_size; ++j) {
    const int32_t seen = before_segment ? params.eos_token : token_at(params, token - j);
    before_segment = before_segment || (j > 0 && seen == params.eos_token);
    mixed ^= static_cast<uint64_t>(static_cast<int64_t>(seen)) *
             static_cast<uint64_t>(params.multipliers[j]);
    if (j == 0) {
      continue;  // the lowest order is 2
    }
    for (int64_t i = 0; i < params.heads_per_ngram; ++i) {
      const int64_t head = (j - 1) * params.heads_per_ngram + i;
      const int64_t prime = params.primes[head];
      int64_t rest = static_cast<int64_t>(mixed) % prime;
      if (rest < 0) {
        rest += prime;
      }
      ids[head] = rest + params.offsets[head];
    }
  }
}

LaunchStatus check_hash(const NgramHashParams& params) {
  if (params.num_tokens < 0) {
    return invalid("num_tokens", params.num_tokens);
  }
  if (params.ngram_size < 2 || params.heads_per_ngram < 1) {
    return invalid("ngram_size or heads_per_ngram", params.ngram_size);
  }
  if (params.tokens == nullptr || params.multipliers == nullptr || params.primes == nullptr ||
      params.offsets == nullptr || params.window == nullptr || params.ids == nullptr) {
    return invalid("tokens, multipliers, primes, offsets, window or ids is null");
  }
  for (int64_t i = 0; i < (params.ngram_size - 1) * params.heads_per_ngram; ++i) {
    if (params.primes[i] < 1) {
      return invalid("a prime is below 1", params.primes[i]);
    }
  }
  return {};
}

}  // namespace

LaunchStatus ngram_hash_reference(const NgramHashParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_hash(params); !status.is_ok()) {
    return status;
  }
  const int64_t heads = (params.ngram_size - 1) * params.heads_per_ngram;
  for_each_item(executor, params.num_tokens, 16 * heads, [&](int64_t t) { hash_token(params, t); });
  // Ascending: no entry is read after it changed.
  const int64_t window_len = params.ngram_size - 1;
  for (int64_t i = 0; i < window_len; ++i) {
    params.window[i] = token_at(params, params.num_tokens - window_len + i);
  }
  return {};
}

LaunchStatus ple_gate_reference(const PleGateParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_streams <= 0 || params.hidden <= 0) {
    return invalid("num_tokens, num_streams or hidden", params.num_tokens);
  }
  if (params.key == nullptr || params.query == nullptr || params.value == nullptr ||
      params.u == nullptr) {
    return invalid("key, query, value or u is null");
  }
  constexpr float kLeast = 1e-6F;
  const int64_t hidden = params.hidden;
  const float root = std::sqrt(static_cast<float>(hidden));
  for_each_item(executor, params.num_tokens * params.num_streams, 3 * hidden, [&](int64_t i) {
    const float* key = params.key + i * hidden;
    const float* query = params.query + i * hidden;
    // The root below has no bound on its slope: a score near 0 carries the rounding of this sum far
    // (one model with transformers' logits: 2.8e-5 apart in float32, 1.6e-5 so), so it is float64.
    double sum = 0.0;
    for (int64_t h = 0; h < hidden; ++h) {
      sum += static_cast<double>(key[h]) * static_cast<double>(query[h]);
    }
    const float score = static_cast<float>(sum) / root;
    const float magnitude = std::sqrt(std::max(std::fabs(score), kLeast));
    // The sign of 0 is 0; NaN stays NaN.
    const float signed_root = score == 0.0F ? 0.0F : std::copysign(magnitude, score);
    const float gate = sigmoid(std::isnan(score) ? score : signed_root);
    const float* value = params.value + i / params.num_streams * hidden;
    float* u = params.u + i * hidden;
    for (int64_t h = 0; h < hidden; ++h) {
      u[h] = gate * value[h];
    }
  });
  return {};
}

}  // namespace ifr::kernels
