// SPDX-License-Identifier: Apache-2.0
// Dense causal attention with grouped key-value heads, as llama has it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "interframe_kernels/paged_attention.h"
#include "interframe_kernels/rotary.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr {

struct AttentionShape {
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;
  int32_t rotary_dim = 0;
  kernels::RotaryPairing pairing = kernels::RotaryPairing::kAdjacent;
  const float* inverse_frequency = nullptr;  // [rotary_dim / 2]
};

struct AttentionWeights {
  kernels::WeightMatrix q;
  kernels::WeightMatrix k;
  kernels::WeightMatrix v;
  kernels::WeightMatrix out;
};

struct AttentionScratch {
  float* q = nullptr;    // [T, heads * D]
  float* k = nullptr;    // [T, kv_heads * D]
  float* v = nullptr;    // [T, kv_heads * D]
  float* out = nullptr;  // [T, heads * D]
  void lay_out(const AttentionShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

struct BlockSparse;

// x [T, H] -> y [T, H]; writes T rows of the cache. With `sparse` each query attends the blocks
// that it chooses.
[[nodiscard]] Status run_attention(const StepContext& context, const AttentionShape& shape,
                                   const AttentionWeights& weights,
                                   const kernels::PagedKvCache& cache, const float* x, float* y,
                                   const AttentionScratch& scratch,
                                   const BlockSparse* sparse = nullptr);

// Turns x [T, num_heads, head_dim] in place.
[[nodiscard]] Status run_rotary(const StepContext& context, float* x, int64_t num_heads,
                                int64_t head_dim, int64_t rotary_dim,
                                const float* inverse_frequency, kernels::RotaryPairing pairing);
// k and v: [T, kv_heads, D].
[[nodiscard]] Status write_kv_cache(const StepContext& context, const kernels::PagedKvCache& cache,
                                    const float* k, const float* v);

}  // namespace ifr
