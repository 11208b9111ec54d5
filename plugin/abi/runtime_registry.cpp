// SPDX-License-Identifier: Apache-2.0
#include "abi/runtime_registry.h"

#include <array>
#include <atomic>
#include <thread>

#include "base/platform.h"

namespace ifr::abi {

namespace {

struct Entry {
  std::atomic<uintptr_t> name{0};  // what the host holds; 0: no runtime
  std::atomic<uint32_t> pins{0};
  std::atomic<bool> occupied{false};
  std::atomic<uint64_t> process_id{0};
  std::atomic<Runtime*> runtime{nullptr};
  std::atomic<uintptr_t> generation{0};
};

constinit std::array<Entry, kMaxRuntimes> registry;

// Odd, so it is never the address of an object: generation | slot (7 bits) | 1.
uintptr_t make_name(uintptr_t generation, uint32_t slot) {
  return generation << 8U | static_cast<uintptr_t>(slot) << 1U | 1U;
}

uint32_t slot_of(uintptr_t name) {
  return static_cast<uint32_t>(name >> 1U) & 127U;
}

uintptr_t name_of(const ifr_runtime* runtime) {
  return reinterpret_cast<uintptr_t>(runtime);
}

}  // namespace

RuntimePin::RuntimePin(const ifr_runtime* runtime) {
  const uintptr_t name = name_of(runtime);
  const uint32_t slot = slot_of(name);
  if (name == 0 || slot >= kMaxRuntimes) {
    return;
  }
  Entry& entry = registry[slot];
  if (entry.name.load(std::memory_order_acquire) != name) {
    return;
  }
  // After a fork neither threads nor locks of the parent's runtime can be trusted.
  if (entry.process_id.load(std::memory_order_relaxed) != current_process_id()) {
    fault_ = PinFault::kForked;
    return;
  }
  // Sequentially consistent on both sides: either this sees the name gone, or take_runtime sees the
  // pin.
  entry.pins.fetch_add(1);
  if (entry.name.load() != name) {
    entry.pins.fetch_sub(1);
    return;
  }
  slot_ = slot;
  runtime_ = entry.runtime.load(std::memory_order_acquire);
  fault_ = PinFault::kNone;
}

RuntimePin::~RuntimePin() {
  if (slot_ < kMaxRuntimes) {
    registry[slot_].pins.fetch_sub(1);
  }
}

RuntimeSlot::RuntimeSlot() {
  for (uint32_t i = 0; i < kMaxRuntimes; ++i) {
    if (!registry[i].occupied.exchange(true, std::memory_order_acq_rel)) {
      registry[i].generation.fetch_add(1, std::memory_order_relaxed);
      slot_ = i;
      return;
    }
  }
}

RuntimeSlot::~RuntimeSlot() {
  if (slot_ < kMaxRuntimes) {
    registry[slot_].occupied.store(false, std::memory_order_release);
  }
}

uint16_t RuntimeSlot::handle_tag() const {
  const uintptr_t generation = registry[slot_].generation.load(std::memory_order_relaxed);
  return static_cast<uint16_t>(generation * kMaxRuntimes + slot_);
}

ifr_runtime* RuntimeSlot::publish(std::unique_ptr<Runtime> runtime) {
  Entry& entry = registry[slot_];
  const uintptr_t name = make_name(entry.generation.load(std::memory_order_relaxed), slot_);
  entry.process_id.store(current_process_id(), std::memory_order_relaxed);
  entry.runtime.store(runtime.release(), std::memory_order_release);
  entry.name.store(name, std::memory_order_release);
  slot_ = kMaxRuntimes;
  // Never followed, so nothing is lost by hiding an object from the optimiser.
  return reinterpret_cast<ifr_runtime*>(name);  // NOLINT(performance-no-int-to-ptr)
}

std::unique_ptr<Runtime> take_runtime(const ifr_runtime* runtime, PinFault& fault) {
  {
    const RuntimePin pin(runtime);
    fault = pin.fault();
  }
  if (fault != PinFault::kNone) {
    return nullptr;
  }
  uintptr_t name = name_of(runtime);
  const uint32_t slot = slot_of(name);
  Entry& entry = registry[slot];
  if (!entry.name.compare_exchange_strong(name, 0)) {
    fault = PinFault::kUnknown;
    return nullptr;
  }
  // The header forbids calls during destroy; one that is inside all the same is short.
  while (entry.pins.load() != 0) {
    std::this_thread::yield();
  }
  std::unique_ptr<Runtime> taken(entry.runtime.exchange(nullptr, std::memory_order_acq_rel));
  entry.occupied.store(false, std::memory_order_release);
  return taken;
}

}  // namespace ifr::abi
