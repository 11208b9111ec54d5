// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/sampling.h"

#include <limits>
#include <span>

#include "interframe_kernels/cpu_executor.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

struct Candidate {
  double weight = 0.0;  // exp((logit - largest) / temperature)
  float logit = 0.0F;
  int32_t id = 0;
};
static_assert(sizeof(Candidate) == 16, "sample_scratch_bytes counts 16 a logit");

// Order of a heap whose front ranks first: by logit, ties to the lower id.
bool ranks_after(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit < b.logit : a.id > b.id;
}

int32_t largest_id(const float* logits, int64_t vocab_len) {
  int32_t best = -1;
  float largest = kMinusInf;
  for (int64_t i = 0; i < vocab_len; ++i) {
    if (logits[i] > largest) {
      largest = logits[i];
      best = static_cast<int32_t>(i);
    }
  }
  return best;
}

uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// The candidate at `share` of [0, 1) of the sum; candidates of weight 0 are never met.
template <typename At>
int32_t pick(int64_t count, double share, double sum, const At& at) {
  const double target = share * sum;
  double reached = 0.0;
  int32_t last = -1;
  for (int64_t i = 0; i < count; ++i) {
    const Candidate& candidate = at(i);
    reached += candidate.weight;
    if (candidate.weight > 0.0) {
      last = candidate.id;
      if (reached > target) {
        break;
      }
    }
  }
  return last;
}

// Every id above -inf with its weight, in ascending order.
std::span<Candidate> collect(const SampleParams& params, float largest) {
  auto* candidates = static_cast<Candidate*>(params.scratch);
  const double temperature = static_cast<double>(params.options.temperature);
  size_t count = 0;
  for (int64_t i = 0; i < params.vocab_len; ++i) {
    const float logit = params.logits[i];
    if (!(logit > kMinusInf)) {
      continue;
    }
    const double below = static_cast<double>(logit) - static_cast<double>(largest);
    const double weight = logit == largest ? 1.0 : std::exp(below / temperature);
    candidates[count++] = {weight, logit, static_cast<int32_t>(i)};
  }
  return {candidates, count};
}

double sum_of(std::span<const Candidate> candidates) {
  double sum = 0.0;
  for (const Candidate& candidate : candidates) {
    sum += candidate.weight;
  }
  return sum;
}

// Keeps the k best in front, in no order that matters later.
std::span<Candidate> keep_top_k(std::span<Candidate> candidates, int32_t top_k) {
  const auto k = static_cast<size_t>(top_k);
  if (top_k == 0 || k >= candidates.size()) {
    return candidates;
  }
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(k - 1),
                   candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return ranks_after(b, a); });
  return candidates.first(k);
}

int32_t draw(const SampleParams& params, int32_t largest) {
  const SamplingOptions& options = params.options;
  const double share = sampling_uniform(options.seed, params.position);
  std::span<Candidate> all = collect(params, params.logits[largest]);
  if (options.top_k == 0 && options.top_p == 1.0F) {
    return pick(static_cast<int64_t>(all.size()), share, sum_of(all),
                [&](int64_t i) -> const Candidate& { return all[static_cast<size_t>(i)]; });
  }
  const std::span<Candidate> kept = keep_top_k(all, options.top_k);
  // Best first off a heap, until the nucleus is full; what was taken stands at the back.
  const double nucleus = options.top_p == 1.0F ? std::numeric_limits<double>::infinity()
                                               : static_cast<double>(options.top_p) * sum_of(kept);
  std::make_heap(kept.begin(), kept.end(), ranks_after);
  size_t taken = 0;
  double sum = 0.0;
  while (taken < kept.size() && (taken == 0 || sum < nucleus)) {
    const size_t left = kept.size() - taken;
    std::pop_heap(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(left), ranks_after);
    sum += kept[left - 1].weight;
    ++taken;
  }
  return pick(static_cast<int64_t>(taken), share, sum, [&](int64_t i) -> const Candidate& {
    return kept[kept.size() - 1 - static_cast<size_t>(i)];
  });
}

}  // namespace

SamplingFault sampling_check(const SamplingOptions& options) {
  if (!std::isfinite(options.temperature) || options.temperature < 0.0F) {
    return SamplingFault::kTemperature;
  }
  if (options.top_k < 0) {
    return SamplingFault::kTopK;
  }
  if (!(options.top_p >= 0.0F && options.top_p <= 1.0F)) {
    return SamplingFault::kTopP;
  }
  return SamplingFault::kNone;
}

double sampling_uniform(uint64_t seed, int64_t position) {
  constexpr uint64_t kGamma = 0x9E3779B97F4A7C15U;
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
  const uint64_t counter = kGamma * (static_cast<uint64_t>(position) + 1U);
  return static_cast<double>(mix_bits(mix_bits(seed + kGamma) ^ mix_bits(counter)) >> 11) * kUnit;
}

LaunchStatus argmax_reference(const ArgmaxParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (params.num_tokens < 0 || params.vocab_len <= 0 ||
      params.vocab_len > std::numeric_limits<int32_t>::max()) {
    return invalid("num_tokens or vocab_len", params.vocab_len);
  }
  if (params.logits == nullptr || params.ids == nullptr) {
    return invalid("logits or ids is null");
  }
  const int64_t stride = stride_or(params.row_stride, params.vocab_len);
  for_each_item(executor, params.num_tokens, params.vocab_len, [&](int64_t t) {
    params.ids[t] = largest_id(params.logits + t * stride, params.vocab_len);
  });
  return {};
}

LaunchStatus sample_reference(const SampleParams& params, CpuExecutor& /*executor*/) {
  if (params.vocab_len <= 0 || params.vocab_len > std::numeric_limits<int32_t>::max()) {
    return invalid("vocab_len", params.vocab_len);
  }
  if (params.logits == nullptr || params.id == nullptr || params.scratch == nullptr) {
    return invalid("logits, id or scratch is null");
  }
  switch (sampling_check(params.options)) {
    case SamplingFault::kTemperature:
      return invalid("temperature is negative or not finite");
    case SamplingFault::kTopK:
      return invalid("top_k is negative", params.options.top_k);
    case SamplingFault::kTopP:
      return invalid("top_p is outside [0, 1]");
    case SamplingFault::kNone:
      break;
  }
  const int32_t largest = largest_id(params.logits, params.vocab_len);
  *params.id = largest < 0 || params.options.temperature == 0.0F ? largest : draw(params, largest);
  return {};
}

}  // namespace ifr::kernels
