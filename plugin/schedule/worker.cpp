// SPDX-License-Identifier: Apache-2.0
#include "schedule/worker.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace ifr {

namespace {

// How long the worker sleeps at most before it looks again whether the host has polled. The poll
// wakes it too, but without the lock, so that wake-up may be missed.
constexpr std::chrono::milliseconds kStarvedWait(20);

bool wants_end(const Request& request) {
  return request.cancel.load(std::memory_order_relaxed) ||
         request.session->closing.load(std::memory_order_relaxed);
}

}  // namespace

Worker::Worker(const Services& services) : services_(services) {
  const ThreadPriority priority = services.priority;
  executor_ =
      std::make_unique<kernels::CpuExecutor>(services.num_threads, [priority](int32_t thread_idx) {
        char name[16];
        (void)std::snprintf(name, sizeof name, "ifr-cpu-%d", thread_idx);
        set_current_thread_name(name);
        (void)set_current_thread_priority(priority);
      });
  thread_ = std::thread([this] { run(); });
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  thread_.join();
}

uint64_t Worker::submit(std::unique_ptr<Request> request) {
  const std::lock_guard lock(mutex_);
  forget_polled_locked();
  // All that can fail comes before the first change.
  active_.reserve(active_.size() + 1);
  Request* added = request.get();
  const uint64_t handle = Handle::make(HandleKind::kRequest, services_.handle_tag, 0, serial_ + 1);
  added->handle = handle;
  requests_.emplace(handle, std::move(request));
  ++serial_;
  active_.push_back(added);
  count_locked();
  work_.notify_one();
  return handle;
}

Status Worker::cancel(uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(handle);
  if (found == requests_.end() ||
      (found->second->finished_event != 0 &&
       services_.events->num_taken() >= found->second->finished_event)) {
    return Handle::refusal(handle, HandleKind::kRequest, services_.handle_tag);
  }
  found->second->cancel.store(true, std::memory_order_relaxed);
  work_.notify_one();
  return {};
}

void Worker::wake() {
  const std::lock_guard lock(mutex_);
  work_.notify_one();
}

void Worker::note_polled() {
  if (starved_.load(std::memory_order_relaxed)) {
    starved_.store(false, std::memory_order_relaxed);
    work_.notify_one();
  }
}

void Worker::forget_polled_locked() {
  const uint64_t taken = services_.events->num_taken();
  std::erase_if(requests_, [taken](const auto& entry) {
    return entry.second->finished_event != 0 && taken >= entry.second->finished_event;
  });
}

void Worker::count_locked() {
  const auto queued = std::count_if(active_.begin(), active_.end(),
                                    [](const Request* request) { return !request->started; });
  num_queued_.store(static_cast<int32_t>(queued), std::memory_order_relaxed);
  num_active_.store(static_cast<int32_t>(active_.size()) - static_cast<int32_t>(queued),
                    std::memory_order_relaxed);
}

int32_t Worker::choose_locked(bool congested) const {
  for (size_t i = 0; i < active_.size(); ++i) {
    const size_t idx = (turn_ + i) % active_.size();
    // An end is always delivered; other work would only pile up events that nobody takes.
    if (!congested || wants_end(*active_[idx])) {
      return static_cast<int32_t>(idx);
    }
  }
  return -1;
}

void Worker::run() {
  set_current_thread_name("ifr-worker");
  (void)set_current_thread_priority(services_.priority);
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stop_ || !active_.empty(); });
    if (stop_) {
      return;
    }
    const bool congested = services_.events->flush();
    const int32_t idx = choose_locked(congested);
    if (idx < 0) {
      starved_.store(true, std::memory_order_relaxed);
      (void)work_.wait_for(lock, kStarvedWait);
      starved_.store(false, std::memory_order_relaxed);
      continue;
    }
    Request& request = *active_[static_cast<size_t>(idx)];
    request.started = true;
    count_locked();
    lock.unlock();
    const Progress progress = run_quantum(request);
    lock.lock();
    // Others may have been added behind. An ended one was taken out: the next stands in its place.
    turn_ = static_cast<size_t>(idx) + (progress == Progress::kEnded ? 0 : 1);
    turn_ = active_.empty() ? 0 : turn_ % active_.size();
    count_locked();
  }
}

}  // namespace ifr
