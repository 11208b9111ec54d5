// SPDX-License-Identifier: Apache-2.0
// The low-rank mix of the residual streams before a block, and the way back.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/hyper_connection.h"

namespace ifr {

struct HyperConnectionShape {
  int32_t num_streams = 0;
  int32_t hidden = 0;
  int32_t rank = 0;
  float eps = 0.0F;
};

enum class HasInject : uint8_t { kNo, kYes };

struct HyperConnectionWeights {
  const float* norm = nullptr;  // [C * H]
  kernels::WeightMatrix down;
  kernels::WeightMatrix up;
  kernels::WeightMatrix inject;  // data null for the model's last mixer

  void plan(WeightPlan& plan, const std::string& prefix, HasInject has_inject);
};

struct HyperConnectionScratch {
  float* values = nullptr;
  void lay_out(const HyperConnectionShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

// streams [T, C * H] -> mixed [T, H], inject [T, C] (null without inject weights).
[[nodiscard]] Status mix_streams(const StepContext& context, const HyperConnectionShape& shape,
                                 const HyperConnectionWeights& weights, const float* streams,
                                 float* mixed, float* inject,
                                 const HyperConnectionScratch& scratch);
// streams[c] += inject[c] * y.
[[nodiscard]] Status inject_into_streams(const StepContext& context,
                                         const HyperConnectionShape& shape, const float* inject,
                                         const float* y, float* streams);

}  // namespace ifr
