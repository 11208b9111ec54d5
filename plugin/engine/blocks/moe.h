// SPDX-License-Identifier: Apache-2.0
// Router, routed experts and the shared expert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/blocks/mlp.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/moe.h"

namespace ifr {

struct MoeShape {
  int32_t hidden = 0;
  int32_t num_experts = 0;
  int32_t num_selected = 0;
  int32_t expert_intermediate = 0;
  int32_t shared_intermediate = 0;
  kernels::RouterWeights router_weights = kernels::RouterWeights::kRenormalised;
};

struct MoeWeights {
  kernels::WeightMatrix router;             // [E, H]
  std::vector<kernels::WeightMatrix> gate;  // [E] of [I, H]
  std::vector<kernels::WeightMatrix> up;    // [E] of [I, H]
  std::vector<kernels::WeightMatrix> down;  // [E] of [H, I]
  MlpWeights shared;
  kernels::WeightMatrix shared_gate;  // [1, H]

  void plan(WeightPlan& plan, const std::string& prefix, const MoeShape& shape);
};

struct MoeScratch {
  float* logits = nullptr;        // [T, E]
  int32_t* expert_ids = nullptr;  // [T, num_selected]
  float* weights = nullptr;       // [T, num_selected]
  std::byte* experts = nullptr;
  float* shared = nullptr;       // [T, H]
  float* shared_gate = nullptr;  // [T]
  MlpScratch mlp;
  void lay_out(const MoeShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

// x [T, H] -> y [T, H].
[[nodiscard]] Status run_moe(const StepContext& context, const MoeShape& shape,
                             const MoeWeights& weights, const float* x, float* y,
                             const MoeScratch& scratch);

}  // namespace ifr
