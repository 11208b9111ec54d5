// SPDX-License-Identifier: Apache-2.0
// Softmax attention over keys that come in runs, for the dense and the sparse
// operator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "interframe_kernels/paged_attention.h"
#include "reference/vector_ops.h"

namespace ifr::kernels {

// Rows of one run, at most kPageTokens.
struct KeyValueRun {
  const float* keys[kPageTokens];
  const float* values[kPageTokens];
  int64_t num_rows = 0;
};

// The running softmax of one query head.
class OnlineAttention {
 public:
  OnlineAttention() = default;

  // out: [head_dim], holds the running sum until finish.
  OnlineAttention(const float* q, int64_t head_dim, float scale, float* out)
      : q_(q), head_dim_(head_dim), scale_(scale), out_(out) {
    std::fill(out, out + head_dim, 0.0F);
  }

  void add(const VectorOps& ops, const KeyValueRun& run) {
    float weight[kPageTokens];
    ops.dot_rows(q_, run.keys, run.num_rows, head_dim_, weight);
    float largest = largest_;
    for (int64_t i = 0; i < run.num_rows; ++i) {
      weight[i] *= scale_;
      largest = std::max(largest, weight[i]);
    }
    // Before the first run the sums are 0 and exp(-inf) keeps them so.
    const float keep = largest == largest_ ? 1.0F : std::exp(largest_ - largest);
    sum_ = sum_ * keep + ops.exp_rows(weight, largest, run.num_rows);
    ops.weighted_rows(out_, keep, weight, run.values, run.num_rows, head_dim_);
    largest_ = largest;
  }

  // No key at all gives exactly 0.
  void finish() {
    if (sum_ == 0.0F) {
      return;
    }
    const float inverse = 1.0F / sum_;
    for (int64_t d = 0; d < head_dim_; ++d) {
      out_[d] *= inverse;
    }
  }

 private:
  const float* q_ = nullptr;
  int64_t head_dim_ = 0;
  float scale_ = 1.0F;
  float* out_ = nullptr;
  float largest_ = -std::numeric_limits<float>::infinity();
  float sum_ = 0.0F;
};

// Query heads that share a key head go over the keys together, so that a run's rows are read from
// memory once for all of them. A head's bits do not depend on the others.
class GroupAttention {
 public:
  static constexpr int64_t kMaxHeads = 16;

  // q, out: [num_heads, head_dim], at most kMaxHeads.
  GroupAttention(const VectorOps& ops, const float* q, int64_t num_heads, int64_t head_dim,
                 float scale, float* out)
      : ops_(ops), num_heads_(num_heads) {
    for (int64_t h = 0; h < num_heads; ++h) {
      heads_[h] = OnlineAttention(q + h * head_dim, head_dim, scale, out + h * head_dim);
    }
  }

  void add(const KeyValueRun& run) {
    for (int64_t h = 0; h < num_heads_ && run.num_rows > 0; ++h) {
      heads_[h].add(ops_, run);
    }
  }

  void finish() {
    for (int64_t h = 0; h < num_heads_; ++h) {
      heads_[h].finish();
    }
  }

 private:
  const VectorOps& ops_;
  int64_t num_heads_;
  OnlineAttention heads_[kMaxHeads];
};

// How a token's query heads fall into groups: never across key heads.
struct HeadGroups {
  HeadGroups(int64_t num_heads, int64_t num_kv_heads)
      : heads_per_kv(num_heads / num_kv_heads),
        groups_per_kv((heads_per_kv + GroupAttention::kMaxHeads - 1) / GroupAttention::kMaxHeads),
        groups_per_token(num_kv_heads * groups_per_kv) {}

  [[nodiscard]] int64_t kv_head(int64_t group) const { return group / groups_per_kv; }
  [[nodiscard]] int64_t first_head(int64_t group) const {
    return kv_head(group) * heads_per_kv + group % groups_per_kv * GroupAttention::kMaxHeads;
  }
  [[nodiscard]] int64_t num_heads(int64_t group) const {
    return std::min(GroupAttention::kMaxHeads,
                    heads_per_kv - group % groups_per_kv * GroupAttention::kMaxHeads);
  }

  int64_t heads_per_kv;
  int64_t groups_per_kv;
  int64_t groups_per_token;
};

[[nodiscard]] inline float attention_scale(float scale, int64_t head_dim) {
  return scale == 0.0F ? 1.0F / std::sqrt(static_cast<float>(head_dim)) : scale;
}

// Shape and pointers of a cache, its table up to num_tokens tokens.
LaunchStatus check_cache(const PagedKvCache& cache, int64_t num_tokens);

}  // namespace ifr::kernels
