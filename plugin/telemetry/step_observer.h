// SPDX-License-Identifier: Apache-2.0
// What a step tells while it runs. The engine calls it on the thread that runs the step; it must
// not block or allocate.
#pragma once

#include <cstdint>
#include <span>

namespace ifr {

// One entry an operator of the contract headers, in the order of the overlay's table.
enum class OperatorId : int32_t {
  kEmbedding = 0,
  kRmsNorm,
  kRotary,
  kLinear,
  kElementwise,
  kKvCacheWrite,
  kAttention,
  kSparseAttention,
  kIndexerState,
  kIndexerScore,
  kBlockSelection,
  kCausalConv,
  kGatedDeltaNet,
  kHyperConnection,
  kMoeRouter,
  kMoeExperts,
  kPleGather,
  kPleGate,
  kLmHead,
  kSampling,
  kCount,
};

[[nodiscard]] constexpr const char* operator_name(OperatorId id) {
  constexpr const char* kNames[] = {
      "embedding",       "rms_norm",    "rotary",           "linear",           "elementwise",
      "kv_cache_write",  "attention",   "sparse_attention", "indexer_state",    "indexer_score",
      "block_selection", "causal_conv", "gated_delta_net",  "hyper_connection", "moe_router",
      "moe_experts",     "ple_gather",  "ple_gate",         "lm_head",          "sampling",
  };
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == static_cast<size_t>(OperatorId::kCount));
  return kNames[static_cast<int32_t>(id)];
}

struct OperatorSpan {
  OperatorId id = OperatorId::kEmbedding;
  int32_t layer = -1;     // -1 outside the layers
  uint64_t begin_ns = 0;  // monotonic_ns
  uint64_t end_ns = 0;
  int64_t bytes = 0;  // moved at least
  int64_t flops = 0;
};

struct SelectionSpan {
  int32_t layer = 0;
  int32_t query_position = 0;
  int32_t num_visible_blocks = 0;
  std::span<const int32_t> block_idx;  // rank order, no padding
  std::span<const float> scores;       // of those blocks
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void on_operator(const OperatorSpan& span) = 0;
  virtual void on_selection(const SelectionSpan& span) = 0;
};

}  // namespace ifr
