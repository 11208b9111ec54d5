// SPDX-License-Identifier: Apache-2.0
// A runtime: models, sessions, requests, and the threads that serve them. What the C ABI stands on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/log.h"
#include "base/platform.h"
#include "base/status.h"
#include "memory/budget.h"
#include "schedule/event_queue.h"
#include "schedule/last_error.h"
#include "schedule/load_queue.h"
#include "schedule/model.h"
#include "schedule/request.h"
#include "schedule/session.h"
#include "schedule/worker.h"
#include "telemetry/telemetry.h"

namespace ifr {

inline constexpr int32_t kMaxThreads = 256;
inline constexpr uint32_t kMinEventCapacity = 16;
inline constexpr uint32_t kMaxEventCapacity = 1U << 20;
inline constexpr uint32_t kDefaultEventCapacity = 4096;
inline constexpr int32_t kDefaultContextTokens = 4096;

struct RuntimeOptions {
  uint16_t handle_tag = 0;           // tells the handles of runtimes apart
  uint64_t memory_budget_bytes = 0;  // 0: no limit
  int32_t num_threads = 0;           // 0: one fewer than the usable cores, at least 1
  ThreadPriority priority = ThreadPriority::kBelowNormal;
  uint32_t event_capacity = 0;  // 0: the default
  LogSink log;
};

// Every function may be called from any thread, but front/pop of events (one at a time). None waits
// for a step or a file, the constructor and destructor aside.
class Runtime {
 public:
  // kInvalidArgument, kOutOfMemory.
  [[nodiscard]] static Expected<std::unique_ptr<Runtime>> create(
      const RuntimeOptions& options, std::unique_ptr<ModelLoader> loader);
  // Cancels loads and requests, waits for the quantum in flight, frees all.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] Expected<uint64_t> load_model(std::string path);
  [[nodiscard]] Expected<ModelRef> model(uint64_t handle);
  [[nodiscard]] Expected<ModelRef> ready_model(uint64_t handle);  // kInvalidState when it is not
  [[nodiscard]] Status cancel_load(uint64_t model);
  [[nodiscard]] Status release_model(uint64_t model);

  // context_tokens 0: the smaller of the model's and kDefaultContextTokens.
  [[nodiscard]] Expected<uint64_t> create_session(uint64_t model, int32_t context_tokens);
  [[nodiscard]] Expected<SessionRef> session(uint64_t handle);
  [[nodiscard]] Status destroy_session(uint64_t session);
  [[nodiscard]] Status reset_session(uint64_t session);  // kInvalidState while busy
  // Copies tokens [first, first + out.size()) as far as they exist; how many.
  [[nodiscard]] Expected<size_t> copy_tokens(uint64_t session, int32_t first,
                                             std::span<int32_t> out);

  // What a request is refused for leaves the session as it was.
  [[nodiscard]] Expected<uint64_t> submit(uint64_t session, const RequestSpec& spec);
  [[nodiscard]] Status cancel_request(uint64_t request);

  [[nodiscard]] EventQueue& events() { return events_; }
  void note_polled() { worker_->note_polled(); }
  [[nodiscard]] Telemetry& telemetry() { return telemetry_; }
  [[nodiscard]] int32_t num_queued() const { return worker_->num_queued(); }
  [[nodiscard]] int32_t num_active() const { return worker_->num_active(); }
  [[nodiscard]] LastError& last_error() { return last_error_; }
  [[nodiscard]] const LogSink& log() const { return options_.log; }

 private:
  explicit Runtime(const RuntimeOptions& options);
  // Fills `session`'s conversation with the prompt; the number of tokens added.
  [[nodiscard]] Expected<int32_t> append_prompt(Session& session, const RequestSpec& spec);

  const RuntimeOptions options_;
  // In this order: what a later member uses comes before it, so it is destroyed after it.
  MemoryBudget budget_;
  Telemetry telemetry_;
  LastError last_error_;
  EventQueue events_;
  ModelTable models_;
  SessionTable sessions_;
  std::unique_ptr<LoadQueue> loads_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace ifr
