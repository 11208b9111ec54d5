// SPDX-License-Identifier: Apache-2.0
// Short ways to step a model and compare, for the cases of an engine.
#pragma once

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "engine_fixture.h"

namespace ifr::test {

inline constexpr const char* kMicro = IFR_SOURCE_DIR "/assets/micro";

inline std::vector<int32_t> some_ids(size_t count, int32_t vocab, int32_t seed = 1) {
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < count; ++i) {
    ids[i] = static_cast<int32_t>((i * 7919 + i * i * 31 + static_cast<size_t>(seed) * 101) %
                                  static_cast<size_t>(vocab));
  }
  return ids;
}

// Steps `ids` and gives the last row.
inline Status last_logits(const LoadedEngine& loaded, Sequence& sequence, StepWorkspace& workspace,
                          std::span<const int32_t> ids, std::vector<float>& logits,
                          StepObserver* observer = nullptr) {
  kernels::CpuExecutor executor(1);
  logits.assign(loaded.vocab(), NAN);
  return loaded.engine->step(sequence, workspace, executor, ids, {.observer = observer}, logits);
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace ifr::test
