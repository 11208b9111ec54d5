// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/block_sparse_attention.h"

#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <span>

#include "common/score_key.h"
#include "interframe_kernels/cpu_executor.h"
#include "reference/online_attention.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

constexpr int64_t kBlocksPerStep = 64;  // scored at a time
constexpr float kLowest = -std::numeric_limits<float>::infinity();

static_assert(kBlockSparseMaxBlocks == int64_t{1} << kIndexKeyBits,
              "the index part of a rank key must hold every block of a context");

// Keys that one query row of a key head may read: its whole blocks, then its own up to itself.
int64_t most_keys(int64_t position, int64_t block_tokens, int64_t max_blocks) {
  return std::min(position + 1, block_tokens * max_blocks);
}

void write_mean(const BlockMeanUpdateParams& params, int64_t block, int64_t kv_head) {
  const PagedKvCache& cache = params.cache;
  const int64_t dim = cache.head_dim;
  const int64_t first = block * params.block_tokens;
  const float* key = cache.key_pool + cache.block_table[first / kPageTokens] * cache.page_stride +
                     (kv_head * kPageTokens + first % kPageTokens) * dim;
  float* mean = params.means + (block * cache.num_kv_heads + kv_head) * dim;
  std::memcpy(mean, key, static_cast<size_t>(dim) * sizeof(float));
  for (int64_t i = 1; i < params.block_tokens; ++i) {
    for (int64_t d = 0; d < dim; ++d) {
      mean[d] += key[i * dim + d];
    }
  }
  for (int64_t d = 0; d < dim; ++d) {
    mean[d] /= static_cast<float>(params.block_tokens);
  }
}

// The choice of one query row and key head.
class RowSelection {
 public:
  RowSelection(const BlockSparseSelectParams& params, const VectorOps& ops, int64_t token,
               int64_t kv_head)
      : params_(params),
        ops_(ops),
        heads_per_kv_(params.num_heads / params.num_kv_heads),
        kv_head_(kv_head),
        q_(params.q + token * stride_or(params.q_row_stride, params.num_heads * params.head_dim) +
           kv_head * heads_per_kv_ * params.head_dim),
        scale_(attention_scale(params.scale, params.head_dim)),
        own_((params.first_position + token) / params.block_tokens),
        num_complete_((params.first_position + token + 1) / params.block_tokens) {
    const int64_t offset = (token * params.num_kv_heads + kv_head) * params.max_blocks;
    blocks_ = params.blocks + offset;
    scores_ = params.scores == nullptr ? nullptr : params.scores + offset;
    scratch_ = params.scratch + offset;
  }

  void run() {
    if (own_ < params_.max_blocks) {
      list(0, own_ + 1);
    } else {
      const int64_t recent = own_ - params_.num_recent_blocks;
      list(0, params_.num_first_blocks);
      list_best(params_.num_first_blocks, recent,
                params_.max_blocks - params_.num_first_blocks - params_.num_recent_blocks - 1);
      list(recent, own_ + 1);
    }
    std::fill(blocks_ + count_, blocks_ + params_.max_blocks, -1);
    if (scores_ != nullptr) {
      std::fill(scores_ + count_, scores_ + params_.max_blocks, kLowest);
    }
  }

 private:
  // out[i] is the score of block begin + i.
  void score(int64_t begin, int64_t count, float* out) const {
    const float* rows[kBlocksPerStep];
    float dots[kBlocksPerStep];
    const int64_t dim = params_.head_dim;
    for (int64_t i = 0; i < count; ++i) {
      rows[i] = params_.means + ((begin + i) * params_.num_kv_heads + kv_head_) * dim;
    }
    std::fill(out, out + count, kLowest);
    for (int64_t h = 0; h < heads_per_kv_; ++h) {
      ops_.dot_rows(q_ + h * dim, rows, count, dim, dots);
      for (int64_t i = 0; i < count; ++i) {
        const float scaled = dots[i] * scale_;
        out[i] = scaled > out[i] ? scaled : out[i];  // false for NaN
      }
    }
  }

  // Every block of [begin, end), which only the row's own may leave incomplete.
  void list(int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      blocks_[count_ + block - begin] = static_cast<int32_t>(block);
    }
    if (scores_ != nullptr) {
      for (int64_t at = begin; at < std::min(end, num_complete_); at += kBlocksPerStep) {
        score(at, std::min(kBlocksPerStep, std::min(end, num_complete_) - at),
              scores_ + count_ + at - begin);
      }
      if (end > num_complete_) {
        scores_[count_ + end - 1 - begin] = kLowest;
      }
    }
    count_ += end - begin;
  }

  // The best num_best of [begin, end), which has at least so many.
  void list_best(int64_t begin, int64_t end, int64_t num_best) {
    if (num_best == 0) {
      return;
    }
    float values[kBlocksPerStep];
    uint64_t* kept_end = scratch_;  // a heap with the worst kept key first
    for (int64_t at = begin; at < end; at += kBlocksPerStep) {
      const int64_t count = std::min(kBlocksPerStep, end - at);
      score(at, count, values);
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t key =
            rank_key(score_key(std::bit_cast<uint32_t>(values[i])), static_cast<uint32_t>(at + i));
        if (kept_end - scratch_ == num_best) {
          if (key < *scratch_) {
            continue;
          }
          std::pop_heap(scratch_, kept_end--, std::greater<>{});
        }
        *kept_end++ = key;
        std::push_heap(scratch_, kept_end, std::greater<>{});
      }
    }
    std::sort(scratch_, kept_end,
              [](uint64_t a, uint64_t b) { return rank_key_index(a) < rank_key_index(b); });
    for (const uint64_t key : std::span(scratch_, kept_end)) {
      blocks_[count_] = static_cast<int32_t>(rank_key_index(key));
      if (scores_ != nullptr) {
        scores_[count_] = std::bit_cast<float>(rank_key_score_bits(key));
      }
      ++count_;
    }
  }

  const BlockSparseSelectParams& params_;
  const VectorOps& ops_;
  int64_t heads_per_kv_;
  int64_t kv_head_;
  const float* q_;  // [heads_per_kv_, head_dim]
  float scale_;
  int64_t own_;
  int64_t num_complete_;
  int32_t* blocks_ = nullptr;
  float* scores_ = nullptr;
  uint64_t* scratch_ = nullptr;
  int64_t count_ = 0;
};

void attend(const BlockSparseAttentionParams& params, const VectorOps& ops,
            const HeadGroups& groups, int64_t token, int64_t group) {
  const PagedKvCache& cache = params.cache;
  const int64_t dim = cache.head_dim;
  const int64_t kv_head = groups.kv_head(group);
  const int64_t head = groups.first_head(group);
  const int64_t position = params.first_position + token;
  const float* q =
      params.q + token * stride_or(params.q_row_stride, params.num_heads * dim) + head * dim;
  float* out = params.out + (token * params.num_heads + head) * dim;
  GroupAttention attention(ops, q, groups.num_heads(group), dim, attention_scale(params.scale, dim),
                           out);
  const int32_t* list = params.blocks + (token * cache.num_kv_heads + kv_head) * params.max_blocks;
  KeyValueRun run;
  for (int64_t i = 0; i < params.max_blocks; ++i) {
    const int64_t first = list[i] * params.block_tokens;
    if (list[i] < 0 || first > position) {
      continue;
    }
    const int64_t count = std::min(params.block_tokens, position + 1 - first);
    const int64_t offset = cache.block_table[first / kPageTokens] * cache.page_stride +
                           (kv_head * kPageTokens + first % kPageTokens) * dim;
    for (int64_t j = 0; j < count; ++j) {
      run.keys[run.num_rows] = cache.key_pool + offset + j * dim;
      run.values[run.num_rows] = cache.value_pool + offset + j * dim;
      ++run.num_rows;
      if (run.num_rows == kPageTokens) {
        attention.add(run);
        run.num_rows = 0;
      }
    }
  }
  attention.add(run);
  attention.finish();
}

LaunchStatus check_blocks(int64_t num_tokens, int64_t first_position, int64_t block_tokens,
                          int64_t max_blocks) {
  if (num_tokens < 0 || first_position < 0) {
    return invalid("num_tokens or first_position", num_tokens);
  }
  if (block_tokens < 1 || kPageTokens % block_tokens != 0) {
    return invalid("block_tokens does not divide a page", block_tokens);
  }
  if ((first_position + num_tokens) / block_tokens >= kBlockSparseMaxBlocks) {
    return unsupported("more blocks than a context may have",
                       (first_position + num_tokens) / block_tokens);
  }
  if (max_blocks < 1 || max_blocks > kBlockSparseMaxBlocks) {
    return invalid("max_blocks", max_blocks);
  }
  return {};
}

LaunchStatus check_select(const BlockSparseSelectParams& params) {
  if (const LaunchStatus status = check_blocks(params.num_tokens, params.first_position,
                                               params.block_tokens, params.max_blocks);
      !status.is_ok()) {
    return status;
  }
  if (params.num_kv_heads <= 0 || params.head_dim <= 0) {
    return invalid("num_kv_heads or head_dim", params.num_kv_heads);
  }
  if (params.num_heads <= 0 || params.num_heads % params.num_kv_heads != 0) {
    return invalid("num_heads is no multiple of num_kv_heads", params.num_heads);
  }
  if (params.num_first_blocks < 0 || params.num_recent_blocks < 0) {
    return invalid("num_first_blocks or num_recent_blocks", params.num_first_blocks);
  }
  if (params.max_blocks < params.num_first_blocks + params.num_recent_blocks + 1) {
    return invalid("max_blocks is below the first, the recent and the query's own block",
                   params.max_blocks);
  }
  const int64_t num_complete = (params.first_position + params.num_tokens) / params.block_tokens;
  if (params.q == nullptr || params.blocks == nullptr || params.scratch == nullptr ||
      (params.means == nullptr && num_complete > 0)) {
    return invalid("q, means, blocks or scratch is null");
  }
  return {};
}

LaunchStatus check_attention(const BlockSparseAttentionParams& params, int64_t whole_rows) {
  if (const LaunchStatus status =
          check_cache(params.cache, params.first_position + params.num_tokens);
      !status.is_ok()) {
    return status;
  }
  if (params.num_heads <= 0 || params.num_heads % params.cache.num_kv_heads != 0) {
    return invalid("num_heads is no multiple of num_kv_heads", params.num_heads);
  }
  if (params.q == nullptr || params.out == nullptr) {
    return invalid("q or out is null");
  }
  if (params.blocks == nullptr && whole_rows < params.num_tokens) {
    return invalid("blocks is null");
  }
  return {};
}

}  // namespace

OperatorCost block_mean_update_cost(const BlockMeanUpdateParams& p) {
  const int64_t row = p.cache.num_kv_heads * p.cache.head_dim;
  const int64_t blocks =
      (p.first_position + p.num_tokens) / p.block_tokens - p.first_position / p.block_tokens;
  return {4 * blocks * (p.block_tokens + 1) * row, blocks * p.block_tokens * row};
}

OperatorCost block_sparse_select_cost(const BlockSparseSelectParams& p) {
  const int64_t last = (p.first_position + p.num_tokens) / p.block_tokens;
  int64_t scored = 0;
  for (int64_t t = 0; t < p.num_tokens; ++t) {
    const int64_t own = (p.first_position + t) / p.block_tokens;
    scored += own < p.max_blocks ? 0 : own - p.num_first_blocks - p.num_recent_blocks;
  }
  return {4 * (last * p.num_kv_heads * p.head_dim + p.num_tokens * p.num_heads * p.head_dim +
               p.num_tokens * p.num_kv_heads * p.max_blocks),
          2 * scored * p.num_heads * p.head_dim};
}

OperatorCost block_sparse_attention_cost(const BlockSparseAttentionParams& p) {
  int64_t keys = 0;
  for (int64_t t = 0; t < p.num_tokens; ++t) {
    keys += most_keys(p.first_position + t, p.block_tokens, p.max_blocks);
  }
  const int64_t dim = p.cache.head_dim;
  const int64_t read = std::min(keys, p.first_position + p.num_tokens);
  return {8 * (read * p.cache.num_kv_heads + p.num_tokens * p.num_heads) * dim,
          4 * keys * p.num_heads * dim};
}

LaunchStatus block_mean_update_reference(const BlockMeanUpdateParams& params,
                                         CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status =
          check_blocks(params.num_tokens, params.first_position, params.block_tokens, 1);
      !status.is_ok()) {
    return status;
  }
  const int64_t end_position = params.first_position + params.num_tokens;
  if (const LaunchStatus status = check_cache(params.cache, end_position); !status.is_ok()) {
    return status;
  }
  const int64_t first_block = params.first_position / params.block_tokens;
  const int64_t end_block = end_position / params.block_tokens;
  if (end_block > params.block_capacity) {
    return {LaunchCode::kWorkspaceTooSmall, "block_capacity is below the blocks that complete",
            end_block, 0};
  }
  if (params.means == nullptr && end_block > first_block) {
    return invalid("means is null");
  }
  const int64_t kv_heads = params.cache.num_kv_heads;
  for_each_item(executor, (end_block - first_block) * kv_heads,
                params.block_tokens * params.cache.head_dim,
                [&](int64_t i) { write_mean(params, first_block + i / kv_heads, i % kv_heads); });
  return {};
}

LaunchStatus block_sparse_select_reference(const BlockSparseSelectParams& params,
                                           CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_select(params); !status.is_ok()) {
    return status;
  }
  const VectorOps& ops = vector_ops();
  const int64_t blocks = params.first_position / params.block_tokens + 1;
  const int64_t work = blocks * params.num_heads / params.num_kv_heads * params.head_dim;
  for_each_item(executor, params.num_tokens * params.num_kv_heads, work, [&](int64_t i) {
    RowSelection(params, ops, i / params.num_kv_heads, i % params.num_kv_heads).run();
  });
  return {};
}

LaunchStatus block_sparse_attention_reference(const BlockSparseAttentionParams& params,
                                              CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_blocks(params.num_tokens, params.first_position,
                                               params.block_tokens, params.max_blocks);
      !status.is_ok()) {
    return status;
  }
  const int64_t whole_rows = block_sparse_whole_rows(params.first_position, params.num_tokens,
                                                     params.block_tokens, params.max_blocks);
  if (const LaunchStatus status = check_attention(params, whole_rows); !status.is_ok()) {
    return status;
  }
  const PagedAttentionParams whole = {.cache = params.cache,
                                      .q = params.q,
                                      .out = params.out,
                                      .num_tokens = whole_rows,
                                      .num_heads = params.num_heads,
                                      .first_position = params.first_position,
                                      .q_row_stride = params.q_row_stride,
                                      .scale = params.scale};
  if (const LaunchStatus status = paged_attention_reference(whole, executor); !status.is_ok()) {
    return status;
  }
  const VectorOps& ops = vector_ops();
  const HeadGroups groups(params.num_heads, params.cache.num_kv_heads);
  const int64_t work =
      2 * params.max_blocks * params.block_tokens * params.cache.head_dim * groups.heads_per_kv;
  const int64_t items = (params.num_tokens - whole_rows) * groups.groups_per_token;
  for_each_item(executor, items, work, [&](int64_t i) {
    attend(params, ops, groups, whole_rows + i / groups.groups_per_token,
           i % groups.groups_per_token);
  });
  return {};
}

}  // namespace ifr::kernels
