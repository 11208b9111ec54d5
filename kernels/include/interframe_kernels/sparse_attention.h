// SPDX-License-Identifier: Apache-2.0
// Attention over selected tokens of the paged cache, one sequence a call. Nothing is selected here:
//   o[t, h] = sum over listed j of softmax_j(q[t, h] . k[j, h'] * scale) v[j, h'].
// The list of row t is selected[t, 0 .. count), count = clamp(counts[t], 0, max_selected); what
// stands after it is never read. An entry that is negative, beyond the row's own position (future)
// or without a page adds nothing; an entry listed twice counts twice; no valid entry gives exactly
// 0. Numeric contract: float32, entries in listed order, online softmax over runs of kPageTokens of
// the list; the bits of a row depend on the row, its list and the cache alone.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"
#include "interframe_kernels/paged_attention.h"

namespace ifr::kernels {

struct SparseAttentionParams {
  PagedKvCache cache;
  const float* q = nullptr;           // [num_tokens, num_heads, head_dim]
  const int32_t* selected = nullptr;  // [num_tokens, max_selected] positions; -1 = unused
  const int32_t* counts = nullptr;    // [num_tokens]
  float* out = nullptr;               // [num_tokens, num_heads, head_dim] contiguous
  int64_t num_tokens = 0;
  int64_t num_heads = 0;       // a multiple of cache.num_kv_heads
  int64_t max_selected = 0;    // may be 0
  int64_t first_position = 0;  // of row 0
  int64_t q_row_stride = 0;    // elements; 0: num_heads * head_dim
  float scale = 0.0F;          // 0: 1 / sqrt(head_dim)
};

[[nodiscard]] inline OperatorCost sparse_attention_cost(const SparseAttentionParams& p) {
  const int64_t pairs = p.num_tokens * p.max_selected;
  return {8 * (pairs * p.cache.num_kv_heads + p.num_tokens * p.num_heads) * p.cache.head_dim +
              4 * pairs,
          4 * pairs * p.num_heads * p.cache.head_dim};
}

// Strict reading of the lists: kInvalidArgument with a message of its own for a count that is
// negative or above max_selected, and for an entry that is negative, future, without a page or
// listed twice. value: the offending number. Not called by the operator itself. Quadratic in the
// count.
[[nodiscard]] LaunchStatus sparse_attention_check_lists(const SparseAttentionParams& params);

[[nodiscard]] LaunchStatus sparse_attention_reference(const SparseAttentionParams& params,
                                                      CpuExecutor& executor);

}  // namespace ifr::kernels
