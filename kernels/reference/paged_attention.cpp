// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/paged_attention.h"

#include <cstring>

#include "interframe_kernels/cpu_executor.h"
#include "reference/online_attention.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

// Row 0 of a head's keys or values in a page.
int64_t head_offset(const PagedKvCache& cache, int64_t page, int64_t kv_head) {
  return cache.block_table[page] * cache.page_stride + kv_head * kPageTokens * cache.head_dim;
}

void attend(const PagedAttentionParams& params, const VectorOps& ops, const HeadGroups& groups,
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
  const int64_t num_keys = params.first_position + token + 1;
  KeyValueRun run;
  for (int64_t begin = 0; begin < num_keys; begin += kPageTokens) {
    const int64_t offset = head_offset(cache, begin / kPageTokens, kv_head);
    run.num_rows = std::min(kPageTokens, num_keys - begin);
    for (int64_t i = 0; i < run.num_rows; ++i) {
      run.keys[i] = cache.key_pool + offset + i * dim;
      run.values[i] = cache.value_pool + offset + i * dim;
    }
    attention.add(run);
  }
  attention.finish();
}

}  // namespace

LaunchStatus check_cache(const PagedKvCache& cache, int64_t num_tokens) {
  if (cache.num_kv_heads <= 0 || cache.head_dim <= 0) {
    return invalid("num_kv_heads or head_dim", cache.num_kv_heads);
  }
  if (cache.page_stride < cache.num_kv_heads * kPageTokens * cache.head_dim) {
    return invalid("page_stride is below the size of a page", cache.page_stride);
  }
  if (cache.key_pool == nullptr || cache.value_pool == nullptr) {
    return invalid("key_pool or value_pool is null");
  }
  const int64_t num_pages = (num_tokens + kPageTokens - 1) / kPageTokens;
  if (num_pages > cache.num_pages || (num_pages > 0 && cache.block_table == nullptr)) {
    return invalid("block table is too short for the tokens", num_tokens);
  }
  for (int64_t i = 0; i < num_pages; ++i) {
    if (cache.block_table[i] < 0) {
      return invalid("block table has no page for tokens in use", i);
    }
  }
  return {};
}

LaunchStatus kv_cache_write_reference(const KvCacheWriteParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.first_position < 0) {
    return invalid("num_tokens or first_position", params.num_tokens);
  }
  if (params.key == nullptr || params.value == nullptr) {
    return invalid("key or value is null");
  }
  const PagedKvCache& cache = params.cache;
  if (const LaunchStatus status = check_cache(cache, params.first_position + params.num_tokens);
      !status.is_ok()) {
    return status;
  }
  const int64_t dim = cache.head_dim;
  const int64_t row_len = cache.num_kv_heads * dim;
  const int64_t key_stride = stride_or(params.key_row_stride, row_len);
  const int64_t value_stride = stride_or(params.value_row_stride, row_len);
  const auto bytes = static_cast<size_t>(dim) * sizeof(float);
  for_each_item(executor, params.num_tokens, row_len, [&](int64_t t) {
    const int64_t position = params.first_position + t;
    for (int64_t h = 0; h < cache.num_kv_heads; ++h) {
      const int64_t at =
          head_offset(cache, position / kPageTokens, h) + position % kPageTokens * dim;
      std::memcpy(cache.key_pool + at, params.key + t * key_stride + h * dim, bytes);
      std::memcpy(cache.value_pool + at, params.value + t * value_stride + h * dim, bytes);
    }
  });
  return {};
}

LaunchStatus paged_attention_reference(const PagedAttentionParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.first_position < 0) {
    return invalid("num_tokens or first_position", params.num_tokens);
  }
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
  const VectorOps& ops = vector_ops();
  const HeadGroups groups(params.num_heads, params.cache.num_kv_heads);
  const int64_t work = 2 * (params.first_position + params.num_tokens / 2 + 1) *
                       params.cache.head_dim * groups.heads_per_kv;
  for_each_item(executor, params.num_tokens * groups.groups_per_token, work, [&](int64_t i) {
    attend(params, ops, groups, i / groups.groups_per_token, i % groups.groups_per_token);
  });
  return {};
}

}  // namespace ifr::kernels
