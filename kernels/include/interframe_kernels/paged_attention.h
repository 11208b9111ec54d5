// SPDX-License-Identifier: Apache-2.0
// The paged key-value cache, and dense causal attention over it, one sequence a call:
//   o[t, h] = sum over j <= pos(t) of softmax_j(q[t, h] . k[j, h'] * scale) v[j, h'],
//   h' = h / (num_heads / num_kv_heads).
// A page holds kPageTokens tokens: keys [num_kv_heads, kPageTokens, head_dim], values the same.
// Numeric contract: float32; keys in ascending position, an online softmax over aligned runs of
// kPageTokens of them, so the bits of a row depend on the row and the cache alone.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

inline constexpr int64_t kPageTokens = 64;

struct PagedKvCache {
  float* key_pool = nullptr;             // page p at key_pool + p * page_stride:
                                         // [num_kv_heads, kPageTokens, head_dim]
  float* value_pool = nullptr;           // the same; may interleave with key_pool by the stride
  int64_t page_stride = 0;               // elements between pages of one pool
  const int32_t* block_table = nullptr;  // [num_pages]: page that holds tokens 64 i ..; -1 =
                                         // unused, never dereferenced
  int64_t num_pages = 0;
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
};

// Writes rows of new tokens into their pages. Refused whole when a page is missing.
struct KvCacheWriteParams {
  PagedKvCache cache;
  const float* key = nullptr;    // [num_tokens, num_kv_heads, head_dim]
  const float* value = nullptr;  // [num_tokens, num_kv_heads, head_dim]
  int64_t num_tokens = 0;
  int64_t first_position = 0;
  int64_t key_row_stride = 0;    // elements; 0: num_kv_heads * head_dim
  int64_t value_row_stride = 0;  // elements; 0: num_kv_heads * head_dim
};

// Keys and values of positions 0 .. first_position + num_tokens - 1 must be in the cache.
struct PagedAttentionParams {
  PagedKvCache cache;
  const float* q = nullptr;  // [num_tokens, num_heads, head_dim]
  float* out = nullptr;      // [num_tokens, num_heads, head_dim] contiguous
  int64_t num_tokens = 0;
  int64_t num_heads = 0;       // a multiple of cache.num_kv_heads
  int64_t first_position = 0;  // of row 0
  int64_t q_row_stride = 0;    // elements; 0: num_heads * head_dim
  float scale = 0.0F;          // 0: 1 / sqrt(head_dim)
};

[[nodiscard]] inline OperatorCost kv_cache_write_cost(const KvCacheWriteParams& p) {
  return {16 * p.num_tokens * p.cache.num_kv_heads * p.cache.head_dim, 0};
}

[[nodiscard]] inline OperatorCost paged_attention_cost(const PagedAttentionParams& p) {
  const int64_t last = p.first_position + p.num_tokens;
  const int64_t pairs = p.num_tokens * p.first_position + p.num_tokens * (p.num_tokens + 1) / 2;
  return {8 * (last * p.cache.num_kv_heads + p.num_tokens * p.num_heads) * p.cache.head_dim,
          4 * pairs * p.num_heads * p.cache.head_dim};
}

[[nodiscard]] LaunchStatus kv_cache_write_reference(const KvCacheWriteParams& params,
                                                    CpuExecutor& executor);
[[nodiscard]] LaunchStatus paged_attention_reference(const PagedAttentionParams& params,
                                                     CpuExecutor& executor);

}  // namespace ifr::kernels
