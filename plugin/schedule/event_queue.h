// SPDX-License-Identifier: Apache-2.0
// Events on their way to the host: several producers, one consumer that never waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "schedule/event.h"

namespace ifr {

// A ring of fixed size that the consumer reads without waiting, and behind it an overflow. While
// the overflow holds something the queue is congested: generation pauses, so it never holds more
// than the events of a few steps. Events come out in the order they went in.
class EventQueue {
 public:
  // Throws std::bad_alloc.
  explicit EventQueue(uint32_t capacity)
      : capacity_(capacity), ring_(std::make_unique<Event[]>(capacity)) {
    overflow_.reserve(kOverflowReserve);
  }

  // Any thread of the plugin. Returns the event's number, from 1. Allocates only when the overflow
  // outgrows what it reserved.
  uint64_t push(const Event& event);
  // Moves what fits from the overflow to the ring; true while something is left.
  bool flush();

  // Of the host's threads one at a time takes events: false while another one does.
  [[nodiscard]] bool begin_taking() {
    return !being_taken_.exchange(true, std::memory_order_acquire);
  }
  void end_taking() { being_taken_.store(false, std::memory_order_release); }
  // Between the two: the oldest event, or null; valid until pop(). When the ring is empty it is
  // filled from the overflow, unless a producer is in there just now (then the next call does it).
  [[nodiscard]] const Event* front();
  void pop();

  // Events taken so far: event n was taken when this is >= n. Any thread.
  [[nodiscard]] uint64_t num_taken() const { return taken_.load(std::memory_order_acquire); }
  [[nodiscard]] uint32_t capacity() const { return capacity_; }

 private:
  static constexpr size_t kOverflowReserve = 64;
  [[nodiscard]] bool push_to_ring(const Event& event);
  bool flush_locked();

  const uint32_t capacity_;
  std::unique_ptr<Event[]> ring_;
  alignas(64) std::atomic<uint64_t> written_{0};  // the producers', under mutex_
  alignas(64) std::atomic<uint64_t> taken_{0};    // the consumer's
  std::atomic<bool> being_taken_{false};
  std::atomic<bool> has_overflow_{false};  // written under mutex_
  alignas(64) std::mutex mutex_;           // producers only
  std::vector<Event> overflow_;            // under mutex_
  size_t overflow_begin_ = 0;
};

}  // namespace ifr
