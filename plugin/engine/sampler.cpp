// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.h"

#include <utility>

#include "engine/step_context.h"
#include "interframe_kernels/sampling.h"

namespace ifr {

Status check_sampler_params(const SamplerParams& params) {
  const kernels::SamplingOptions options = {
      .temperature = params.temperature, .top_k = params.top_k, .top_p = params.top_p};
  switch (kernels::sampling_check(options)) {
    case kernels::SamplingFault::kNone:
      return {};
    case kernels::SamplingFault::kTemperature:
      return make_error(Code::kInvalidArgument, Part::kEngine,
                        "temperature is %g; it must be finite and not negative (0 is greedy)",
                        static_cast<double>(params.temperature));
    case kernels::SamplingFault::kTopK:
      return make_error(Code::kInvalidArgument, Part::kEngine,
                        "top_k is %d; it must not be negative (0 is off)", params.top_k);
    case kernels::SamplingFault::kTopP:
      return make_error(Code::kInvalidArgument, Part::kEngine,
                        "top_p is %g; it must lie in 0..1 (1 is off)",
                        static_cast<double>(params.top_p));
  }
  return make_error(Code::kInternal, Part::kEngine, "an unknown fault of the sampling parameters");
}

Expected<Sampler> Sampler::create(MemoryBudget& budget, int32_t vocab_size) {
  IFR_ASSIGN_OR_RETURN(
      Slab scratch, Slab::create(budget, MemoryKind::kState,
                                 static_cast<uint64_t>(kernels::sample_scratch_bytes(vocab_size)),
                                 "the scratch memory of sampling"));
  return Sampler(std::move(scratch), vocab_size);
}

Expected<int32_t> Sampler::sample(std::span<const float> logits, int64_t position,
                                  const SamplerParams& params, kernels::CpuExecutor& executor,
                                  StepObserver* observer) {
  IFR_TRY(check_sampler_params(params));
  if (logits.size() != static_cast<size_t>(vocab_size_)) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "%zu logits were given for a vocabulary of %d", logits.size(), vocab_size_);
  }
  int32_t id = -1;
  const kernels::SampleParams sample = {.logits = logits.data(),
                                        .id = &id,
                                        .scratch = scratch_.data(),
                                        .vocab_len = vocab_size_,
                                        .position = position,
                                        .options = {.temperature = params.temperature,
                                                    .top_k = params.top_k,
                                                    .top_p = params.top_p,
                                                    .seed = params.seed}};
  const StepContext context = {.executor = executor, .observer = observer};
  IFR_TRY(run_operator(context, OperatorId::kSampling, kernels::sample_reference, sample,
                       kernels::sample_cost(sample)));
  if (id < 0) {
    return make_error(Code::kInternal, Part::kEngine,
                      "no logit is above -inf: the model's numbers have broken down");
  }
  return id;
}

}  // namespace ifr
