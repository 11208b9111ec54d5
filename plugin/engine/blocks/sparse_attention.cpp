// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/sparse_attention.h"

#include <algorithm>

#include "engine/blocks/attention.h"
#include "engine/blocks/linear.h"
#include "interframe_kernels/block_selection.h"
#include "interframe_kernels/elementwise.h"
#include "interframe_kernels/indexer.h"
#include "interframe_kernels/rms_norm.h"
#include "interframe_kernels/sparse_attention.h"

namespace ifr {

namespace {

// Scores of one group of rows; 4 MiB stay near the core, and one row of the longest context always
// fits.
constexpr int64_t kScoreLen = int64_t{1} << 20;

int64_t max_selected(const SparseAttentionShape& shape) {
  return kernels::selection_max_tokens(shape.max_blocks, shape.ratio);
}

// Query heads lie beside their gates; the norm packs them.
Status norm_heads(const StepContext& context, const SparseAttentionShape& shape, const float* x,
                  int64_t x_head_stride, int64_t num_heads, const float* weight, float* y) {
  const kernels::RmsNormParams params = {.x = x,
                                         .weight = weight,
                                         .y = y,
                                         .num_tokens = context.num_tokens,
                                         .num_groups = num_heads,
                                         .group_len = shape.head_dim,
                                         .x_row_stride = num_heads * x_head_stride,
                                         .x_group_stride = x_head_stride,
                                         .y_row_stride = num_heads * shape.head_dim,
                                         .y_group_stride = shape.head_dim,
                                         .weight_group_stride = 0,
                                         .eps = shape.eps,
                                         .centre = kernels::NormCentre::kZero};
  return run_operator(context, OperatorId::kRmsNorm, kernels::rms_norm_reference, params,
                      kernels::rms_norm_cost(params));
}

Status update_index(const StepContext& context, const SparseAttentionShape& shape,
                    const SparseAttentionWeights& weights, const SparseAttentionState& state,
                    const SparseAttentionScratch& scratch) {
  const int64_t row_stride = int64_t{shape.indexer_num_heads + 1} * shape.indexer_head_dim;
  const kernels::IndexerStateUpdateParams update = {
      .raw_keys = scratch.index_qk + int64_t{shape.indexer_num_heads} * shape.indexer_head_dim,
      .norm_weight = weights.index_k_norm,
      .inverse_frequency = shape.inverse_frequency,
      .pending = state.pending,
      .block_keys = state.block_keys,
      .num_tokens = context.num_tokens,
      .key_dim = shape.indexer_head_dim,
      .raw_key_stride = row_stride,
      .ratio = shape.ratio,
      .block_capacity = state.block_capacity,
      .rotary_dim = shape.rotary_dim,
      .first_position = context.first_position,
      .eps = shape.eps};
  IFR_TRY(run_operator(context, OperatorId::kIndexerState, kernels::indexer_state_update_reference,
                       update, kernels::indexer_state_update_cost(update)));
  const kernels::IndexerQueryParams query = {.raw_q = scratch.index_qk,
                                             .norm_weight = weights.index_q_norm,
                                             .inverse_frequency = shape.inverse_frequency,
                                             .q = scratch.index_q,
                                             .num_tokens = context.num_tokens,
                                             .num_heads = shape.indexer_num_heads,
                                             .key_dim = shape.indexer_head_dim,
                                             .raw_q_stride = row_stride,
                                             .rotary_dim = shape.rotary_dim,
                                             .first_position = context.first_position,
                                             .eps = shape.eps};
  return run_operator(context, OperatorId::kIndexerState, kernels::indexer_query_reference, query,
                      kernels::indexer_query_cost(query));
}

// Rows first_row .. first_row + num_rows - 1; their scores are gone afterwards.
Status select_rows(const StepContext& context, const SparseAttentionShape& shape,
                   const SparseAttentionState& state, const SparseAttentionScratch& scratch,
                   int64_t first_row, int64_t num_rows) {
  const int64_t num_blocks =
      shape.num_complete_blocks(context.first_position + first_row + num_rows);
  const kernels::IndexerScoreParams score = {
      .q = scratch.index_q + first_row * int64_t{shape.indexer_num_heads} * shape.indexer_head_dim,
      .block_keys = state.block_keys,
      .scores = scratch.scores,
      .live_counts = scratch.live_counts + first_row,
      .num_tokens = num_rows,
      .num_heads = shape.indexer_num_heads,
      .key_dim = shape.indexer_head_dim,
      .num_blocks = num_blocks,
      .score_stride = num_blocks,
      .ratio = shape.ratio,
      .first_position = context.first_position + first_row};
  IFR_TRY(run_operator(context, OperatorId::kIndexerScore, kernels::indexer_score_reference, score,
                       kernels::indexer_score_cost(score)));
  const kernels::BlockSelectionParams selection = {
      .shape = {.num_rows = num_rows, .row_len = num_blocks, .k = shape.max_blocks},
      .scores = scratch.scores,
      .scores_stride = num_blocks,
      .live_counts = scratch.live_counts + first_row,
      .indices = scratch.blocks + first_row * shape.max_blocks,
      .counts = scratch.block_counts + first_row,
      .chosen_scores = scratch.block_scores + first_row * shape.max_blocks};
  return run_operator(context, OperatorId::kBlockSelection, kernels::block_selection_reference,
                      selection, kernels::block_selection_cost(selection.shape));
}

void tell_selections(const StepContext& context, const SparseAttentionShape& shape,
                     const SparseAttentionScratch& scratch) {
  if (context.observer == nullptr) {
    return;
  }
  for (int64_t row = 0; row < context.num_tokens; ++row) {
    const size_t count = static_cast<size_t>(scratch.block_counts[row]);
    context.observer->on_selection(
        {.layer = context.layer,
         .query_position = static_cast<int32_t>(context.first_position + row),
         .num_visible_blocks = scratch.live_counts[row],
         .block_idx = {scratch.blocks + row * shape.max_blocks, count},
         .scores = {scratch.block_scores + row * shape.max_blocks, count}});
  }
}

Status select(const StepContext& context, const SparseAttentionShape& shape,
              const SparseAttentionState& state, const SparseAttentionScratch& scratch) {
  const int64_t last_blocks =
      std::max<int64_t>(1, shape.num_complete_blocks(context.first_position + context.num_tokens));
  const int64_t rows_at_once = std::max<int64_t>(1, scratch.score_len / last_blocks);
  for (int64_t row = 0; row < context.num_tokens; row += rows_at_once) {
    IFR_TRY(select_rows(context, shape, state, scratch, row,
                        std::min(rows_at_once, context.num_tokens - row)));
  }
  tell_selections(context, shape, scratch);
  const kernels::SelectionExpandParams expand = {.blocks = scratch.blocks,
                                                 .selected = scratch.selected,
                                                 .counts = scratch.counts,
                                                 .num_tokens = context.num_tokens,
                                                 .max_blocks = shape.max_blocks,
                                                 .max_selected = max_selected(shape),
                                                 .ratio = shape.ratio,
                                                 .first_position = context.first_position};
  return run_operator(context, OperatorId::kBlockSelection, kernels::selection_expand_reference,
                      expand, kernels::selection_expand_cost(expand));
}

// Normalised, turned queries and keys; keys and values into the cache.
Status project(const StepContext& context, const SparseAttentionShape& shape,
               const SparseAttentionWeights& weights, const kernels::PagedKvCache& cache,
               const float* x, const SparseAttentionScratch& scratch) {
  IFR_TRY(run_linear(context, weights.q, x, scratch.q_gate));
  IFR_TRY(run_linear(context, weights.k, x, scratch.k));
  IFR_TRY(run_linear(context, weights.v, x, scratch.v));
  IFR_TRY(run_linear(context, weights.index_qk, x, scratch.index_qk));
  IFR_TRY(norm_heads(context, shape, scratch.q_gate, 2 * int64_t{shape.head_dim}, shape.num_heads,
                     weights.q_norm, scratch.q));
  IFR_TRY(norm_heads(context, shape, scratch.k, shape.head_dim, shape.num_kv_heads, weights.k_norm,
                     scratch.k));
  IFR_TRY(run_rotary(context, scratch.q, shape.num_heads, shape.head_dim, shape.rotary_dim,
                     shape.inverse_frequency, kernels::RotaryPairing::kHalves));
  IFR_TRY(run_rotary(context, scratch.k, shape.num_kv_heads, shape.head_dim, shape.rotary_dim,
                     shape.inverse_frequency, kernels::RotaryPairing::kHalves));
  return write_kv_cache(context, cache, scratch.k, scratch.v);
}

}  // namespace

void SparseAttentionWeights::plan(WeightPlan& plan, const std::string& prefix) {
  plan.matrix(prefix + "q_proj.weight", &q);
  plan.matrix(prefix + "k_proj.weight", &k);
  plan.matrix(prefix + "v_proj.weight", &v);
  plan.matrix(prefix + "o_proj.weight", &out);
  plan.vector(prefix + "q_norm.weight", &q_norm);
  plan.vector(prefix + "k_norm.weight", &k_norm);
  plan.matrix(prefix + "indexer.index_qk_proj.weight", &index_qk);
  plan.vector(prefix + "indexer.q_layernorm.weight", &index_q_norm);
  plan.vector(prefix + "indexer.k_layernorm.weight", &index_k_norm);
}

void SparseAttentionState::lay_out_recurrent(const SparseAttentionShape& shape,
                                             ScratchLayout& layout) {
  layout.add(pending, int64_t{shape.ratio} * shape.indexer_head_dim);
}

void SparseAttentionState::lay_out_appended(const SparseAttentionShape& shape,
                                            int64_t context_tokens, ScratchLayout& layout) {
  block_capacity = shape.num_complete_blocks(context_tokens);
  layout.add(block_keys, block_capacity * shape.indexer_head_dim);
}

void SparseAttentionScratch::lay_out(const SparseAttentionShape& shape, int64_t max_tokens,
                                     ScratchLayout& layout) {
  const int64_t q_width = int64_t{shape.num_heads} * shape.head_dim;
  const int64_t kv_width = int64_t{shape.num_kv_heads} * shape.head_dim;
  const int64_t index_width = int64_t{shape.indexer_num_heads} * shape.indexer_head_dim;
  layout.add(q_gate, max_tokens * 2 * q_width);
  layout.add(q, max_tokens * q_width);
  layout.add(k, max_tokens * kv_width);
  layout.add(v, max_tokens * kv_width);
  layout.add(out, max_tokens * q_width);
  layout.add(index_qk, max_tokens * (index_width + shape.indexer_head_dim));
  layout.add(index_q, max_tokens * index_width);
  score_len = std::max<int64_t>(1, std::min(kScoreLen, max_tokens * shape.max_score_blocks));
  layout.add(scores, score_len);
  layout.add(live_counts, max_tokens);
  layout.add(blocks, max_tokens * shape.max_blocks);
  layout.add(block_counts, max_tokens);
  layout.add(block_scores, max_tokens * shape.max_blocks);
  layout.add(selected, max_tokens * max_selected(shape));
  layout.add(counts, max_tokens);
}

Status run_sparse_attention(const StepContext& context, const SparseAttentionShape& shape,
                            const SparseAttentionWeights& weights,
                            const kernels::PagedKvCache& cache, const SparseAttentionState& state,
                            const float* x, float* y, const SparseAttentionScratch& scratch) {
  IFR_TRY(project(context, shape, weights, cache, x, scratch));
  IFR_TRY(update_index(context, shape, weights, state, scratch));
  IFR_TRY(select(context, shape, state, scratch));
  const kernels::SparseAttentionParams attention = {.cache = cache,
                                                    .q = scratch.q,
                                                    .selected = scratch.selected,
                                                    .counts = scratch.counts,
                                                    .out = scratch.out,
                                                    .num_tokens = context.num_tokens,
                                                    .num_heads = shape.num_heads,
                                                    .max_selected = max_selected(shape),
                                                    .first_position = context.first_position};
  IFR_TRY(run_operator(context, OperatorId::kSparseAttention, kernels::sparse_attention_reference,
                       attention, kernels::sparse_attention_cost(attention)));
  const kernels::SigmoidGateParams gate = {
      .x = scratch.out,
      .gate = scratch.q_gate + shape.head_dim,
      .num_tokens = context.num_tokens,
      .num_heads = shape.num_heads,
      .head_dim = shape.head_dim,
      .gate_row_stride = 2 * int64_t{shape.num_heads} * shape.head_dim,
      .gate_head_stride = 2 * int64_t{shape.head_dim}};
  IFR_TRY(run_operator(context, OperatorId::kElementwise, kernels::sigmoid_gate_reference, gate,
                       kernels::sigmoid_gate_cost(gate)));
  return run_linear(context, weights.out, scratch.out, y);
}

}  // namespace ifr
