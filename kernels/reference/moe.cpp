// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/moe.h"

#include <cstring>
#include <limits>

#include "interframe_kernels/cpu_executor.h"
#include "reference/linear_product.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

constexpr int64_t kStepRows = 8;  // weight rows of one step, as a tile decodes them

// probability: [num_experts], softmax in float32.
void softmax(const float* logits, int64_t num_experts, float* probability) {
  const float largest = *std::max_element(logits, logits + num_experts);
  float sum = 0.0F;
  for (int64_t e = 0; e < num_experts; ++e) {
    probability[e] = std::exp(logits[e] - largest);
    sum += probability[e];
  }
  for (int64_t e = 0; e < num_experts; ++e) {
    probability[e] /= sum;
  }
}

void route_token(const MoeRouterParams& params, int64_t token) {
  float probability[kMoeMaxExperts];
  bool taken[kMoeMaxExperts] = {};
  softmax(params.logits + token * params.num_experts, params.num_experts, probability);
  int32_t* ids = params.expert_ids + token * params.num_selected;
  float* weights = params.weights + token * params.num_selected;
  float sum = 0.0F;
  for (int64_t i = 0; i < params.num_selected; ++i) {
    int64_t best = -1;
    for (int64_t e = 0; e < params.num_experts; ++e) {
      if (!taken[e] && (best < 0 || probability[e] > probability[best])) {
        best = e;
      }
    }
    ids[i] = static_cast<int32_t>(best);
    weights[i] = best < 0 ? 0.0F : probability[best];
    if (best >= 0) {
      taken[best] = true;
    }
    sum += weights[i];
  }
  if (params.mode == RouterWeights::kRenormalised) {
    for (int64_t i = 0; i < params.num_selected; ++i) {
      weights[i] /= sum;
    }
  }
}

// Pairs (token, rank) sorted by expert. All arrays lie in the caller's scratch.
struct Grouping {
  int32_t* row_token = nullptr;  // [rows]: token of a grouped row
  int32_t* pair_row = nullptr;   // [num_tokens, num_selected]: grouped row of a pair, -1 = none
  int64_t* begin = nullptr;      // [num_experts + 1]: first grouped row of an expert
  int64_t* active = nullptr;     // [num_active]: experts that have rows
  int64_t* cursor = nullptr;     // [num_experts]
  int64_t num_active = 0;
  float* gate = nullptr;    // [rows, I], then silu(gate) * up
  float* up = nullptr;      // [rows, I]
  float* output = nullptr;  // [rows, H]
};

// Hands out 64-byte aligned pieces of the scratch.
template <typename T>
T* carve(uint8_t*& cursor, int64_t count) {
  constexpr int64_t kAlignment = 64;
  T* piece = reinterpret_cast<T*>(cursor);
  const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
  cursor += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return piece;
}

Grouping carve_scratch(const MoeExpertsParams& params) {
  const int64_t pairs = params.num_tokens * params.num_selected;
  auto* cursor = static_cast<uint8_t*>(params.scratch);
  Grouping group;
  group.begin = carve<int64_t>(cursor, params.num_experts + 1);
  group.active = carve<int64_t>(cursor, params.num_experts);
  group.cursor = carve<int64_t>(cursor, params.num_experts);
  group.row_token = carve<int32_t>(cursor, pairs);
  group.pair_row = carve<int32_t>(cursor, pairs);
  group.gate = carve<float>(cursor, pairs * params.intermediate);
  group.up = carve<float>(cursor, pairs * params.intermediate);
  group.output = carve<float>(cursor, pairs * params.hidden);
  return group;
}

void group_by_expert(const MoeExpertsParams& params, Grouping& group) {
  const int64_t pairs = params.num_tokens * params.num_selected;
  const auto in_range = [&](int32_t expert) { return expert >= 0 && expert < params.num_experts; };
  std::fill(group.cursor, group.cursor + params.num_experts, 0);
  for (int64_t i = 0; i < pairs; ++i) {
    if (in_range(params.expert_ids[i])) {
      ++group.cursor[params.expert_ids[i]];
    }
  }
  group.begin[0] = 0;
  for (int64_t e = 0; e < params.num_experts; ++e) {
    const int64_t count = group.cursor[e];
    group.cursor[e] = group.begin[e];
    group.begin[e + 1] = group.begin[e] + count;
    if (count > 0) {
      group.active[group.num_active++] = e;
    }
  }
  for (int64_t i = 0; i < pairs; ++i) {
    group.pair_row[i] = -1;
    if (in_range(params.expert_ids[i])) {
      const int64_t row = group.cursor[params.expert_ids[i]]++;
      group.row_token[row] = static_cast<int32_t>(i / params.num_selected);
      group.pair_row[i] = static_cast<int32_t>(row);
    }
  }
}

// One product of one expert for all its rows; the input is row i of x, or x_rows[i].
LinearTile expert_tile(const Grouping& group, int64_t expert, const WeightMatrix& weight,
                       const float* x, bool gathered, float* y) {
  const int64_t begin = group.begin[expert];
  LinearParams linear;
  linear.x = gathered ? x : x + begin * weight.row_len;
  linear.x_rows = gathered ? group.row_token + begin : nullptr;
  linear.weight = weight;
  linear.y = y + begin * weight.num_rows;
  linear.num_tokens = group.begin[expert + 1] - begin;
  return linear_tile(linear);
}

// Runs `products` products of every active expert, kStepRows weight rows a step.
template <typename F>
void run_products(const Grouping& group, int64_t products, int64_t num_rows, int64_t row_len,
                  CpuExecutor& executor, F&& make_tile) {
  const VectorOps& ops = vector_ops();
  const int64_t steps = (num_rows + kStepRows - 1) / kStepRows;
  for_each_item(executor, group.num_active * products * steps, kStepRows * row_len, [&](int64_t i) {
    const int64_t product = i / steps % products;
    LinearTile tile = make_tile(group.active[i / steps / products], product);
    tile.row_begin = i % steps * kStepRows;
    tile.row_end = std::min(tile.row_begin + kStepRows, num_rows);
    ops.linear(tile);
  });
}

LaunchStatus check_expert(const WeightMatrix& weight, int64_t num_rows, int64_t row_len) {
  if (const LaunchStatus status = check_weight(weight); !status.is_ok()) {
    return status;
  }
  if (weight.num_rows != num_rows || weight.row_len != row_len) {
    return invalid("shape of an expert's weight", weight.num_rows);
  }
  return {};
}

LaunchStatus check_experts(const MoeExpertsParams& params) {
  if (params.num_tokens < 0 || params.num_selected < 0 || params.num_experts <= 0) {
    return invalid("num_tokens, num_selected or num_experts", params.num_tokens);
  }
  if (params.hidden <= 0 || params.intermediate <= 0) {
    return invalid("hidden or intermediate", params.hidden);
  }
  if (params.x == nullptr || params.expert_ids == nullptr || params.weights == nullptr ||
      params.gate == nullptr || params.up == nullptr || params.down == nullptr ||
      params.y == nullptr || params.scratch == nullptr) {
    return invalid("a pointer is null");
  }
  for (int64_t e = 0; e < params.num_experts; ++e) {
    LaunchStatus status = check_expert(params.gate[e], params.intermediate, params.hidden);
    if (status.is_ok()) {
      status = check_expert(params.up[e], params.intermediate, params.hidden);
    }
    if (status.is_ok()) {
      status = check_expert(params.down[e], params.hidden, params.intermediate);
    }
    if (!status.is_ok()) {
      return status;
    }
  }
  return {};
}

void combine_token(const MoeExpertsParams& params, const Grouping& group, int64_t token) {
  float* y = params.y + token * params.hidden;
  std::fill(y, y + params.hidden, 0.0F);
  for (int64_t i = 0; i < params.num_selected; ++i) {
    const int64_t pair = token * params.num_selected + i;
    if (group.pair_row[pair] < 0) {
      continue;
    }
    const float weight = params.weights[pair];
    const float* output = group.output + group.pair_row[pair] * params.hidden;
    for (int64_t h = 0; h < params.hidden; ++h) {
      y[h] += weight * output[h];
    }
  }
}

}  // namespace

LaunchStatus moe_router_reference(const MoeRouterParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0 || params.num_selected == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.num_selected < 0) {
    return invalid("num_tokens or num_selected", params.num_tokens);
  }
  if (params.num_experts <= 0 || params.num_experts > kMoeMaxExperts) {
    return unsupported("num_experts is outside 1..4096", params.num_experts);
  }
  if (params.logits == nullptr || params.expert_ids == nullptr || params.weights == nullptr) {
    return invalid("logits, expert_ids or weights is null");
  }
  const int64_t work = params.num_experts * (8 + params.num_selected);
  for_each_item(executor, params.num_tokens, work, [&](int64_t t) { route_token(params, t); });
  return {};
}

LaunchStatus moe_experts_reference(const MoeExpertsParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_experts(params); !status.is_ok()) {
    return status;
  }
  Grouping group = carve_scratch(params);
  group_by_expert(params, group);
  run_products(
      group, 2, params.intermediate, params.hidden, executor, [&](int64_t expert, int64_t product) {
        return product == 0
                   ? expert_tile(group, expert, params.gate[expert], params.x, true, group.gate)
                   : expert_tile(group, expert, params.up[expert], params.x, true, group.up);
      });
  const int64_t rows = group.begin[params.num_experts];
  for_each_item(executor, rows, 8 * params.intermediate, [&](int64_t row) {
    float* gate = group.gate + row * params.intermediate;
    const float* up = group.up + row * params.intermediate;
    for (int64_t i = 0; i < params.intermediate; ++i) {
      gate[i] = silu(gate[i]) * up[i];
    }
  });
  run_products(
      group, 1, params.hidden, params.intermediate, executor, [&](int64_t expert, int64_t) {
        return expert_tile(group, expert, params.down[expert], group.gate, false, group.output);
      });
  for_each_item(executor, params.num_tokens, params.num_selected * params.hidden,
                [&](int64_t t) { combine_token(params, group, t); });
  return {};
}

LaunchStatus moe_shared_add_reference(const MoeSharedAddParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.hidden <= 0) {
    return invalid("num_tokens or hidden", params.num_tokens);
  }
  if (params.y == nullptr || params.shared == nullptr || params.gate == nullptr) {
    return invalid("y, shared or gate is null");
  }
  for_each_item(executor, params.num_tokens, params.hidden, [&](int64_t t) {
    const float gate = sigmoid(params.gate[t]);
    const float* shared = params.shared + t * params.hidden;
    float* y = params.y + t * params.hidden;
    for (int64_t h = 0; h < params.hidden; ++h) {
      y[h] += gate * shared[h];
    }
  });
  return {};
}

}  // namespace ifr::kernels
