// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/delta_net.h"

#include "engine/blocks/linear.h"
#include "interframe_kernels/causal_conv.h"
#include "interframe_kernels/gated_delta_net.h"

namespace ifr {

void DeltaNetWeights::plan(WeightPlan& plan, const std::string& prefix) {
  plan.matrix(prefix + "in_proj_qkv.weight", &qkv);
  plan.matrix(prefix + "in_proj_z.weight", &z);
  plan.matrix(prefix + "in_proj_b.weight", &b);
  plan.matrix(prefix + "in_proj_a.weight", &a);
  plan.matrix(prefix + "out_proj.weight", &out);
  plan.vector(prefix + "conv1d.weight", &conv);
  plan.vector(prefix + "A_log", &a_log);
  plan.vector(prefix + "dt_bias", &dt_bias);
  plan.vector(prefix + "norm.weight", &norm);
}

void DeltaNetState::lay_out(const DeltaNetShape& shape, ScratchLayout& layout) {
  layout.add(conv, kernels::causal_conv_state_rows(shape.conv_taps, 1) * shape.conv_channels());
  layout.add(memory, int64_t{shape.num_value_heads} * shape.key_dim * shape.value_dim);
}

void DeltaNetScratch::lay_out(const DeltaNetShape& shape, int64_t max_tokens,
                              ScratchLayout& layout) {
  const int64_t width = int64_t{shape.num_value_heads} * shape.value_dim;
  layout.add(qkv, max_tokens * shape.conv_channels());
  layout.add(convolved, max_tokens * shape.conv_channels());
  layout.add(z, max_tokens * width);
  layout.add(a, max_tokens * shape.num_value_heads);
  layout.add(b, max_tokens * shape.num_value_heads);
  layout.add(out, max_tokens * width);
  layout.add(rule, kernels::gated_delta_net_scratch_len(shape.num_value_heads, shape.key_dim));
}

Status run_delta_net(const StepContext& context, const DeltaNetShape& shape,
                     const DeltaNetWeights& weights, const DeltaNetState& state, const float* x,
                     float* y, const DeltaNetScratch& scratch) {
  IFR_TRY(run_linear(context, weights.qkv, x, scratch.qkv));
  IFR_TRY(run_linear(context, weights.z, x, scratch.z));
  IFR_TRY(run_linear(context, weights.b, x, scratch.b));
  IFR_TRY(run_linear(context, weights.a, x, scratch.a));

  const kernels::CausalConvParams conv = {.x = scratch.qkv,
                                          .weight = weights.conv,
                                          .state = state.conv,
                                          .y = scratch.convolved,
                                          .num_tokens = context.num_tokens,
                                          .num_channels = shape.conv_channels(),
                                          .num_taps = shape.conv_taps,
                                          .activation = kernels::ConvActivation::kSilu};
  IFR_TRY(run_operator(context, OperatorId::kCausalConv, kernels::causal_conv_reference, conv,
                       kernels::causal_conv_cost(conv)));

  const kernels::GatedDeltaNetParams rule = {.qkv = scratch.convolved,
                                             .a = scratch.a,
                                             .b = scratch.b,
                                             .a_log = weights.a_log,
                                             .dt_bias = weights.dt_bias,
                                             .state = state.memory,
                                             .out = scratch.out,
                                             .scratch = scratch.rule,
                                             .num_tokens = context.num_tokens,
                                             .num_key_heads = shape.num_key_heads,
                                             .num_value_heads = shape.num_value_heads,
                                             .key_dim = shape.key_dim,
                                             .value_dim = shape.value_dim};
  IFR_TRY(run_operator(context, OperatorId::kGatedDeltaNet, kernels::gated_delta_net_reference,
                       rule, kernels::gated_delta_net_cost(rule)));

  const kernels::GatedRmsNormParams norm = {.x = scratch.out,
                                            .z = scratch.z,
                                            .weight = weights.norm,
                                            .y = scratch.out,
                                            .num_tokens = context.num_tokens,
                                            .num_heads = shape.num_value_heads,
                                            .head_dim = shape.value_dim,
                                            .eps = shape.eps,
                                            .activation = shape.gate};
  IFR_TRY(run_operator(context, OperatorId::kRmsNorm, kernels::gated_rms_norm_reference, norm,
                       kernels::gated_rms_norm_cost(norm)));
  return run_linear(context, weights.out, scratch.out, y);
}

}  // namespace ifr
