// SPDX-License-Identifier: Apache-2.0
// Dense causal attention narrowed to blocks of keys, one sequence a call. Tokens are cut into
// blocks of block_tokens at absolute positions; a complete block has one mean key a key head.
//   block_mean_update:      mean(b, h') = sum of the cached keys of block b / block_tokens
//   block_sparse_select:    score(t, h', b) = max over heads h of group h' of q[t, h] . mean(b, h')
//                                             * scale
//   block_sparse_attention: o[t, h] = sum over j <= pos(t) in chosen blocks of
//                                     softmax_j(q[t, h] . k[j, h'] * scale) v[j, h']
// The query's own block is pos / block_tokens. A row whose blocks, its own included, are at most
// max_blocks attends all of them. Any other attends max_blocks: the first num_first_blocks, the
// num_recent_blocks before its own, its own up to itself, and the best of the rest by score. So a
// row sees at most max_blocks * block_tokens keys, and each key head chooses for itself.
// (A group's largest product and its mean product choose equally well: perplexities within 0.4 %.)
// Order of scores: falling; equal scores (+0 equals -0): the lower block; a NaN dot counts as -inf
// for its head, so that a block of which nothing is known comes last.
// Numeric contract: float32. A mean adds keys in token order, then divides. Chosen keys go in
// ascending position through an online softmax over runs of kPageTokens of them; a row that attends
// all of its blocks has the bits of paged_attention. The bits of a row depend on the row, the cache
// and the limits alone.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"
#include "interframe_kernels/paged_attention.h"

namespace ifr::kernels {

inline constexpr int64_t kBlockSparseMaxBlocks = 1 << 18;  // of a context

// All counts follow from the position: rows of blocks that complete within the call are written,
// from cached keys alone, so a cache cut back to any length needs no repair.
struct BlockMeanUpdateParams {
  PagedKvCache cache;          // keys of 0 .. first_position + num_tokens - 1
  float* means = nullptr;      // [block_capacity, num_kv_heads, head_dim], appended
  int64_t num_tokens = 0;      // written to the cache last
  int64_t first_position = 0;  // of the first of them
  int64_t block_tokens = 0;    // a divisor of kPageTokens
  int64_t block_capacity = 0;
};

struct BlockSparseSelectParams {
  const float* q = nullptr;      // [num_tokens, num_heads, head_dim]
  const float* means = nullptr;  // [(first_position + num_tokens) / block_tokens, num_kv_heads,
                                 // head_dim]
  int32_t* blocks = nullptr;     // [num_tokens, num_kv_heads, max_blocks] ascending, then -1
  float* scores = nullptr;       // the same, or null: of the blocks listed; -inf for a block that
                                 // is not complete at its row and for unused places
  uint64_t* scratch = nullptr;   // [num_tokens, num_kv_heads, max_blocks]
  int64_t num_tokens = 0;
  int64_t num_heads = 0;  // a multiple of num_kv_heads
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
  int64_t block_tokens = 0;
  int64_t max_blocks = 0;  // num_first_blocks + num_recent_blocks + 1 .. kBlockSparseMaxBlocks
  int64_t num_first_blocks = 0;
  int64_t num_recent_blocks = 0;
  int64_t first_position = 0;  // of row 0
  int64_t q_row_stride = 0;    // elements; 0: num_heads * head_dim
  float scale = 0.0F;          // 0: 1 / sqrt(head_dim)
};

// Keys and values of positions 0 .. first_position + num_tokens - 1 must be in the cache. Lists of
// rows that attend all of their blocks are not read. In the others an entry that is negative or
// beyond the row's own block adds nothing; an entry listed twice counts twice.
struct BlockSparseAttentionParams {
  PagedKvCache cache;
  const float* q = nullptr;         // [num_tokens, num_heads, head_dim]
  const int32_t* blocks = nullptr;  // [num_tokens, num_kv_heads, max_blocks]; null when no row
                                    // needs it
  float* out = nullptr;             // [num_tokens, num_heads, head_dim] contiguous
  int64_t num_tokens = 0;
  int64_t num_heads = 0;     // a multiple of cache.num_kv_heads
  int64_t block_tokens = 0;  // a divisor of kPageTokens
  int64_t max_blocks = 0;    // 1 .. kBlockSparseMaxBlocks
  int64_t first_position = 0;
  int64_t q_row_stride = 0;  // elements; 0: num_heads * head_dim
  float scale = 0.0F;        // 0: 1 / sqrt(head_dim)
};

// How many of the first rows attend all of their blocks.
[[nodiscard]] constexpr int64_t block_sparse_whole_rows(int64_t first_position, int64_t num_tokens,
                                                        int64_t block_tokens, int64_t max_blocks) {
  const int64_t rows = block_tokens * max_blocks - first_position;
  return rows < 0 ? 0 : rows < num_tokens ? rows : num_tokens;
}

[[nodiscard]] OperatorCost block_mean_update_cost(const BlockMeanUpdateParams& params);
[[nodiscard]] OperatorCost block_sparse_select_cost(const BlockSparseSelectParams& params);
[[nodiscard]] OperatorCost block_sparse_attention_cost(const BlockSparseAttentionParams& params);

// kWorkspaceTooSmall when block_capacity cannot take the blocks that would complete: nothing is
// written then.
[[nodiscard]] LaunchStatus block_mean_update_reference(const BlockMeanUpdateParams& params,
                                                       CpuExecutor& executor);
[[nodiscard]] LaunchStatus block_sparse_select_reference(const BlockSparseSelectParams& params,
                                                         CpuExecutor& executor);
[[nodiscard]] LaunchStatus block_sparse_attention_reference(
    const BlockSparseAttentionParams& params, CpuExecutor& executor);

}  // namespace ifr::kernels
