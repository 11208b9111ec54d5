// SPDX-License-Identifier: Apache-2.0
// From one row of logits to a token. What is drawn depends on the logits, the parameters, the seed
// and the position only.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "interframe_kernels/cpu_executor.h"
#include "memory/slab.h"
#include "telemetry/step_observer.h"

namespace ifr {

struct SamplerParams {
  float temperature = 0.0F;  // finite, >= 0; 0: the largest logit, ties to the lower id
  int32_t top_k = 0;         // >= 0; 0: off
  float top_p = 1.0F;        // 0..1; 1: off
  uint64_t seed = 0;
};

// kInvalidArgument names the parameter and its value.
[[nodiscard]] Status check_sampler_params(const SamplerParams& params);

// Scratch for one vocabulary. One thread at a time.
class Sampler {
 public:
  [[nodiscard]] static Expected<Sampler> create(MemoryBudget& budget, int32_t vocab_size);

  // logits: [vocab_size]; position: of the token to be drawn in its sequence. Allocates nothing.
  // Errors: kInvalidArgument (parameters, logits' length), kInternal when every logit is NaN or
  // -inf.
  [[nodiscard]] Expected<int32_t> sample(std::span<const float> logits, int64_t position,
                                         const SamplerParams& params,
                                         kernels::CpuExecutor& executor,
                                         StepObserver* observer = nullptr);

 private:
  Sampler(Slab scratch, int32_t vocab_size)
      : scratch_(std::move(scratch)), vocab_size_(vocab_size) {}
  Slab scratch_;
  int32_t vocab_size_;
};

}  // namespace ifr
