// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/gated_delta_net.h"

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"
#include "reference/vector_ops.h"

namespace ifr::kernels {
namespace {

constexpr float kL2Eps = 1e-6F;

// log(1 + exp(x)); beyond the bound it is x to float32.
float softplus(float x) {
  constexpr float kLinearFrom = 20.0F;
  return x > kLinearFrom ? x : std::log1p(std::exp(x));
}

void l2_normalise(const VectorOps& ops, const float* x, int64_t len, float factor, float* y) {
  const float scale = 1.0F / std::sqrt(ops.dot(x, x, len) + kL2Eps);
  for (int64_t i = 0; i < len; ++i) {
    y[i] = x[i] * scale * factor;
  }
}

void run_head(const GatedDeltaNetParams& params, const VectorOps& ops, int64_t head) {
  const int64_t key_dim = params.key_dim;
  const int64_t value_dim = params.value_dim;
  const int64_t key_head = head / (params.num_value_heads / params.num_key_heads);
  const int64_t keys_len = params.num_key_heads * key_dim;
  const int64_t row_len = 2 * keys_len + params.num_value_heads * value_dim;
  float* q = params.scratch + head * 2 * key_dim;
  float* k = q + key_dim;
  const float rate = -std::exp(params.a_log[head]);
  const float q_factor = 1.0F / std::sqrt(static_cast<float>(key_dim));

  DeltaStep step;
  step.state = params.state + head * key_dim * value_dim;
  step.q = q;
  step.k = k;
  step.key_dim = key_dim;
  step.value_dim = value_dim;
  for (int64_t t = 0; t < params.num_tokens; ++t) {
    const float* row = params.qkv + t * row_len;
    const int64_t gate = t * params.num_value_heads + head;
    l2_normalise(ops, row + key_head * key_dim, key_dim, q_factor, q);
    l2_normalise(ops, row + keys_len + key_head * key_dim, key_dim, 1.0F, k);
    step.v = row + 2 * keys_len + head * value_dim;
    step.out = params.out + gate * value_dim;
    step.decay = std::exp(rate * softplus(params.a[gate] + params.dt_bias[head]));
    step.beta = sigmoid(params.b[gate]);
    ops.delta_step(step);
  }
}

}  // namespace

LaunchStatus gated_delta_net_reference(const GatedDeltaNetParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.key_dim <= 0 || params.value_dim <= 0) {
    return invalid("num_tokens, key_dim or value_dim", params.num_tokens);
  }
  if (params.num_key_heads <= 0 || params.num_value_heads <= 0 ||
      params.num_value_heads % params.num_key_heads != 0) {
    return invalid("num_value_heads is no multiple of num_key_heads", params.num_value_heads);
  }
  if (params.qkv == nullptr || params.a == nullptr || params.b == nullptr ||
      params.a_log == nullptr || params.dt_bias == nullptr) {
    return invalid("qkv, a, b, a_log or dt_bias is null");
  }
  if (params.state == nullptr || params.out == nullptr || params.scratch == nullptr) {
    return invalid("state, out or scratch is null");
  }
  const VectorOps& ops = vector_ops();
  const int64_t work = 4 * params.num_tokens * params.key_dim * params.value_dim;
  for_each_item(executor, params.num_value_heads, work,
                [&](int64_t head) { run_head(params, ops, head); });
  return {};
}

}  // namespace ifr::kernels
