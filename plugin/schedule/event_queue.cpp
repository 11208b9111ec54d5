// SPDX-License-Identifier: Apache-2.0
#include "schedule/event_queue.h"

namespace ifr {

bool EventQueue::push_to_ring(const Event& event) {
  const uint64_t written = written_.load(std::memory_order_relaxed);
  if (written - taken_.load(std::memory_order_acquire) >= capacity_) {
    return false;
  }
  ring_[written % capacity_] = event;
  written_.store(written + 1, std::memory_order_release);
  return true;
}

bool EventQueue::flush_locked() {
  while (overflow_begin_ < overflow_.size() && push_to_ring(overflow_[overflow_begin_])) {
    ++overflow_begin_;
  }
  if (overflow_begin_ < overflow_.size()) {
    return true;
  }
  overflow_.clear();
  overflow_begin_ = 0;
  has_overflow_.store(false, std::memory_order_relaxed);
  return false;
}

uint64_t EventQueue::push(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (flush_locked() || !push_to_ring(event)) {
    overflow_.push_back(event);
    has_overflow_.store(true, std::memory_order_relaxed);
  }
  return written_.load(std::memory_order_relaxed) + (overflow_.size() - overflow_begin_);
}

bool EventQueue::flush() {
  const std::lock_guard lock(mutex_);
  return flush_locked();
}

const Event* EventQueue::front() {
  const uint64_t taken = taken_.load(std::memory_order_relaxed);
  if (taken == written_.load(std::memory_order_acquire)) {
    // Without this an idle worker would leave the rest where it is.
    if (!has_overflow_.load(std::memory_order_relaxed)) {
      return nullptr;
    }
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
      return nullptr;
    }
    (void)flush_locked();
    if (taken == written_.load(std::memory_order_acquire)) {
      return nullptr;
    }
  }
  return &ring_[taken % capacity_];
}

void EventQueue::pop() {
  taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace ifr
