// SPDX-License-Identifier: Apache-2.0
// down(silu(gate x) * (up x)): the feed-forward block of llama and the shared expert.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "interframe_kernels/weight_matrix.h"

namespace ifr {

struct MlpWeights {
  kernels::WeightMatrix gate;  // [I, H]
  kernels::WeightMatrix up;    // [I, H]
  kernels::WeightMatrix down;  // [H, I]
};

struct MlpScratch {
  float* gate = nullptr;
  float* up = nullptr;
  void lay_out(int64_t intermediate, int64_t max_tokens, ScratchLayout& layout);
};

// x [T, H] -> y [T, H].
[[nodiscard]] Status run_mlp(const StepContext& context, const MlpWeights& weights, const float* x,
                             float* y, const MlpScratch& scratch);

}  // namespace ifr
