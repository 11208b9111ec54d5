// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/indexer.h"

#include <cmath>
#include <cstring>

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"
#include "reference/rms_row.h"
#include "reference/rotary_row.h"

namespace ifr::kernels {
namespace {

constexpr int64_t kBlocksPerStep = 128;  // blocks that one thread scores at a time

LaunchStatus check_key_shape(int64_t num_tokens, int64_t first_position, int64_t key_dim,
                             int64_t rotary_dim) {
  if (num_tokens < 0 || first_position < 0) {
    return invalid("num_tokens or first_position", num_tokens);
  }
  if (key_dim <= 0) {
    return invalid("key_dim", key_dim);
  }
  if (rotary_dim < 0 || rotary_dim % 2 != 0 || rotary_dim > key_dim) {
    return invalid("rotary_dim", rotary_dim);
  }
  return {};
}

LaunchStatus check_state_update(const IndexerStateUpdateParams& params) {
  if (const LaunchStatus status = check_key_shape(params.num_tokens, params.first_position,
                                                  params.key_dim, params.rotary_dim);
      !status.is_ok()) {
    return status;
  }
  if (params.ratio < 1) {
    return invalid("ratio", params.ratio);
  }
  if (params.raw_keys == nullptr || params.norm_weight == nullptr || params.pending == nullptr ||
      (params.inverse_frequency == nullptr && params.rotary_dim > 0)) {
    return invalid("raw_keys, norm_weight, pending or inverse_frequency is null");
  }
  const int64_t end_block = (params.first_position + params.num_tokens) / params.ratio;
  if (end_block > params.block_capacity) {
    return {LaunchCode::kWorkspaceTooSmall, "block_capacity is below the blocks that complete",
            end_block, 0};
  }
  if (params.block_keys == nullptr && end_block > 0) {
    return invalid("block_keys is null");
  }
  return {};
}

// Raw key of a position of this call, or of the open block before it.
const float* raw_key(const IndexerStateUpdateParams& params, int64_t position) {
  if (position < params.first_position) {
    return params.pending + position % params.ratio * params.key_dim;
  }
  const int64_t stride = stride_or(params.raw_key_stride, params.key_dim);
  return params.raw_keys + (position - params.first_position) * stride;
}

void complete_block(const IndexerStateUpdateParams& params, const VectorOps& ops, int64_t block) {
  float* key = params.block_keys + block * params.key_dim;
  const int64_t first = block * params.ratio;
  std::memcpy(key, raw_key(params, first), static_cast<size_t>(params.key_dim) * sizeof(float));
  for (int64_t i = 1; i < params.ratio; ++i) {
    const float* raw = raw_key(params, first + i);
    for (int64_t d = 0; d < params.key_dim; ++d) {
      key[d] += raw[d];
    }
  }
  for (int64_t d = 0; d < params.key_dim; ++d) {
    key[d] /= static_cast<float>(params.ratio);
  }
  rms_row(ops, key, params.norm_weight, params.key_dim, params.eps, NormCentre::kZero, key);
  rotate_halves(key, params.rotary_dim, first, params.inverse_frequency);
}

// scores[0 .. count) of blocks first ..
void score_blocks(const IndexerScoreParams& params, const VectorOps& ops, int64_t token,
                  int64_t first, int64_t count) {
  const float* rows[kBlocksPerStep];
  float dots[kBlocksPerStep];
  for (int64_t i = 0; i < count; ++i) {
    rows[i] = params.block_keys + (first + i) * params.key_dim;
  }
  float* scores = params.scores + token * params.score_stride + first;
  std::fill(scores, scores + count, 0.0F);
  for (int64_t h = 0; h < params.num_heads; ++h) {
    const float* q = params.q + (token * params.num_heads + h) * params.key_dim;
    ops.dot_rows(q, rows, count, params.key_dim, dots);
    for (int64_t i = 0; i < count; ++i) {
      scores[i] += dots[i] > 0.0F ? dots[i] : 0.0F;  // false for NaN
    }
  }
  const float scale = 1.0F / std::sqrt(static_cast<float>(params.key_dim));
  for (int64_t i = 0; i < count; ++i) {
    scores[i] *= scale;
  }
}

void expand_row(const SelectionExpandParams& params, int64_t token) {
  const int64_t position = params.first_position + token;
  const int64_t live = (position + 1) / params.ratio;
  const int32_t* blocks = params.blocks + token * params.max_blocks;
  int32_t* selected = params.selected + token * params.max_selected;
  int64_t count = 0;
  for (int64_t i = 0; i < params.max_blocks && blocks[i] >= 0; ++i) {
    for (int64_t j = 0; blocks[i] < live && j < params.ratio; ++j) {
      selected[count++] = static_cast<int32_t>(blocks[i] * params.ratio + j);
    }
  }
  for (int64_t p = live * params.ratio; p <= position; ++p) {
    selected[count++] = static_cast<int32_t>(p);
  }
  params.counts[token] = static_cast<int32_t>(count);
  std::fill(selected + count, selected + params.max_selected, -1);
}

}  // namespace

LaunchStatus indexer_state_update_reference(const IndexerStateUpdateParams& params,
                                            CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_state_update(params); !status.is_ok()) {
    return status;
  }
  const VectorOps& ops = vector_ops();
  const int64_t end = params.first_position + params.num_tokens;
  const int64_t begin_block = params.first_position / params.ratio;
  const int64_t end_block = end / params.ratio;
  const int64_t work = params.key_dim * (params.ratio + 32);
  for_each_item(executor, end_block - begin_block, work,
                [&](int64_t i) { complete_block(params, ops, begin_block + i); });
  for (int64_t p = std::max(params.first_position, end_block * params.ratio); p < end; ++p) {
    std::memcpy(params.pending + p % params.ratio * params.key_dim, raw_key(params, p),
                static_cast<size_t>(params.key_dim) * sizeof(float));
  }
  return {};
}

LaunchStatus indexer_query_reference(const IndexerQueryParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_key_shape(params.num_tokens, params.first_position,
                                                  params.key_dim, params.rotary_dim);
      !status.is_ok()) {
    return status;
  }
  if (params.num_heads <= 0) {
    return invalid("num_heads", params.num_heads);
  }
  if (params.raw_q == nullptr || params.norm_weight == nullptr || params.q == nullptr ||
      (params.inverse_frequency == nullptr && params.rotary_dim > 0)) {
    return invalid("raw_q, norm_weight, q or inverse_frequency is null");
  }
  const VectorOps& ops = vector_ops();
  const int64_t dim = params.key_dim;
  const int64_t stride = stride_or(params.raw_q_stride, params.num_heads * dim);
  for_each_item(executor, params.num_tokens * params.num_heads, 32 * dim, [&](int64_t i) {
    const int64_t t = i / params.num_heads;
    float* q = params.q + i * dim;
    rms_row(ops, params.raw_q + t * stride + i % params.num_heads * dim, params.norm_weight, dim,
            params.eps, NormCentre::kZero, q);
    rotate_halves(q, params.rotary_dim, params.first_position + t, params.inverse_frequency);
  });
  return {};
}

LaunchStatus indexer_score_reference(const IndexerScoreParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status =
          check_key_shape(params.num_tokens, params.first_position, params.key_dim, 0);
      !status.is_ok()) {
    return status;
  }
  if (params.num_heads <= 0 || params.ratio < 1) {
    return invalid("num_heads or ratio", params.ratio);
  }
  const int64_t most_live = (params.first_position + params.num_tokens) / params.ratio;
  if (most_live > params.num_blocks || most_live > params.score_stride) {
    return invalid("num_blocks or score_stride is below the complete blocks", most_live);
  }
  if (params.q == nullptr || params.live_counts == nullptr ||
      (most_live > 0 && (params.block_keys == nullptr || params.scores == nullptr))) {
    return invalid("q, live_counts, block_keys or scores is null");
  }
  const VectorOps& ops = vector_ops();
  const int64_t steps = (most_live + kBlocksPerStep - 1) / kBlocksPerStep;
  const int64_t work = kBlocksPerStep * params.num_heads * params.key_dim;
  for_each_item(executor, params.num_tokens * steps, work, [&](int64_t i) {
    const int64_t t = i / steps;
    const int64_t live = (params.first_position + t + 1) / params.ratio;
    const int64_t first = i % steps * kBlocksPerStep;
    if (first < live) {
      score_blocks(params, ops, t, first, std::min(kBlocksPerStep, live - first));
    }
  });
  for (int64_t t = 0; t < params.num_tokens; ++t) {
    params.live_counts[t] = static_cast<int32_t>((params.first_position + t + 1) / params.ratio);
  }
  return {};
}

LaunchStatus selection_expand_reference(const SelectionExpandParams& params,
                                        CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.first_position < 0 || params.max_blocks < 0) {
    return invalid("num_tokens, first_position or max_blocks", params.num_tokens);
  }
  if (params.ratio < 1) {
    return invalid("ratio", params.ratio);
  }
  if (params.max_selected < selection_max_tokens(params.max_blocks, params.ratio)) {
    return invalid("max_selected is below selection_max_tokens", params.max_selected);
  }
  if ((params.blocks == nullptr && params.max_blocks > 0) || params.counts == nullptr ||
      (params.selected == nullptr && params.max_selected > 0)) {
    return invalid("blocks, selected or counts is null");
  }
  for_each_item(executor, params.num_tokens, params.max_selected,
                [&](int64_t t) { expand_row(params, t); });
  return {};
}

}  // namespace ifr::kernels
