// SPDX-License-Identifier: Apache-2.0
// The host's memory budget, kept to the byte that is accounted.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "base/status.h"

namespace ifr {

enum class MemoryKind : int32_t { kWeights = 0, kCache = 1, kState = 2, kCount = 3 };

class MemoryBudget;

// Bytes taken from a budget; given back by the destructor. The budget outlives it.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)),
        kind_(other.kind_),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(kind_, other.kind_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();

  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // Takes over what `other` holds; both of one budget and kind (or this one empty).
  void merge(Reservation other);
  // Gives `bytes` (at most bytes()) back now.
  void shrink(uint64_t bytes);

 private:
  friend class MemoryBudget;
  Reservation(MemoryBudget* budget, MemoryKind kind, uint64_t bytes)
      : budget_(budget), kind_(kind), bytes_(bytes) {}
  MemoryBudget* budget_ = nullptr;
  MemoryKind kind_ = MemoryKind::kWeights;
  uint64_t bytes_ = 0;
};

// Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}  // 0: no limit

  // kOverBudget names what for, need, used and limit.
  [[nodiscard]] Expected<Reservation> reserve(MemoryKind kind, uint64_t bytes, const char* what);

  [[nodiscard]] uint64_t limit_bytes() const { return limit_bytes_; }
  [[nodiscard]] uint64_t used_bytes() const;
  [[nodiscard]] uint64_t used_bytes(MemoryKind kind) const;

 private:
  friend class Reservation;
  void give_back(MemoryKind kind, uint64_t bytes);
  mutable std::mutex mutex_;
  uint64_t limit_bytes_ = 0;
  uint64_t used_[static_cast<int>(MemoryKind::kCount)] = {};
};

}  // namespace ifr
