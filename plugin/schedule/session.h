// SPDX-License-Identifier: Apache-2.0
// A conversation: its tokens, the engine's state of it, what its indexers chose.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine.h"
#include "schedule/model.h"
#include "schedule/object_table.h"
#include "telemetry/selection_history.h"

namespace ifr {

inline constexpr uint32_t kMaxSessions = 1024;

// The conversation is `tokens`; the engine has been fed the first sequence->num_tokens() of them.
// What is not fed yet (the last sampled token, the rest of a cancelled prompt) goes before the next
// prompt, so the conversation never depends on when a request was cancelled.
struct Session {
  explicit Session(ModelRef model_ref) : model(std::move(model_ref)) {}
  ~Session() {
    sequence.reset();
    selections.reset();
    model->telemetry->note_memory(*model->budget);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  uint64_t handle = 0;
  ModelRef model;
  std::unique_ptr<Sequence> sequence;
  std::unique_ptr<SelectionHistory> selections;
  int32_t context_tokens = 0;

  // Held by whoever changes the conversation: a submit, the worker while a request runs, a reset.
  std::atomic<bool> busy{false};
  std::atomic<bool> closing{false};  // destroyed by the host: its request ends
  std::atomic<int32_t> used_tokens{0};

  std::mutex tokens_mutex;      // for readers; the holder of `busy` alone writes
  std::vector<int32_t> tokens;  // capacity context_tokens from the beginning
};

using SessionTable = ObjectTable<Session, kMaxSessions>;
using SessionRef = SessionTable::Ref;

}  // namespace ifr
