// SPDX-License-Identifier: Apache-2.0
// Softmax attention of one query over keys that come in runs, for the dense and the sparse
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

class OnlineAttention {
 public:
  // out: [head_dim], holds the running sum until finish.
  OnlineAttention(const VectorOps& ops, const float* q, int64_t head_dim, float scale, float* out)
      : ops_(ops), q_(q), head_dim_(head_dim), scale_(scale), out_(out) {
    std::fill(out, out + head_dim, 0.0F);
  }

  void add(const KeyValueRun& run) {
    if (run.num_rows == 0) {
      return;
    }
    float weight[kPageTokens];
    ops_.dot_rows(q_, run.keys, run.num_rows, head_dim_, weight);
    float largest = largest_;
    for (int64_t i = 0; i < run.num_rows; ++i) {
      weight[i] *= scale_;
      largest = std::max(largest, weight[i]);
    }
    // Before the first run the sums are 0 and exp(-inf) keeps them so.
    const float keep = largest == largest_ ? 1.0F : std::exp(largest_ - largest);
    float sum = sum_ * keep;
    for (int64_t i = 0; i < run.num_rows; ++i) {
      weight[i] = std::exp(weight[i] - largest);
      sum += weight[i];
    }
    ops_.weighted_rows(out_, keep, weight, run.values, run.num_rows, head_dim_);
    largest_ = largest;
    sum_ = sum;
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
  const VectorOps& ops_;
  const float* q_;
  int64_t head_dim_;
  float scale_;
  float* out_;
  float largest_ = -std::numeric_limits<float>::infinity();
  float sum_ = 0.0F;
};

[[nodiscard]] inline float attention_scale(float scale, int64_t head_dim) {
  return scale == 0.0F ? 1.0F / std::sqrt(static_cast<float>(head_dim)) : scale;
}

// Shape and pointers of a cache, its table up to num_tokens tokens.
LaunchStatus check_cache(const PagedKvCache& cache, int64_t num_tokens);

}  // namespace ifr::kernels
