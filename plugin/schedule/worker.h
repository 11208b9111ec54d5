// SPDX-License-Identifier: Apache-2.0
// The thread that runs steps: one quantum of one request after another, in turns.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "base/platform.h"
#include "interframe_kernels/cpu_executor.h"
#include "schedule/event_queue.h"
#include "schedule/last_error.h"
#include "schedule/request.h"
#include "telemetry/telemetry.h"

namespace ifr {

class Worker {
 public:
  struct Services {
    EventQueue* events = nullptr;
    Telemetry* telemetry = nullptr;
    LastError* last_error = nullptr;
    LogSink log;
    int32_t num_threads = 1;
    ThreadPriority priority = ThreadPriority::kBelowNormal;
    uint16_t handle_tag = 0;
  };

  // Throws std::system_error when a thread cannot be made. Everything outlives the worker.
  explicit Worker(const Services& services);
  // Ends after the quantum in flight; requests that are left get no event.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Any thread. `request->session` is held busy by the caller, its prompt is in its tokens; the
  // worker gives the session back when the request ends. Returns the handle.
  uint64_t submit(std::unique_ptr<Request> request);
  // kInvalidHandle when the request is not known or its end was polled.
  [[nodiscard]] Status cancel(uint64_t handle);
  // A session was marked as closing.
  void wake();
  // The host took events. Lock-free; a system call only when generation waits for room.
  void note_polled();

  [[nodiscard]] int32_t num_queued() const { return num_queued_.load(std::memory_order_relaxed); }
  [[nodiscard]] int32_t num_active() const { return num_active_.load(std::memory_order_relaxed); }

 private:
  enum class Progress { kGoesOn, kEnded };
  struct Ending {
    FinishReason reason = FinishReason::kNone;
    Code code = Code::kOk;
    Part part = Part::kNone;
  };

  void run();
  // Which of active_ has its turn; -1: none can go on now.
  [[nodiscard]] int32_t choose_locked(bool congested) const;
  void count_locked();
  void forget_polled_locked();

  // worker_step.cpp: without the lock.
  [[nodiscard]] Progress run_quantum(Request& request);
  [[nodiscard]] Status feed(Request& request, int32_t num_tokens, bool is_last);
  [[nodiscard]] Expected<int32_t> sample(Request& request);
  [[nodiscard]] Progress take_token(Request& request, int32_t token_id);
  void emit_token(const Request& request, int32_t token_id, int32_t position, std::string_view text,
                  std::string_view raw);
  // Takes the request out of active_; it must not be touched afterwards.
  [[nodiscard]] Progress end(Request& request, Ending ending);
  [[nodiscard]] Progress fail(Request& request, const Status& status);

  const Services services_;
  std::unique_ptr<kernels::CpuExecutor> executor_;  // the thread's

  std::mutex mutex_;
  std::condition_variable work_;
  std::unordered_map<uint64_t, std::unique_ptr<Request>> requests_;
  std::vector<Request*> active_;  // not ended, in turn order
  size_t turn_ = 0;
  uint64_t serial_ = 0;
  bool stop_ = false;
  std::atomic<bool> starved_{false};  // generation waits for room in the event queue
  std::atomic<int32_t> num_queued_{0};
  std::atomic<int32_t> num_active_{0};
  std::thread thread_;
};

}  // namespace ifr
