// SPDX-License-Identifier: Apache-2.0
// The thread that loads models, one after another.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "base/platform.h"
#include "schedule/event_queue.h"
#include "schedule/model.h"

namespace ifr {

class LoadQueue {
 public:
  struct Services {
    EventQueue* events = nullptr;
    Telemetry* telemetry = nullptr;
    MemoryBudget* budget = nullptr;
    LogSink log;
    ThreadPriority priority = ThreadPriority::kBelowNormal;
  };

  // Throws std::system_error when the thread cannot be made. Everything outlives the queue.
  LoadQueue(const Services& services, std::unique_ptr<ModelLoader> loader);
  // Cancels and joins.
  ~LoadQueue();
  LoadQueue(const LoadQueue&) = delete;
  LoadQueue& operator=(const LoadQueue&) = delete;

  void enqueue(ModelRef model);
  // A model that is still loading ends as kFailed with kCancelled: at once when it waits in the
  // queue, within 100 ms when it is being read. No effect on others.
  void cancel(Model& model);

 private:
  void run();
  // Everything that may take long; fills the model's loaded parts.
  [[nodiscard]] Status load(Model& model);
  void finish_locked(Model& model, Status status);

  const Services services_;
  const std::unique_ptr<ModelLoader> loader_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<ModelRef> waiting_;
  Model* current_ = nullptr;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ifr
