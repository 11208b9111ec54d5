// SPDX-License-Identifier: Apache-2.0
// Linear attention: projections, short convolution, gated delta rule, gated norm.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/rms_norm.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr {

struct DeltaNetShape {
  int32_t num_key_heads = 0;
  int32_t num_value_heads = 0;
  int32_t key_dim = 0;
  int32_t value_dim = 0;
  int32_t conv_taps = 0;
  float eps = 0.0F;
  kernels::GateActivation gate = kernels::GateActivation::kSigmoid;

  [[nodiscard]] int64_t conv_channels() const {
    return 2 * int64_t{num_key_heads} * key_dim + int64_t{num_value_heads} * value_dim;
  }
};

struct DeltaNetWeights {
  kernels::WeightMatrix qkv;
  kernels::WeightMatrix z;
  kernels::WeightMatrix b;
  kernels::WeightMatrix a;
  kernels::WeightMatrix out;
  const float* conv = nullptr;  // [conv_channels, taps]
  const float* a_log = nullptr;
  const float* dt_bias = nullptr;
  const float* norm = nullptr;  // [value_dim]

  void plan(WeightPlan& plan, const std::string& prefix);
};

// Of one layer and sequence; zero at the start.
struct DeltaNetState {
  float* conv = nullptr;    // [taps - 1, conv_channels]
  float* memory = nullptr;  // [Vh, Dk, Dv]
  void lay_out(const DeltaNetShape& shape, ScratchLayout& layout);
};

struct DeltaNetScratch {
  float* qkv = nullptr;        // [T, conv_channels]
  float* convolved = nullptr;  // [T, conv_channels]
  float* z = nullptr;          // [T, Vh * Dv]
  float* a = nullptr;          // [T, Vh]
  float* b = nullptr;          // [T, Vh]
  float* out = nullptr;        // [T, Vh * Dv]
  float* rule = nullptr;
  void lay_out(const DeltaNetShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

// x [T, H] -> y [T, H]; advances the state by T tokens.
[[nodiscard]] Status run_delta_net(const StepContext& context, const DeltaNetShape& shape,
                                   const DeltaNetWeights& weights, const DeltaNetState& state,
                                   const float* x, float* y, const DeltaNetScratch& scratch);

}  // namespace ifr
