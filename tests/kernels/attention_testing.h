// SPDX-License-Identifier: Apache-2.0
// What the tests of attention share: a paged cache with traps in it, and attention in float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "interframe_kernels/paged_attention.h"
#include "kernels/operator_testing.h"

namespace ifr::kernels::testing {

// A cache whose pages lie in the pool in reverse order with a poisoned one between each two.
class Cache {
 public:
  Cache(int64_t num_tokens, int64_t kv_heads, int64_t dim)
      : num_pages_((num_tokens + kPageTokens - 1) / kPageTokens),
        page_len_(kv_heads * kPageTokens * dim),
        pool_(size_of(2 * (2 * num_pages_ + 1) * page_len_), kNan) {
    for (int64_t i = 0; i < num_pages_; ++i) {
      table_.push_back(static_cast<int32_t>(2 * (num_pages_ - i) - 1));
    }
    view_.key_pool = pool_.data();
    view_.value_pool = pool_.data() + page_len_;
    view_.page_stride = 2 * page_len_;
    view_.block_table = table_.data();
    view_.num_pages = num_pages_;
    view_.num_kv_heads = kv_heads;
    view_.head_dim = dim;
  }

  void write(const std::vector<float>& key, const std::vector<float>& value, int64_t begin,
             int64_t end, CpuExecutor& executor) {
    const int64_t row = view_.num_kv_heads * view_.head_dim;
    KvCacheWriteParams params;
    params.cache = view_;
    params.key = key.data() + begin * row;
    params.value = value.data() + begin * row;
    params.num_tokens = end - begin;
    params.first_position = begin;
    expect_ok(kv_cache_write_reference(params, executor));
  }

  PagedKvCache& view() { return view_; }
  std::vector<int32_t>& table() { return table_; }

 private:
  int64_t num_pages_;
  int64_t page_len_;
  std::vector<float> pool_;
  std::vector<int32_t> table_;
  PagedKvCache view_;
};

// One head's attention over the listed positions in float64.
inline std::vector<double> attention64(const float* q, const std::vector<float>& key,
                                       const std::vector<float>& value,
                                       const std::vector<int64_t>& list, int64_t row_len,
                                       int64_t head_offset, int64_t dim, double scale) {
  std::vector<double> out(size_of(dim), 0.0);
  std::vector<double> scores;
  double largest = -std::numeric_limits<double>::infinity();
  for (const int64_t j : list) {
    double score = 0.0;
    for (int64_t d = 0; d < dim; ++d) {
      score += static_cast<double>(q[d]) * key[size_of(j * row_len + head_offset + d)];
    }
    scores.push_back(score * scale);
    largest = std::max(largest, scores.back());
  }
  double sum = 0.0;
  for (double& score : scores) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    for (int64_t d = 0; d < dim; ++d) {
      out[size_of(d)] += scores[i] / sum * value[size_of(list[i] * row_len + head_offset + d)];
    }
  }
  return out;
}

inline std::vector<int64_t> up_to(int64_t count) {
  std::vector<int64_t> list(size_of(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

}  // namespace ifr::kernels::testing
