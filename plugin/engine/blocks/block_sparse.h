// SPDX-License-Identifier: Apache-2.0
// Attention of a dense model narrowed to a budget of keys: which blocks of the past a query reads
// is told in interframe_kernels/block_sparse_attention.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "engine/blocks/attention.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "interframe_kernels/paged_attention.h"

namespace ifr {

// A quarter of a page. Finer blocks hit better and cost more to score: at 16 the index is 1/32 of
// the cache, and choosing costs 1/16 of the dense products of queries with keys. SmolLM2-135M Q4_1,
// windows of 2,048 tokens of the GPL-3's text, December 2026: perplexity 17.11 dense; with a budget
// of 256 it is 18.47, 19.09 and 19.81 for blocks of 8, 16 and 32 tokens; 18.68 for 320 in blocks of
// 16, which costs as much as 256 in blocks of 8. Blocks of 16 win as contexts grow.
inline constexpr int32_t kSparseBlockTokens = 16;
// The first block, one recent, the query's own and one that is chosen.
inline constexpr int32_t kMinSparseBudgetTokens = 4 * kSparseBlockTokens;

// kInvalidArgument unless 0 or a multiple of kSparseBlockTokens from kMinSparseBudgetTokens on.
[[nodiscard]] Status check_sparse_budget(int32_t budget_tokens);

struct BlockSparseShape {
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;
  int32_t max_blocks = 0;  // that a query and key head attends; 0: dense attention
  // By the same measure and a budget of 256: 31.66 without the first block, 19.15 with two.
  int32_t num_first_blocks = 0;
  // Besides the query's own: 19.03, 19.09, 19.25 for 1/8, 1/4, 1/2 of max_blocks.
  int32_t num_recent_blocks = 0;
  int32_t max_context_blocks = 0;  // complete blocks of the longest context

  // budget_tokens as check_sparse_budget allows.
  [[nodiscard]] static BlockSparseShape make(int32_t budget_tokens, int32_t context_tokens,
                                             const AttentionShape& attention);
  [[nodiscard]] bool is_sparse() const { return max_blocks > 0; }
  // Different blocks that the key heads of one query can choose together.
  [[nodiscard]] int32_t max_union_blocks() const;
};

// context_tokens: of a sequence. kUnsupported when it has more blocks than a selection can rank.
[[nodiscard]] Status check_sparse_context(const BlockSparseShape& shape, int32_t context_tokens);

// Of one layer and sequence, beside its KV pages; all zero where attention is dense.
struct BlockSparseState {
  float* means = nullptr;  // [block_capacity, kv_heads, D]; appended
  int64_t block_capacity = 0;

  void lay_out_appended(const BlockSparseShape& shape, int64_t context_tokens,
                        ScratchLayout& layout);
  // Rows of the blocks that num_tokens tokens complete.
  [[nodiscard]] std::span<std::byte> rows(const BlockSparseShape& shape, int64_t num_tokens) const;
};

struct BlockSparseScratch {
  struct Choice {
    int32_t block = 0;
    float score = 0.0F;
  };
  int32_t* blocks = nullptr;       // [T, kv_heads, max_blocks]
  float* scores = nullptr;         // [T, kv_heads, max_blocks]
  uint64_t* ranks = nullptr;       // [T, kv_heads, max_blocks]
  Choice* choices = nullptr;       // [kv_heads * max_blocks] of one query
  int32_t* told_blocks = nullptr;  // [kv_heads * max_blocks]
  float* told_scores = nullptr;    // [kv_heads * max_blocks]
  void lay_out(const BlockSparseShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

// A layer's part in one step.
struct BlockSparse {
  const BlockSparseShape& shape;
  const BlockSparseState& state;
  const BlockSparseScratch& scratch;
};

// q [T, heads * D] -> out [T, heads * D], after T rows of the cache were written; appends to the
// index. Tells the context's observer, for each query, the complete blocks that any of its key
// heads reads, in falling order of the best score that such a head gave it.
[[nodiscard]] Status run_block_sparse(const StepContext& context, const BlockSparse& sparse,
                                      const kernels::PagedKvCache& cache, const float* q,
                                      float* out);

}  // namespace ifr
