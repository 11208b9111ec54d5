// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/hyper_connection.h"

#include "interframe_kernels/cpu_executor.h"
#include "interframe_kernels/elementwise.h"
#include "interframe_kernels/linear.h"
#include "interframe_kernels/rms_norm.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

LaunchStatus check_mix(const HyperConnectionMixParams& params) {
  if (params.num_tokens < 0 || params.num_streams <= 0 || params.hidden <= 0) {
    return invalid("num_tokens, num_streams or hidden", params.num_tokens);
  }
  const int64_t width = params.num_streams * params.hidden;
  if (params.streams == nullptr || params.norm_weight == nullptr || params.mixed == nullptr ||
      params.scratch == nullptr) {
    return invalid("streams, norm_weight, mixed or scratch is null");
  }
  if (params.down.row_len != width) {
    return invalid("row length of down is not num_streams * hidden", params.down.row_len);
  }
  if (params.up.num_rows != width || params.up.row_len != params.down.num_rows) {
    return invalid("shape of up is not [num_streams * hidden, rank]", params.up.num_rows);
  }
  if (params.inject_weight.data != nullptr) {
    if (params.inject_weight.num_rows != params.num_streams ||
        params.inject_weight.row_len != width) {
      return invalid("shape of inject_weight is not [num_streams, num_streams * hidden]",
                     params.inject_weight.num_rows);
    }
    if (params.inject == nullptr) {
      return invalid("inject is null");
    }
  }
  return {};
}

LaunchStatus project(const float* x, const WeightMatrix& weight, float* y, int64_t num_tokens,
                     CpuExecutor& executor) {
  LinearParams linear;
  linear.x = x;
  linear.weight = weight;
  linear.y = y;
  linear.num_tokens = num_tokens;
  return linear_reference(linear, executor);
}

// m = mean over streams of sigmoid(gate) * n.
void mix_row(const HyperConnectionMixParams& params, const float* normed, const float* gate,
             float* mixed) {
  const int64_t hidden = params.hidden;
  for (int64_t h = 0; h < hidden; ++h) {
    mixed[h] = sigmoid(gate[h]) * normed[h];
  }
  for (int64_t c = 1; c < params.num_streams; ++c) {
    for (int64_t h = 0; h < hidden; ++h) {
      mixed[h] += sigmoid(gate[c * hidden + h]) * normed[c * hidden + h];
    }
  }
  for (int64_t h = 0; h < hidden; ++h) {
    mixed[h] /= static_cast<float>(params.num_streams);
  }
}

}  // namespace

LaunchStatus hyper_connection_mix_reference(const HyperConnectionMixParams& params,
                                            CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_mix(params); !status.is_ok()) {
    return status;
  }
  const int64_t tokens = params.num_tokens;
  const int64_t width = params.num_streams * params.hidden;
  const int64_t rank = params.down.num_rows;
  const float per_stream = 1.0F / static_cast<float>(params.num_streams);
  float* normed = params.scratch;         // [tokens, width]
  float* gate = normed + tokens * width;  // [tokens, width]
  float* inner = gate + tokens * width;   // [tokens, rank]

  RmsNormParams norm = rms_norm_contiguous(params.streams, params.norm_weight, normed, tokens,
                                           params.num_streams, params.hidden);
  norm.eps = params.eps;
  norm.centre = NormCentre::kZero;
  LaunchStatus status = rms_norm_reference(norm, executor);
  if (status.is_ok()) {
    status = project(normed, params.down, inner, tokens, executor);
  }
  if (status.is_ok()) {
    status = silu_reference({inner, inner, tokens * rank, per_stream}, executor);
  }
  if (status.is_ok()) {
    status = project(inner, params.up, gate, tokens, executor);
  }
  if (status.is_ok() && params.inject_weight.data != nullptr) {
    status = project(normed, params.inject_weight, params.inject, tokens, executor);
  }
  if (!status.is_ok()) {
    return status;
  }
  if (params.inject_weight.data != nullptr) {
    for (int64_t i = 0; i < tokens * params.num_streams; ++i) {
      params.inject[i] = 2.0F * sigmoid(params.inject[i] * per_stream);
    }
  }
  for_each_item(executor, tokens, 8 * width, [&](int64_t t) {
    mix_row(params, normed + t * width, gate + t * width, params.mixed + t * params.hidden);
  });
  return {};
}

LaunchStatus hyper_connection_inject_reference(const HyperConnectionInjectParams& params,
                                               CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_streams <= 0 || params.hidden <= 0) {
    return invalid("num_tokens, num_streams or hidden", params.num_tokens);
  }
  if (params.streams == nullptr || params.inject == nullptr || params.y == nullptr) {
    return invalid("streams, inject or y is null");
  }
  for_each_item(executor, params.num_tokens * params.num_streams, params.hidden, [&](int64_t i) {
    const float* y = params.y + i / params.num_streams * params.hidden;
    float* stream = params.streams + i * params.hidden;
    const float inject = params.inject[i];
    for (int64_t h = 0; h < params.hidden; ++h) {
      stream[h] += inject * y[h];
    }
  });
  return {};
}

}  // namespace ifr::kernels
