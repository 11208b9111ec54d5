// SPDX-License-Identifier: Apache-2.0
// Attention over the blocks of tokens that an indexer selects for each query.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/paged_attention.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr {

struct SparseAttentionShape {
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;
  int32_t rotary_dim = 0;
  int32_t indexer_num_heads = 0;
  int32_t indexer_head_dim = 0;
  int32_t ratio = 0;             // tokens a block
  int32_t max_blocks = 0;        // that a query may choose
  int64_t max_score_blocks = 0;  // complete blocks of the longest context
  float eps = 0.0F;
  const float* inverse_frequency = nullptr;  // [rotary_dim / 2]

  [[nodiscard]] int64_t num_complete_blocks(int64_t num_tokens) const { return num_tokens / ratio; }
};

struct SparseAttentionWeights {
  kernels::WeightMatrix q;  // a head: [query | gate]
  kernels::WeightMatrix k;
  kernels::WeightMatrix v;
  kernels::WeightMatrix out;
  kernels::WeightMatrix index_qk;  // query heads, then the key head
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  const float* index_q_norm = nullptr;
  const float* index_k_norm = nullptr;

  void plan(WeightPlan& plan, const std::string& prefix);
};

// Of one layer and sequence, beside its KV pages.
struct SparseAttentionState {
  float* pending = nullptr;     // [ratio, Di] raw keys of the open block; recurrent
  float* block_keys = nullptr;  // [block_capacity, Di]; appended
  int64_t block_capacity = 0;
  void lay_out_recurrent(const SparseAttentionShape& shape, ScratchLayout& layout);
  void lay_out_appended(const SparseAttentionShape& shape, int64_t context_tokens,
                        ScratchLayout& layout);
};

struct SparseAttentionScratch {
  float* q_gate = nullptr;          // [T, heads * 2 * D]
  float* q = nullptr;               // [T, heads * D]
  float* k = nullptr;               // [T, kv_heads * D]
  float* v = nullptr;               // [T, kv_heads * D]
  float* out = nullptr;             // [T, heads * D]
  float* index_qk = nullptr;        // [T, (index heads + 1) * Di]
  float* index_q = nullptr;         // [T, index heads * Di]
  float* scores = nullptr;          // of as many rows at once as fit
  int64_t score_len = 0;            // elements of `scores`
  int32_t* live_counts = nullptr;   // [T]
  int32_t* blocks = nullptr;        // [T, max_blocks]
  int32_t* block_counts = nullptr;  // [T]
  float* block_scores = nullptr;    // [T, max_blocks]
  int32_t* selected = nullptr;      // [T, max_blocks * ratio + ratio - 1]
  int32_t* counts = nullptr;        // [T]
  void lay_out(const SparseAttentionShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

// x [T, H] -> y [T, H]; writes T rows of the cache and of the index keys. Tells the context's
// observer each query's selection.
[[nodiscard]] Status run_sparse_attention(const StepContext& context,
                                          const SparseAttentionShape& shape,
                                          const SparseAttentionWeights& weights,
                                          const kernels::PagedKvCache& cache,
                                          const SparseAttentionState& state, const float* x,
                                          float* y, const SparseAttentionScratch& scratch);

}  // namespace ifr
