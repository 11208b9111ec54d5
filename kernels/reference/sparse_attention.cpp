// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/sparse_attention.h"

#include "interframe_kernels/cpu_executor.h"
#include "reference/online_attention.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

enum class EntryFault { kNone, kNegative, kFuture, kNoPage };

EntryFault check_entry(const SparseAttentionParams& params, int64_t token, int32_t entry) {
  if (entry < 0) {
    return EntryFault::kNegative;
  }
  if (entry > params.first_position + token) {
    return EntryFault::kFuture;
  }
  const int64_t page = entry / kPageTokens;
  if (page >= params.cache.num_pages || params.cache.block_table[page] < 0) {
    return EntryFault::kNoPage;
  }
  return EntryFault::kNone;
}

int64_t list_count(const SparseAttentionParams& params, int64_t token) {
  return std::clamp<int64_t>(params.counts[token], 0, params.max_selected);
}

void attend(const SparseAttentionParams& params, const VectorOps& ops, const HeadGroups& groups,
            int64_t token, int64_t group) {
  const PagedKvCache& cache = params.cache;
  const int64_t dim = cache.head_dim;
  const int64_t kv_head = groups.kv_head(group);
  const int64_t head = groups.first_head(group);
  const float* q =
      params.q + token * stride_or(params.q_row_stride, params.num_heads * dim) + head * dim;
  float* out = params.out + (token * params.num_heads + head) * dim;
  GroupAttention attention(ops, q, groups.num_heads(group), dim, attention_scale(params.scale, dim),
                           out);
  const int32_t* list = params.selected + token * params.max_selected;
  const int64_t count = list_count(params, token);
  KeyValueRun run;
  for (int64_t i = 0; i < count; ++i) {
    if (check_entry(params, token, list[i]) == EntryFault::kNone) {
      const int64_t page = cache.block_table[list[i] / kPageTokens];
      const int64_t offset =
          page * cache.page_stride + (kv_head * kPageTokens + list[i] % kPageTokens) * dim;
      run.keys[run.num_rows] = cache.key_pool + offset;
      run.values[run.num_rows] = cache.value_pool + offset;
      ++run.num_rows;
    }
    if (run.num_rows == kPageTokens) {
      attention.add(run);
      run.num_rows = 0;
    }
  }
  attention.add(run);
  attention.finish();
}

LaunchStatus check_params(const SparseAttentionParams& params) {
  if (params.num_tokens < 0 || params.first_position < 0 || params.max_selected < 0) {
    return invalid("num_tokens, first_position or max_selected", params.num_tokens);
  }
  // Pages are checked entry by entry: a list may leave some unused.
  if (const LaunchStatus status = check_cache(params.cache, 0); !status.is_ok()) {
    return status;
  }
  if (params.cache.num_pages > 0 && params.cache.block_table == nullptr) {
    return invalid("block_table is null");
  }
  if (params.num_heads <= 0 || params.num_heads % params.cache.num_kv_heads != 0) {
    return invalid("num_heads is no multiple of num_kv_heads", params.num_heads);
  }
  if (params.q == nullptr || params.counts == nullptr || params.out == nullptr) {
    return invalid("q, counts or out is null");
  }
  if (params.selected == nullptr && params.max_selected > 0) {
    return invalid("selected is null");
  }
  return {};
}

LaunchStatus check_list(const SparseAttentionParams& params, int64_t token) {
  const int32_t count = params.counts[token];
  if (count < 0) {
    return invalid("a count is negative", count);
  }
  if (count > params.max_selected) {
    return invalid("a count is above max_selected", count);
  }
  const int32_t* list = params.selected + token * params.max_selected;
  for (int32_t i = 0; i < count; ++i) {
    switch (check_entry(params, token, list[i])) {
      case EntryFault::kNegative:
        return invalid("a selected position is negative", list[i]);
      case EntryFault::kFuture:
        return invalid("a selected position is after its query", list[i]);
      case EntryFault::kNoPage:
        return invalid("a selected position has no page", list[i]);
      case EntryFault::kNone:
        break;
    }
    if (std::find(list, list + i, list[i]) != list + i) {
      return invalid("a selected position is listed twice", list[i]);
    }
  }
  return {};
}

}  // namespace

LaunchStatus sparse_attention_check_lists(const SparseAttentionParams& params) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_params(params); !status.is_ok()) {
    return status;
  }
  for (int64_t t = 0; t < params.num_tokens; ++t) {
    if (const LaunchStatus status = check_list(params, t); !status.is_ok()) {
      return status;
    }
  }
  return {};
}

LaunchStatus sparse_attention_reference(const SparseAttentionParams& params,
                                        CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_params(params); !status.is_ok()) {
    return status;
  }
  const VectorOps& ops = vector_ops();
  const HeadGroups groups(params.num_heads, params.cache.num_kv_heads);
  const int64_t work = 2 * (params.max_selected + 1) * params.cache.head_dim * groups.heads_per_kv;
  for_each_item(executor, params.num_tokens * groups.groups_per_token, work, [&](int64_t i) {
    attend(params, ops, groups, i / groups.groups_per_token, i % groups.groups_per_token);
  });
  return {};
}

}  // namespace ifr::kernels
