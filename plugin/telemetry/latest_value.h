// SPDX-License-Identifier: Apache-2.0
// The newest value of one writer, readable from any thread without a lock and without a wait.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ifr {

// One thread publishes; any thread reads. A reader is turned back only when the writer publishes
// kSlots - 1 times while it copies, so it never waits for a writer that was preempted (a seqlock
// over one slot would: the writer's thread has a lower priority than the frame's).
template <typename T>
class LatestValue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void publish(const T& value) {
    std::array<uint64_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof(T));
    const uint64_t number = newest_.load(std::memory_order_relaxed) + 1;
    Slot& slot = slots_[number % kSlots];
    slot.number.store(kBusy, std::memory_order_relaxed);
    for (size_t i = 0; i < kWords; ++i) {
      // Release: a reader that sees this word also sees kBusy, and drops its copy.
      slot.words[i].store(words[i], std::memory_order_release);
    }
    slot.number.store(number, std::memory_order_release);
    newest_.store(number, std::memory_order_release);
  }

  // A whole published value; T{} before the first.
  [[nodiscard]] T read() const {
    std::array<uint64_t, kWords> words{};
    T value{};
    for (int32_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
      const uint64_t number = newest_.load(std::memory_order_acquire);
      if (number == 0) {
        break;
      }
      const Slot& slot = slots_[number % kSlots];
      if (slot.number.load(std::memory_order_acquire) != number) {
        continue;
      }
      for (size_t i = 0; i < kWords; ++i) {
        words[i] = slot.words[i].load(std::memory_order_acquire);
      }
      if (slot.number.load(std::memory_order_relaxed) == number) {
        std::memcpy(static_cast<void*>(&value), words.data(), sizeof(T));
        break;
      }
    }
    return value;
  }

 private:
  static constexpr size_t kSlots = 4;
  static constexpr size_t kWords = (sizeof(T) + 7) / 8;
  static constexpr uint64_t kBusy = UINT64_MAX;
  // A step publishes once and lasts longer than a copy: the second attempt already is a freak.
  static constexpr int32_t kMaxAttempts = 16;

  struct Slot {
    std::atomic<uint64_t> number{0};
    std::array<std::atomic<uint64_t>, kWords> words{};
  };
  std::array<Slot, kSlots> slots_;
  std::atomic<uint64_t> newest_{0};
};

}  // namespace ifr
