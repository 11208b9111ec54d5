// SPDX-License-Identifier: Apache-2.0
// Objects that the host names by 64-bit handles, counted, found without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/status.h"

namespace ifr {

enum class HandleKind : uint32_t { kNone = 0, kModel = 1, kSession = 2, kRequest = 3 };

// kind 4 bits | tag of the runtime 16 | slot 10 | serial 34 (never reused within a runtime).
class Handle {
 public:
  static constexpr uint32_t kSlotBits = 10;
  static constexpr uint32_t kSerialBits = 34;

  [[nodiscard]] static uint64_t make(HandleKind kind, uint16_t tag, uint32_t slot,
                                     uint64_t serial) {
    return static_cast<uint64_t>(kind) << 60U | static_cast<uint64_t>(tag) << 44U |
           static_cast<uint64_t>(slot) << kSerialBits |
           (serial & ((uint64_t{1} << kSerialBits) - 1));
  }
  [[nodiscard]] static uint32_t kind(uint64_t handle) {
    return static_cast<uint32_t>(handle >> 60U);
  }
  [[nodiscard]] static uint16_t tag(uint64_t handle) {
    return static_cast<uint16_t>(handle >> 44U);
  }
  [[nodiscard]] static uint32_t slot(uint64_t handle) {
    return static_cast<uint32_t>(handle >> kSerialBits) & ((1U << kSlotBits) - 1);
  }
  // kInvalidHandle: why `handle` names no open object of that kind.
  [[nodiscard]] static Status refusal(uint64_t handle, HandleKind wanted, uint16_t tag);
};

// A table of up to kCapacity objects. The table holds one reference from insert() to close();
// whoever drops the last one destroys the object, so an object lives as long as someone works with
// it, and its handle ends with close(). Not std::shared_ptr: looking up by handle takes no lock.
template <typename T, uint32_t kCapacity>
class ObjectTable {
  static_assert(kCapacity <= (1U << Handle::kSlotBits));
  struct Slot;

 public:
  class Ref {
   public:
    Ref() = default;
    Ref(Ref&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Ref& operator=(Ref&& other) noexcept {
      std::swap(slot_, other.slot_);
      return *this;
    }
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    ~Ref() { reset(); }

    explicit operator bool() const { return slot_ != nullptr; }
    T* operator->() const { return slot_->object.get(); }
    T& operator*() const { return *slot_->object; }
    [[nodiscard]] Ref share() const {
      slot_->refs.fetch_add(1, std::memory_order_relaxed);
      return Ref(slot_);
    }
    void reset() {
      if (slot_ != nullptr) {
        ObjectTable::drop(*std::exchange(slot_, nullptr));
      }
    }

   private:
    friend class ObjectTable;
    explicit Ref(Slot* slot) : slot_(slot) {}
    Slot* slot_ = nullptr;
  };

  ObjectTable(HandleKind kind, uint16_t tag) : kind_(kind), tag_(tag) {}

  // Gives the object its handle (`object->handle`) and opens it. An empty Ref when all slots are
  // taken.
  [[nodiscard]] Ref insert(std::unique_ptr<T> object) {
    const std::lock_guard lock(insert_mutex_);
    for (uint32_t i = 0; i < kCapacity; ++i) {
      Slot& slot = slots_[i];
      if (slot.occupied.load(std::memory_order_acquire)) {
        continue;
      }
      const uint64_t handle = Handle::make(kind_, tag_, i, ++serial_);
      object->handle = handle;
      slot.object = std::move(object);
      slot.occupied.store(true, std::memory_order_relaxed);
      slot.refs.store(2, std::memory_order_release);  // the table's and the caller's
      slot.handle.store(handle, std::memory_order_release);
      return Ref(&slot);
    }
    return {};
  }

  // Any thread, no lock; an empty Ref when the handle is not open.
  [[nodiscard]] Ref find(uint64_t handle) {
    const uint32_t idx = Handle::slot(handle);
    if (handle == 0 || idx >= kCapacity) {
      return {};
    }
    Slot& slot = slots_[idx];
    if (slot.handle.load(std::memory_order_acquire) != handle) {
      return {};
    }
    uint32_t refs = slot.refs.load(std::memory_order_relaxed);
    do {
      if (refs == 0) {
        return {};
      }
    } while (!slot.refs.compare_exchange_weak(refs, refs + 1, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
    Ref ref(&slot);
    // The slot may have changed hands between the two loads.
    if (slot.handle.load(std::memory_order_acquire) != handle) {
      return {};
    }
    return ref;
  }

  // Ends the handle; false when it was not open. The object goes with its last reference.
  bool close(uint64_t handle) {
    Ref ref = find(handle);
    uint64_t expected = handle;
    if (!ref || !slots_[Handle::slot(handle)].handle.compare_exchange_strong(
                    expected, 0, std::memory_order_acq_rel)) {
      return false;
    }
    drop(slots_[Handle::slot(handle)]);
    return true;
  }

  template <typename F>
  void for_each(F&& function) {
    for (Slot& slot : slots_) {
      Ref ref = find(slot.handle.load(std::memory_order_acquire));
      if (ref) {
        function(*ref);
      }
    }
  }

 private:
  struct Slot {
    std::atomic<uint64_t> handle{0};  // 0: closed
    std::atomic<uint32_t> refs{0};
    std::atomic<bool> occupied{false};
    std::unique_ptr<T> object;
  };

  static void drop(Slot& slot) {
    if (slot.refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      slot.object.reset();
      slot.occupied.store(false, std::memory_order_release);
    }
  }

  const HandleKind kind_;
  const uint16_t tag_;
  std::mutex insert_mutex_;
  uint64_t serial_ = 0;
  std::array<Slot, kCapacity> slots_;
};

}  // namespace ifr
