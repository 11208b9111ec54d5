// SPDX-License-Identifier: Apache-2.0
// From logits to a token.
//   argmax: the largest logit, ties to the lower id; NaN never wins.
//   sample: temperature first, then top_k, then top_p (nucleus of what top_k left), then one draw
//   by
//           a random number that depends on (seed, position) only.
// temperature 0 is argmax whatever the rest; top_k 0 and top_p 1 are off; at least one candidate
// always stays (top_p 0 keeps the best one). Candidates rank by logit, ties to the lower id.
// Probabilities are float64, so a rare token stays possible and a tiny temperature stays finite.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

struct ArgmaxParams {
  const float* logits = nullptr;  // [num_tokens, vocab_len], rows row_stride apart
  int32_t* ids = nullptr;         // [num_tokens]; -1 where no logit is above -inf
  int64_t num_tokens = 0;
  int64_t vocab_len = 0;
  int64_t row_stride = 0;  // elements; 0: vocab_len
};

struct SamplingOptions {
  float temperature = 0.0F;  // finite, >= 0
  int32_t top_k = 0;         // >= 0; 0 = off; above the vocabulary = off
  float top_p = 1.0F;        // in [0, 1]; 1 = off
  uint64_t seed = 0;
};

enum class SamplingFault : int32_t {
  kNone = 0,
  kTemperature = 1,  // negative, NaN or infinite
  kTopK = 2,         // negative
  kTopP = 3,         // outside [0, 1] or NaN
};

// Which option is wrong; kNone when all are right.
[[nodiscard]] SamplingFault sampling_check(const SamplingOptions& options);

struct SampleParams {
  const float* logits = nullptr;  // [vocab_len]
  int32_t* id = nullptr;          // [1]; -1 when no logit is above -inf
  void* scratch = nullptr;        // sample_scratch_bytes, 8-byte aligned
  int64_t vocab_len = 0;
  int64_t position = 0;  // of the token to be drawn in its sequence, >= 0
  SamplingOptions options;
};

[[nodiscard]] constexpr int64_t sample_scratch_bytes(int64_t vocab_len) {
  return 16 * vocab_len;
}

// The random number of a draw: uniform in [0, 1), 53 bits.
[[nodiscard]] double sampling_uniform(uint64_t seed, int64_t position);

[[nodiscard]] inline OperatorCost argmax_cost(const ArgmaxParams& p) {
  return {4 * p.num_tokens * p.vocab_len, p.num_tokens * p.vocab_len};
}
[[nodiscard]] inline OperatorCost sample_cost(const SampleParams& p) {
  return {4 * p.vocab_len, 8 * p.vocab_len};
}

[[nodiscard]] LaunchStatus argmax_reference(const ArgmaxParams& params, CpuExecutor& executor);
// Wrong options are kInvalidArgument: check them with sampling_check where they come in.
[[nodiscard]] LaunchStatus sample_reference(const SampleParams& params, CpuExecutor& executor);

}  // namespace ifr::kernels
