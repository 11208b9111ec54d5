// SPDX-License-Identifier: Apache-2.0
#include "memory/budget.h"

#include <cassert>
#include <utility>

#include "base/checked_math.h"

namespace ifr {

Reservation::~Reservation() {
  if (budget_ != nullptr) {
    budget_->give_back(kind_, bytes_);
  }
}

void Reservation::merge(Reservation other) {
  if (budget_ == nullptr) {
    *this = std::move(other);
    return;
  }
  assert(other.budget_ == nullptr || (other.budget_ == budget_ && other.kind_ == kind_));
  bytes_ += std::exchange(other.bytes_, 0);
}

void Reservation::shrink(uint64_t bytes) {
  assert(bytes <= bytes_);
  if (budget_ != nullptr) {
    budget_->give_back(kind_, bytes);
    bytes_ -= bytes;
  }
}

Expected<Reservation> MemoryBudget::reserve(MemoryKind kind, uint64_t bytes, const char* what) {
  const std::lock_guard lock(mutex_);
  uint64_t used = 0;
  for (const uint64_t part : used_) {
    used += part;
  }
  const std::optional<uint64_t> total = checked_add(used, bytes);
  if (!total || (limit_bytes_ != 0 && *total > limit_bytes_)) {
    return make_error(Code::kOverBudget, Part::kMemory,
                      "%s needs %llu bytes; %llu of the budget of %llu bytes are in use. Raise "
                      "memory_budget_bytes or "
                      "free something",
                      what, static_cast<unsigned long long>(bytes),
                      static_cast<unsigned long long>(used),
                      static_cast<unsigned long long>(limit_bytes_));
  }
  used_[static_cast<int>(kind)] += bytes;
  return Reservation(this, kind, bytes);
}

void MemoryBudget::give_back(MemoryKind kind, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_[static_cast<int>(kind)] -= bytes;
}

uint64_t MemoryBudget::used_bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t used = 0;
  for (const uint64_t part : used_) {
    used += part;
  }
  return used;
}

uint64_t MemoryBudget::used_bytes(MemoryKind kind) const {
  const std::lock_guard lock(mutex_);
  return used_[static_cast<int>(kind)];
}

}  // namespace ifr
