// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/hyper_connection.h"

namespace ifr {

void HyperConnectionWeights::plan(WeightPlan& plan, const std::string& prefix,
                                  HasInject has_inject) {
  plan.vector(prefix + "hc_norm.weight", &norm);
  plan.matrix(prefix + "input_mix_weight_down.weight", &down);
  plan.matrix(prefix + "input_mix_weight_up.weight", &up);
  if (has_inject == HasInject::kYes) {
    plan.matrix(prefix + "block_inject_weight.weight", &inject);
  }
}

void HyperConnectionScratch::lay_out(const HyperConnectionShape& shape, int64_t max_tokens,
                                     ScratchLayout& layout) {
  layout.add(values, kernels::hyper_connection_scratch_len(max_tokens, shape.num_streams,
                                                           shape.hidden, shape.rank));
}

Status mix_streams(const StepContext& context, const HyperConnectionShape& shape,
                   const HyperConnectionWeights& weights, const float* streams, float* mixed,
                   float* inject, const HyperConnectionScratch& scratch) {
  const kernels::HyperConnectionMixParams params = {.streams = streams,
                                                    .norm_weight = weights.norm,
                                                    .down = weights.down,
                                                    .up = weights.up,
                                                    .inject_weight = weights.inject,
                                                    .mixed = mixed,
                                                    .inject = inject,
                                                    .scratch = scratch.values,
                                                    .num_tokens = context.num_tokens,
                                                    .num_streams = shape.num_streams,
                                                    .hidden = shape.hidden,
                                                    .eps = shape.eps};
  return run_operator(context, OperatorId::kHyperConnection,
                      kernels::hyper_connection_mix_reference, params,
                      kernels::hyper_connection_mix_cost(params));
}

Status inject_into_streams(const StepContext& context, const HyperConnectionShape& shape,
                           const float* inject, const float* y, float* streams) {
  const kernels::HyperConnectionInjectParams params = {.streams = streams,
                                                       .inject = inject,
                                                       .y = y,
                                                       .num_tokens = context.num_tokens,
                                                       .num_streams = shape.num_streams,
                                                       .hidden = shape.hidden};
  return run_operator(context, OperatorId::kHyperConnection,
                      kernels::hyper_connection_inject_reference, params,
                      kernels::hyper_connection_inject_cost(params));
}

}  // namespace ifr
