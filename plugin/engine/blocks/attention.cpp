// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/attention.h"

#include "engine/blocks/block_sparse.h"
#include "engine/blocks/linear.h"

namespace ifr {

void AttentionScratch::lay_out(const AttentionShape& shape, int64_t max_tokens,
                               ScratchLayout& layout) {
  const int64_t q_width = int64_t{shape.num_heads} * shape.head_dim;
  const int64_t kv_width = int64_t{shape.num_kv_heads} * shape.head_dim;
  layout.add(q, max_tokens * q_width);
  layout.add(k, max_tokens * kv_width);
  layout.add(v, max_tokens * kv_width);
  layout.add(out, max_tokens * q_width);
}

Status run_rotary(const StepContext& context, float* x, int64_t num_heads, int64_t head_dim,
                  int64_t rotary_dim, const float* inverse_frequency,
                  kernels::RotaryPairing pairing) {
  const kernels::RotaryParams params = {.x = x,
                                        .inverse_frequency = inverse_frequency,
                                        .num_tokens = context.num_tokens,
                                        .num_heads = num_heads,
                                        .head_stride = head_dim,
                                        .row_stride = num_heads * head_dim,
                                        .rotary_dim = rotary_dim,
                                        .first_position = context.first_position,
                                        .pairing = pairing};
  return run_operator(context, OperatorId::kRotary, kernels::rotary_reference, params,
                      kernels::rotary_cost(params));
}

Status write_kv_cache(const StepContext& context, const kernels::PagedKvCache& cache,
                      const float* k, const float* v) {
  const kernels::KvCacheWriteParams params = {.cache = cache,
                                              .key = k,
                                              .value = v,
                                              .num_tokens = context.num_tokens,
                                              .first_position = context.first_position};
  return run_operator(context, OperatorId::kKvCacheWrite, kernels::kv_cache_write_reference, params,
                      kernels::kv_cache_write_cost(params));
}

namespace {

Status attend(const StepContext& context, const AttentionShape& shape,
              const kernels::PagedKvCache& cache, const AttentionScratch& scratch) {
  const kernels::PagedAttentionParams attention = {.cache = cache,
                                                   .q = scratch.q,
                                                   .out = scratch.out,
                                                   .num_tokens = context.num_tokens,
                                                   .num_heads = shape.num_heads,
                                                   .first_position = context.first_position};
  return run_operator(context, OperatorId::kAttention, kernels::paged_attention_reference,
                      attention, kernels::paged_attention_cost(attention));
}

}  // namespace

Status run_attention(const StepContext& context, const AttentionShape& shape,
                     const AttentionWeights& weights, const kernels::PagedKvCache& cache,
                     const float* x, float* y, const AttentionScratch& scratch,
                     const BlockSparse* sparse) {
  IFR_TRY(run_linear(context, weights.q, x, scratch.q));
  IFR_TRY(run_linear(context, weights.k, x, scratch.k));
  IFR_TRY(run_linear(context, weights.v, x, scratch.v));
  IFR_TRY(run_rotary(context, scratch.q, shape.num_heads, shape.head_dim, shape.rotary_dim,
                     shape.inverse_frequency, shape.pairing));
  IFR_TRY(run_rotary(context, scratch.k, shape.num_kv_heads, shape.head_dim, shape.rotary_dim,
                     shape.inverse_frequency, shape.pairing));
  IFR_TRY(write_kv_cache(context, cache, scratch.k, scratch.v));
  IFR_TRY(sparse == nullptr ? attend(context, shape, cache, scratch)
                            : run_block_sparse(context, *sparse, cache, scratch.q, scratch.out));
  return run_linear(context, weights.out, scratch.out, y);
}

}  // namespace ifr
