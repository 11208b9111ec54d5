// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/block_sparse.h"

#include <algorithm>

#include "interframe_kernels/block_sparse_attention.h"

namespace ifr {

namespace {

Status update_means(const StepContext& context, const kernels::PagedKvCache& cache,
                    const BlockSparseState& state) {
  const kernels::BlockMeanUpdateParams update = {.cache = cache,
                                                 .means = state.means,
                                                 .num_tokens = context.num_tokens,
                                                 .first_position = context.first_position,
                                                 .block_tokens = kSparseBlockTokens,
                                                 .block_capacity = state.block_capacity};
  return run_operator(context, OperatorId::kIndexerState, kernels::block_mean_update_reference,
                      update, kernels::block_mean_update_cost(update));
}

// Lists of the rows from first_row on.
Status select(const StepContext& context, const BlockSparse& sparse, const float* q,
              int64_t first_row) {
  const BlockSparseShape& shape = sparse.shape;
  const BlockSparseScratch& scratch = sparse.scratch;
  if (first_row == context.num_tokens) {
    return {};
  }
  const int64_t offset = first_row * shape.num_kv_heads * shape.max_blocks;
  const kernels::BlockSparseSelectParams selection = {
      .q = q + first_row * shape.num_heads * shape.head_dim,
      .means = sparse.state.means,
      .blocks = scratch.blocks + offset,
      .scores = context.observer == nullptr ? nullptr : scratch.scores + offset,
      .scratch = scratch.ranks + offset,
      .num_tokens = context.num_tokens - first_row,
      .num_heads = shape.num_heads,
      .num_kv_heads = shape.num_kv_heads,
      .head_dim = shape.head_dim,
      .block_tokens = kSparseBlockTokens,
      .max_blocks = shape.max_blocks,
      .num_first_blocks = shape.num_first_blocks,
      .num_recent_blocks = shape.num_recent_blocks,
      .first_position = context.first_position + first_row};
  return run_operator(context, OperatorId::kBlockSelection, kernels::block_sparse_select_reference,
                      selection, kernels::block_sparse_select_cost(selection));
}

void tell_selection(const StepContext& context, const BlockSparseShape& shape,
                    const BlockSparseScratch& scratch, int64_t row) {
  using Choice = BlockSparseScratch::Choice;
  const int64_t position = context.first_position + row;
  const auto num_complete = static_cast<int32_t>((position + 1) / kSparseBlockTokens);
  const int64_t num_places = int64_t{shape.num_kv_heads} * shape.max_blocks;
  Choice* end = scratch.choices;
  for (int64_t i = row * num_places; i < (row + 1) * num_places; ++i) {
    if (scratch.blocks[i] >= 0 && scratch.blocks[i] < num_complete) {
      *end++ = {.block = scratch.blocks[i], .score = scratch.scores[i]};
    }
  }
  // The best of each block first in its run, so that it is the one that stays.
  std::sort(scratch.choices, end, [](const Choice& a, const Choice& b) {
    return a.block != b.block ? a.block < b.block : a.score > b.score;
  });
  end = std::unique(scratch.choices, end,
                    [](const Choice& a, const Choice& b) { return a.block == b.block; });
  std::sort(scratch.choices, end, [](const Choice& a, const Choice& b) {
    return a.score != b.score ? a.score > b.score : a.block < b.block;
  });
  const auto count = static_cast<size_t>(end - scratch.choices);
  for (size_t i = 0; i < count; ++i) {
    scratch.told_blocks[i] = scratch.choices[i].block;
    scratch.told_scores[i] = scratch.choices[i].score;
  }
  context.observer->on_selection({.layer = context.layer,
                                  .query_position = static_cast<int32_t>(position),
                                  .num_visible_blocks = num_complete,
                                  .block_idx = {scratch.told_blocks, count},
                                  .scores = {scratch.told_scores, count}});
}

}  // namespace

Status check_sparse_budget(int32_t budget_tokens) {
  if (budget_tokens == 0) {
    return {};
  }
  if (budget_tokens < kMinSparseBudgetTokens || budget_tokens % kSparseBlockTokens != 0) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "a sparse budget of %d tokens is not possible: give 0 (dense) or a multiple "
                      "of %d, at least %d",
                      budget_tokens, kSparseBlockTokens, kMinSparseBudgetTokens);
  }
  return {};
}

Status check_sparse_context(const BlockSparseShape& shape, int32_t context_tokens) {
  if (shape.is_sparse() && context_tokens / kSparseBlockTokens >= kernels::kBlockSparseMaxBlocks) {
    return make_error(
        Code::kUnsupported, Part::kEngine,
        "a context of %d tokens is too long for sparse attention: %lld at most, or "
        "load the model without a sparse budget",
        context_tokens,
        static_cast<long long>(kernels::kBlockSparseMaxBlocks * kSparseBlockTokens - 1));
  }
  return {};
}

BlockSparseShape BlockSparseShape::make(int32_t budget_tokens, int32_t context_tokens,
                                        const AttentionShape& attention) {
  BlockSparseShape shape = {.num_heads = attention.num_heads,
                            .num_kv_heads = attention.num_kv_heads,
                            .head_dim = attention.head_dim};
  if (budget_tokens > 0) {
    // More than the longest context has would only make the lists longer.
    const auto context_blocks = static_cast<int32_t>(
        std::min<int64_t>(context_tokens / kSparseBlockTokens + 1, kernels::kBlockSparseMaxBlocks));
    shape.max_blocks =
        std::min(budget_tokens / kSparseBlockTokens,
                 std::max(context_blocks, kMinSparseBudgetTokens / kSparseBlockTokens));
    shape.num_first_blocks = 1;
    shape.num_recent_blocks = std::max(1, shape.max_blocks / 8);
    shape.max_context_blocks = context_tokens / kSparseBlockTokens;
  }
  return shape;
}

int32_t BlockSparseShape::max_union_blocks() const {
  return static_cast<int32_t>(
      std::min<int64_t>(int64_t{num_kv_heads} * max_blocks, max_context_blocks));
}

void BlockSparseState::lay_out_appended(const BlockSparseShape& shape, int64_t context_tokens,
                                        ScratchLayout& layout) {
  if (shape.is_sparse()) {
    block_capacity = context_tokens / kSparseBlockTokens;
    layout.add(means, block_capacity * shape.num_kv_heads * shape.head_dim);
  }
}

std::span<std::byte> BlockSparseState::rows(const BlockSparseShape& shape,
                                            int64_t num_tokens) const {
  if (!shape.is_sparse()) {
    return {};
  }
  const int64_t count = num_tokens / kSparseBlockTokens * shape.num_kv_heads * shape.head_dim;
  return std::as_writable_bytes(std::span(means, static_cast<size_t>(count)));
}

void BlockSparseScratch::lay_out(const BlockSparseShape& shape, int64_t max_tokens,
                                 ScratchLayout& layout) {
  if (!shape.is_sparse()) {
    return;
  }
  const int64_t num_places = int64_t{shape.num_kv_heads} * shape.max_blocks;
  layout.add(blocks, max_tokens * num_places);
  layout.add(scores, max_tokens * num_places);
  layout.add(ranks, max_tokens * num_places);
  layout.add(choices, num_places);
  layout.add(told_blocks, num_places);
  layout.add(told_scores, num_places);
}

Status run_block_sparse(const StepContext& context, const BlockSparse& sparse,
                        const kernels::PagedKvCache& cache, const float* q, float* out) {
  const BlockSparseShape& shape = sparse.shape;
  IFR_TRY(update_means(context, cache, sparse.state));
  // Rows that read all of their blocks need a list only to tell of it.
  const int64_t first_row =
      context.observer != nullptr
          ? 0
          : kernels::block_sparse_whole_rows(context.first_position, context.num_tokens,
                                             kSparseBlockTokens, shape.max_blocks);
  IFR_TRY(select(context, sparse, q, first_row));
  for (int64_t row = 0; context.observer != nullptr && row < context.num_tokens; ++row) {
    tell_selection(context, shape, sparse.scratch, row);
  }
  const kernels::BlockSparseAttentionParams attention = {.cache = cache,
                                                         .q = q,
                                                         .blocks = sparse.scratch.blocks,
                                                         .out = out,
                                                         .num_tokens = context.num_tokens,
                                                         .num_heads = shape.num_heads,
                                                         .block_tokens = kSparseBlockTokens,
                                                         .max_blocks = shape.max_blocks,
                                                         .first_position = context.first_position};
  return run_operator(context, OperatorId::kSparseAttention,
                      kernels::block_sparse_attention_reference, attention,
                      kernels::block_sparse_attention_cost(attention));
}

}  // namespace ifr
