// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/moe.h"

#include "engine/blocks/linear.h"

namespace ifr {

void MoeWeights::plan(WeightPlan& plan, const std::string& prefix, const MoeShape& shape) {
  plan.matrix(prefix + "gate.weight", &router);
  const size_t num_experts = static_cast<size_t>(shape.num_experts);
  gate.resize(num_experts);
  up.resize(num_experts);
  down.resize(num_experts);
  for (size_t e = 0; e < num_experts; ++e) {
    const std::string expert = prefix + "experts." + std::to_string(e) + ".";
    plan.matrix(expert + "gate_proj.weight", &gate[e]);
    plan.matrix(expert + "up_proj.weight", &up[e]);
    plan.matrix(expert + "down_proj.weight", &down[e]);
  }
  plan.matrix(prefix + "shared_expert.gate_proj.weight", &shared.gate);
  plan.matrix(prefix + "shared_expert.up_proj.weight", &shared.up);
  plan.matrix(prefix + "shared_expert.down_proj.weight", &shared.down);
  plan.matrix(prefix + "shared_expert_gate.weight", &shared_gate);
}

void MoeScratch::lay_out(const MoeShape& shape, int64_t max_tokens, ScratchLayout& layout) {
  layout.add(logits, max_tokens * shape.num_experts);
  layout.add(expert_ids, max_tokens * shape.num_selected);
  layout.add(weights, max_tokens * shape.num_selected);
  layout.add(experts,
             kernels::moe_experts_scratch_bytes(max_tokens, shape.num_experts, shape.num_selected,
                                                shape.hidden, shape.expert_intermediate));
  layout.add(shared, max_tokens * shape.hidden);
  layout.add(shared_gate, max_tokens);
  mlp.lay_out(shape.shared_intermediate, max_tokens, layout);
}

Status run_moe(const StepContext& context, const MoeShape& shape, const MoeWeights& weights,
               const float* x, float* y, const MoeScratch& scratch) {
  IFR_TRY(run_linear(context, weights.router, x, scratch.logits));
  const kernels::MoeRouterParams router = {.logits = scratch.logits,
                                           .expert_ids = scratch.expert_ids,
                                           .weights = scratch.weights,
                                           .num_tokens = context.num_tokens,
                                           .num_experts = shape.num_experts,
                                           .num_selected = shape.num_selected,
                                           .mode = shape.router_weights};
  IFR_TRY(run_operator(context, OperatorId::kMoeRouter, kernels::moe_router_reference, router,
                       kernels::moe_router_cost(router)));
  const kernels::MoeExpertsParams experts = {.x = x,
                                             .expert_ids = scratch.expert_ids,
                                             .weights = scratch.weights,
                                             .gate = weights.gate.data(),
                                             .up = weights.up.data(),
                                             .down = weights.down.data(),
                                             .y = y,
                                             .scratch = scratch.experts,
                                             .num_tokens = context.num_tokens,
                                             .num_experts = shape.num_experts,
                                             .num_selected = shape.num_selected,
                                             .hidden = shape.hidden,
                                             .intermediate = shape.expert_intermediate};
  IFR_TRY(run_operator(context, OperatorId::kMoeExperts, kernels::moe_experts_reference, experts,
                       kernels::moe_experts_cost(experts, weights.gate.front().type)));

  IFR_TRY(run_mlp(context, weights.shared, x, scratch.shared, scratch.mlp));
  IFR_TRY(run_linear(context, weights.shared_gate, x, scratch.shared_gate));
  const kernels::MoeSharedAddParams add = {.y = y,
                                           .shared = scratch.shared,
                                           .gate = scratch.shared_gate,
                                           .num_tokens = context.num_tokens,
                                           .hidden = shape.hidden};
  return run_operator(context, OperatorId::kElementwise, kernels::moe_shared_add_reference, add,
                      kernels::moe_shared_add_cost(add));
}

}  // namespace ifr
