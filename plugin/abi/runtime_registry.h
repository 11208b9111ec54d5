// SPDX-License-Identifier: Apache-2.0
// Which runtimes live, so that a wrong ifr_runtime pointer is refused instead of followed.
#pragma once

#include <cstdint>
#include <memory>

#include "interframe/interframe.h"
#include "schedule/runtime.h"

namespace ifr::abi {

inline constexpr uint32_t kMaxRuntimes = 64;

// What the host holds as ifr_runtime* is no address but a number that is never given out twice, so
// a runtime that was destroyed is told from a later one at the same address. The registry is the
// library's only mutable global: the C ABI gives it no other place, and it must be there before the
// first runtime and after the last one. It is constant-initialised and never destroyed.

enum class PinFault { kNone, kUnknown, kForked };

// Keeps a runtime from being destroyed for the length of a call. No lock.
class RuntimePin {
 public:
  explicit RuntimePin(const ifr_runtime* runtime);
  ~RuntimePin();
  RuntimePin(const RuntimePin&) = delete;
  RuntimePin& operator=(const RuntimePin&) = delete;

  [[nodiscard]] PinFault fault() const { return fault_; }
  [[nodiscard]] Runtime& operator*() const { return *runtime_; }
  [[nodiscard]] Runtime* operator->() const { return runtime_; }

 private:
  Runtime* runtime_ = nullptr;
  uint32_t slot_ = kMaxRuntimes;
  PinFault fault_ = PinFault::kUnknown;
};

// A place for a runtime to be made; given back by the destructor unless publish() was called.
class RuntimeSlot {
 public:
  RuntimeSlot();
  ~RuntimeSlot();
  RuntimeSlot(const RuntimeSlot&) = delete;
  RuntimeSlot& operator=(const RuntimeSlot&) = delete;

  [[nodiscard]] bool is_taken() const { return slot_ < kMaxRuntimes; }  // false: all are in use
  [[nodiscard]] uint16_t handle_tag() const;
  [[nodiscard]] ifr_runtime* publish(std::unique_ptr<Runtime> runtime);

 private:
  uint32_t slot_ = kMaxRuntimes;
};

// Ends a runtime's name, waits for calls that are inside it, and gives it to the caller. Null with
// the fault when there is none.
[[nodiscard]] std::unique_ptr<Runtime> take_runtime(const ifr_runtime* runtime, PinFault& fault);

}  // namespace ifr::abi
