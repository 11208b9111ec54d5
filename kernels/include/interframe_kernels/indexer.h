// SPDX-License-Identifier: Apache-2.0
// The indexer of sparse attention, one sequence a call. Tokens are cut into blocks of `ratio` at
// absolute positions; a complete block has one key.
//   indexer_state_update: key(block) = rotary(rms(mean of its raw keys, 1 + w), first position)
//   indexer_query:        q = rotary(rms(raw q, 1 + w), position), per head
//   indexer_score:        score(t, block) = sum over heads relu(q . key) / sqrt(Di)
//   selection_expand:     chosen blocks in rank order -> token positions, then the tail, then -1
// block_selection stands between the last two.
// Numeric contract: float32. A mean adds its raw keys in token order, then divides. Heads are added
// in ascending order; a NaN dot counts 0 for its head; a score is never -0.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

// The state is block_keys rows 0 .. first_position / ratio - 1 and the pending rows of the
// first_position % ratio tokens after them: all counts follow from the position.
struct IndexerStateUpdateParams {
  const float* raw_keys = nullptr;           // [num_tokens, key_dim], rows raw_key_stride apart
  const float* norm_weight = nullptr;        // [key_dim], zero-centred
  const float* inverse_frequency = nullptr;  // [rotary_dim / 2]
  float* pending = nullptr;     // [ratio, key_dim] raw keys of the open block, in place
  float* block_keys = nullptr;  // [block_capacity, key_dim], appended
  int64_t num_tokens = 0;
  int64_t key_dim = 0;
  int64_t raw_key_stride = 0;  // elements; 0: key_dim
  int64_t ratio = 0;           // tokens a block, >= 1
  int64_t block_capacity = 0;
  int64_t rotary_dim = 0;  // even, <= key_dim; halves pairing
  int64_t first_position = 0;
  float eps = 1e-6F;
};

struct IndexerQueryParams {
  const float* raw_q = nullptr;              // [num_tokens, num_heads, key_dim], rows raw_q_stride
                                             // apart
  const float* norm_weight = nullptr;        // [key_dim], zero-centred
  const float* inverse_frequency = nullptr;  // [rotary_dim / 2]
  float* q = nullptr;                        // [num_tokens, num_heads, key_dim] contiguous
  int64_t num_tokens = 0;
  int64_t num_heads = 0;
  int64_t key_dim = 0;
  int64_t raw_q_stride = 0;  // elements; 0: num_heads * key_dim
  int64_t rotary_dim = 0;    // even, <= key_dim; halves pairing
  int64_t first_position = 0;
  float eps = 1e-6F;
};

// Row t scores the blocks complete at its position: live = (first_position + t + 1) / ratio of
// them.
struct IndexerScoreParams {
  const float* q = nullptr;           // [num_tokens, num_heads, key_dim]
  const float* block_keys = nullptr;  // [num_blocks, key_dim]
  float* scores = nullptr;            // [num_tokens, score_stride]; row t: its live first, the rest
                                      // untouched
  int32_t* live_counts = nullptr;     // [num_tokens]
  int64_t num_tokens = 0;
  int64_t num_heads = 0;
  int64_t key_dim = 0;
  int64_t num_blocks = 0;    // complete blocks in block_keys, >= the last row's live
  int64_t score_stride = 0;  // elements, >= the last row's live
  int64_t ratio = 0;
  int64_t first_position = 0;
};

// A row's list: ratio tokens, ascending, of each chosen block in the order given, then the tail
// (the tokens after the last complete block up to the row's own position), then -1. A negative
// block ends the row's blocks; a block that is not complete at the row's position is skipped.
struct SelectionExpandParams {
  const int32_t* blocks = nullptr;  // [num_tokens, max_blocks] in rank order, -1 = unused
  int32_t* selected = nullptr;      // [num_tokens, max_selected] positions
  int32_t* counts = nullptr;        // [num_tokens]
  int64_t num_tokens = 0;
  int64_t max_blocks = 0;    // budget / ratio
  int64_t max_selected = 0;  // >= selection_max_tokens(max_blocks, ratio)
  int64_t ratio = 0;
  int64_t first_position = 0;
};

// Most tokens that one row's list can hold.
[[nodiscard]] constexpr int64_t selection_max_tokens(int64_t max_blocks, int64_t ratio) {
  return max_blocks * ratio + ratio - 1;
}

[[nodiscard]] inline OperatorCost indexer_state_update_cost(const IndexerStateUpdateParams& p) {
  return {8 * p.num_tokens * p.key_dim, 3 * p.num_tokens * p.key_dim};
}
[[nodiscard]] inline OperatorCost indexer_query_cost(const IndexerQueryParams& p) {
  const int64_t elements = p.num_tokens * p.num_heads * p.key_dim;
  return {8 * elements, 7 * elements};
}
[[nodiscard]] inline OperatorCost indexer_score_cost(const IndexerScoreParams& p) {
  const int64_t live = p.ratio > 0 ? (p.first_position + p.num_tokens) / p.ratio : 0;
  return {4 * (live * p.key_dim + p.num_tokens * (live + p.num_heads * p.key_dim)),
          2 * p.num_tokens * live * p.num_heads * p.key_dim};
}
[[nodiscard]] inline OperatorCost selection_expand_cost(const SelectionExpandParams& p) {
  return {4 * p.num_tokens * (p.max_blocks + p.max_selected + 1), 0};
}

// kWorkspaceTooSmall when block_capacity cannot take the blocks that would complete: nothing is
// written then.
[[nodiscard]] LaunchStatus indexer_state_update_reference(const IndexerStateUpdateParams& params,
                                                          CpuExecutor& executor);
[[nodiscard]] LaunchStatus indexer_query_reference(const IndexerQueryParams& params,
                                                   CpuExecutor& executor);
[[nodiscard]] LaunchStatus indexer_score_reference(const IndexerScoreParams& params,
                                                   CpuExecutor& executor);
[[nodiscard]] LaunchStatus selection_expand_reference(const SelectionExpandParams& params,
                                                      CpuExecutor& executor);

}  // namespace ifr::kernels
