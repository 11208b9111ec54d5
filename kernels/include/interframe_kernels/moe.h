// SPDX-License-Identifier: Apache-2.0
// Mixture of experts.
//   moe_router:     p = softmax over all logits; the num_selected largest, ties to the lower
//   expert;
//                   renormalised to sum 1 on request
//   moe_experts:    y[t] = sum over ranks i of weight[t, i] * down_e(silu(gate_e x) * (up_e x)),
//                   e = expert_ids[t, i], added in rank order
//   moe_shared_add: y[t] += sigmoid(gate[t]) * shared[t]
// All float32; products as linear.h says, so a token's bits do not depend on which tokens share its
// experts. Rows are grouped by expert: a weight row is decoded once for all its tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interframe_kernels/launch.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr::kernels {

class CpuExecutor;

inline constexpr int64_t kMoeMaxExperts = 4096;

enum class RouterWeights : int32_t {
  kSoftmax = 0,       // as the softmax over all experts gives them
  kRenormalised = 1,  // divided by their sum
};

struct MoeRouterParams {
  const float* logits = nullptr;  // [num_tokens, num_experts]; num_experts <= kMoeMaxExperts;
  // a NaN makes all weights of its token NaN
  int32_t* expert_ids = nullptr;  // [num_tokens, num_selected] in rank order; -1 beyond num_experts
  float* weights = nullptr;       // [num_tokens, num_selected]; 0 where the id is -1
  int64_t num_tokens = 0;
  int64_t num_experts = 0;
  int64_t num_selected = 0;
  RouterWeights mode = RouterWeights::kSoftmax;
};

struct MoeExpertsParams {
  const float* x = nullptr;             // [num_tokens, H]
  const int32_t* expert_ids = nullptr;  // [num_tokens, num_selected]; an id outside [0,
                                        // num_experts) adds nothing
  const float* weights = nullptr;       // [num_tokens, num_selected]
  const WeightMatrix* gate = nullptr;   // [num_experts] of [I, H]
  const WeightMatrix* up = nullptr;     // [num_experts] of [I, H]
  const WeightMatrix* down = nullptr;   // [num_experts] of [H, I]
  float* y = nullptr;                   // [num_tokens, H], written whole
  void* scratch = nullptr;              // moe_experts_scratch_bytes, 64-byte aligned
  int64_t num_tokens = 0;
  int64_t num_experts = 0;
  int64_t num_selected = 0;
  int64_t hidden = 0;        // H
  int64_t intermediate = 0;  // I
};

struct MoeSharedAddParams {
  float* y = nullptr;             // [num_tokens, H], in place
  const float* shared = nullptr;  // [num_tokens, H]: the shared expert's output
  const float* gate = nullptr;    // [num_tokens]: before the sigmoid
  int64_t num_tokens = 0;
  int64_t hidden = 0;  // H
};

// Scratch for up to num_tokens tokens; contents undefined between calls.
[[nodiscard]] constexpr int64_t moe_experts_scratch_bytes(int64_t num_tokens, int64_t num_experts,
                                                          int64_t num_selected, int64_t hidden,
                                                          int64_t intermediate) {
  const int64_t pairs = num_tokens * num_selected;
  return 4 * (pairs * (2 * intermediate + hidden) + 2 * pairs) + 8 * (3 * num_experts + 1) + 8 * 64;
}

[[nodiscard]] inline OperatorCost moe_router_cost(const MoeRouterParams& p) {
  return {4 * p.num_tokens * (p.num_experts + 2 * p.num_selected),
          4 * p.num_tokens * p.num_experts};
}

// As if no two tokens shared an expert, up to all experts; the type is that of expert 0.
[[nodiscard]] inline OperatorCost moe_experts_cost(const MoeExpertsParams& p, DataType type) {
  const int64_t pairs = p.num_tokens * p.num_selected;
  const int64_t active = pairs < p.num_experts ? pairs : p.num_experts;
  const int64_t expert = 3 * p.hidden * p.intermediate;
  return {active * tensor_bytes(type, expert) + 8 * p.num_tokens * p.hidden, 2 * pairs * expert};
}

[[nodiscard]] inline OperatorCost moe_shared_add_cost(const MoeSharedAddParams& p) {
  return {4 * p.num_tokens * (3 * p.hidden + 1), 2 * p.num_tokens * p.hidden};
}

[[nodiscard]] LaunchStatus moe_router_reference(const MoeRouterParams& params,
                                                CpuExecutor& executor);
[[nodiscard]] LaunchStatus moe_experts_reference(const MoeExpertsParams& params,
                                                 CpuExecutor& executor);
[[nodiscard]] LaunchStatus moe_shared_add_reference(const MoeSharedAddParams& params,
                                                    CpuExecutor& executor);

}  // namespace ifr::kernels
