// SPDX-License-Identifier: Apache-2.0
// The product with a weight matrix, as blocks call it.
#pragma once

#include "base/status.h"
#include "engine/step_context.h"
#include "interframe_kernels/linear.h"

namespace ifr {

// y [num_tokens, rows] = x [num_tokens, row_len] * weight^T.
[[nodiscard]] inline Status run_linear(const StepContext& context,
                                       const kernels::WeightMatrix& weight, const float* x,
                                       float* y, OperatorId id = OperatorId::kLinear) {
  const kernels::LinearParams params = {
      .x = x, .weight = weight, .y = y, .num_tokens = context.num_tokens};
  return run_operator(context, id, kernels::linear_reference, params, kernels::linear_cost(params));
}

}  // namespace ifr
