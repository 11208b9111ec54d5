// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/mlp.h"

#include "engine/blocks/linear.h"
#include "interframe_kernels/elementwise.h"

namespace ifr {

void MlpScratch::lay_out(int64_t intermediate, int64_t max_tokens, ScratchLayout& layout) {
  layout.add(gate, max_tokens * intermediate);
  layout.add(up, max_tokens * intermediate);
}

Status run_mlp(const StepContext& context, const MlpWeights& weights, const float* x, float* y,
               const MlpScratch& scratch) {
  IFR_TRY(run_linear(context, weights.gate, x, scratch.gate));
  IFR_TRY(run_linear(context, weights.up, x, scratch.up));
  const kernels::SwigluParams swiglu = {.gate = scratch.gate,
                                        .up = scratch.up,
                                        .y = scratch.gate,
                                        .num_tokens = context.num_tokens,
                                        .width = weights.gate.num_rows};
  IFR_TRY(run_operator(context, OperatorId::kElementwise, kernels::swiglu_reference, swiglu,
                       kernels::swiglu_cost(swiglu)));
  return run_linear(context, weights.down, scratch.gate, y);
}

}  // namespace ifr
