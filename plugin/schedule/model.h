// SPDX-License-Identifier: Apache-2.0
// A model of a runtime, from the call that loads it to the last session that uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "engine/sampler.h"
#include "memory/budget.h"
#include "schedule/model_loader.h"
#include "schedule/object_table.h"
#include "telemetry/telemetry.h"

namespace ifr {

// Values equal IFR_MODEL_* of interframe.h.
enum class ModelState : int32_t { kLoading = 0, kReady = 1, kFailed = 2 };

inline constexpr uint32_t kMaxModels = 64;

// What the worker needs to run steps of a model; its alone.
struct StepBuffers {
  std::unique_ptr<StepWorkspace> workspace;
  std::optional<Sampler> sampler;
  std::vector<float> logits;  // [vocab]
  Reservation logits_reservation;
  double ns_per_prompt_token = 0.0;  // measured; 0: not yet
};

struct Model {
  Model(std::string model_path, Telemetry& telemetry_in, MemoryBudget& budget_in)
      : path(std::move(model_path)), telemetry(&telemetry_in), budget(&budget_in) {}
  ~Model() {
    buffers = {};
    loaded = {};
    telemetry->note_memory(*budget);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  uint64_t handle = 0;
  const std::string path;
  LoadProgress progress;
  // Written by the loading thread before it leaves kLoading; constant from then on.
  Status failure;
  LoadedModel loaded;
  StepBuffers buffers;
  std::atomic<ModelState> state{ModelState::kLoading};
  std::atomic<bool> released{false};  // the host gave its handle back

  Telemetry* telemetry;
  MemoryBudget* budget;
};

using ModelTable = ObjectTable<Model, kMaxModels>;
using ModelRef = ModelTable::Ref;

}  // namespace ifr
