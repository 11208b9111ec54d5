// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/rms_norm.h"

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"
#include "reference/rms_row.h"

namespace ifr::kernels {

LaunchStatus rms_norm_reference(const RmsNormParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_groups <= 0 || params.group_len <= 0) {
    return invalid("num_tokens, num_groups or group_len", params.num_tokens);
  }
  if (params.x == nullptr || params.weight == nullptr || params.y == nullptr) {
    return invalid("x, weight or y is null");
  }
  const VectorOps& ops = vector_ops();
  for_each_item(executor, params.num_tokens * params.num_groups, params.group_len, [&](int64_t i) {
    const int64_t t = i / params.num_groups;
    const int64_t g = i % params.num_groups;
    rms_row(ops, params.x + t * params.x_row_stride + g * params.x_group_stride,
            params.weight + g * params.weight_group_stride, params.group_len, params.eps,
            params.centre, params.y + t * params.y_row_stride + g * params.y_group_stride);
  });
  return {};
}

LaunchStatus gated_rms_norm_reference(const GatedRmsNormParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_heads <= 0 || params.head_dim <= 0) {
    return invalid("num_tokens, num_heads or head_dim", params.num_tokens);
  }
  if (params.x == nullptr || params.z == nullptr || params.weight == nullptr ||
      params.y == nullptr) {
    return invalid("x, z, weight or y is null");
  }
  const VectorOps& ops = vector_ops();
  const int64_t dim = params.head_dim;
  for_each_item(executor, params.num_tokens * params.num_heads, 8 * dim, [&](int64_t i) {
    const float* z = params.z + i * dim;
    float* y = params.y + i * dim;
    rms_row(ops, params.x + i * dim, params.weight, dim, params.eps, NormCentre::kAsIs, y);
    if (params.activation == GateActivation::kSigmoid) {
      for (int64_t d = 0; d < dim; ++d) {
        y[d] *= sigmoid(z[d]);
      }
    } else {
      for (int64_t d = 0; d < dim; ++d) {
        y[d] *= silu(z[d]);
      }
    }
  });
  return {};
}

}  // namespace ifr::kernels
