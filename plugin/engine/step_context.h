// SPDX-License-Identifier: Apache-2.0
// What every block needs while one cut of a step runs, and the one way to run an operator.
#pragma once

#include <cstdint>

#include "base/platform.h"
#include "base/status.h"
#include "interframe_kernels/cpu_executor.h"
#include "interframe_kernels/launch.h"
#include "telemetry/step_observer.h"

namespace ifr {

struct StepContext {
  kernels::CpuExecutor& executor;
  StepObserver* observer = nullptr;  // may be null
  int32_t layer = -1;                // -1 outside the layers
  int64_t num_tokens = 0;            // rows of this cut
  int64_t first_position = 0;        // of row 0
};

// kInternal with the operator's name and its own words: after a checked load no operator refuses.
[[nodiscard]] Status operator_error(OperatorId id, int32_t layer,
                                    const kernels::LaunchStatus& status);

template <typename Params>
[[nodiscard]] Status run_operator(const StepContext& context, OperatorId id,
                                  kernels::LaunchStatus (*reference)(const Params&,
                                                                     kernels::CpuExecutor&),
                                  const Params& params, const kernels::OperatorCost& cost) {
  const uint64_t begin_ns = context.observer != nullptr ? monotonic_ns() : 0;
  const kernels::LaunchStatus status = reference(params, context.executor);
  if (!status.is_ok()) {
    return operator_error(id, context.layer, status);
  }
  if (context.observer != nullptr) {
    context.observer->on_operator({.id = id,
                                   .layer = context.layer,
                                   .begin_ns = begin_ns,
                                   .end_ns = monotonic_ns(),
                                   .bytes = cost.bytes,
                                   .flops = cost.flops});
  }
  return {};
}

}  // namespace ifr
