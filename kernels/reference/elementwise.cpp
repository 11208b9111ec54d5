// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/elementwise.h"

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

constexpr int64_t kExpWork = 8;  // an exponential, in multiply-adds

}  // namespace

LaunchStatus silu_reference(const SiluParams& params, CpuExecutor& executor) {
  if (params.num_elements == 0) {
    return {};
  }
  if (params.num_elements < 0) {
    return invalid("num_elements", params.num_elements);
  }
  if (params.x == nullptr || params.y == nullptr) {
    return invalid("x or y is null");
  }
  for_each_item(executor, params.num_elements, kExpWork,
                [&](int64_t i) { params.y[i] = silu(params.scale * params.x[i]); });
  return {};
}

LaunchStatus swiglu_reference(const SwigluParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0 || params.width == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.width < 0) {
    return invalid("num_tokens or width", params.num_tokens);
  }
  if (params.gate == nullptr || params.up == nullptr || params.y == nullptr) {
    return invalid("gate, up or y is null");
  }
  const int64_t gate_stride = stride_or(params.gate_row_stride, params.width);
  const int64_t up_stride = stride_or(params.up_row_stride, params.width);
  const int64_t y_stride = stride_or(params.y_row_stride, params.width);
  for_each_item(executor, params.num_tokens, kExpWork * params.width, [&](int64_t t) {
    const float* gate = params.gate + t * gate_stride;
    const float* up = params.up + t * up_stride;
    float* y = params.y + t * y_stride;
    for (int64_t i = 0; i < params.width; ++i) {
      y[i] = silu(gate[i]) * up[i];
    }
  });
  return {};
}

LaunchStatus sigmoid_gate_reference(const SigmoidGateParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_heads <= 0 || params.head_dim <= 0) {
    return invalid("num_tokens, num_heads or head_dim", params.num_tokens);
  }
  if (params.x == nullptr || params.gate == nullptr) {
    return invalid("x or gate is null");
  }
  const int64_t dim = params.head_dim;
  for_each_item(executor, params.num_tokens * params.num_heads, kExpWork * dim, [&](int64_t i) {
    const float* gate = params.gate + i / params.num_heads * params.gate_row_stride +
                        i % params.num_heads * params.gate_head_stride;
    float* x = params.x + i * dim;
    for (int64_t d = 0; d < dim; ++d) {
      x[d] *= sigmoid(gate[d]);
    }
  });
  return {};
}

LaunchStatus residual_add_reference(const ResidualAddParams& params, CpuExecutor& executor) {
  if (params.num_elements == 0) {
    return {};
  }
  if (params.num_elements < 0) {
    return invalid("num_elements", params.num_elements);
  }
  if (params.x == nullptr || params.y == nullptr) {
    return invalid("x or y is null");
  }
  executor.parallel_for(params.num_elements, kWorkPerRange, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      params.x[i] += params.y[i];
    }
  });
  return {};
}

}  // namespace ifr::kernels
