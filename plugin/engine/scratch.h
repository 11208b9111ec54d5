// SPDX-License-Identifier: Apache-2.0
// Buffers inside one slab. The same code first measures and then places: a block's scratch struct
// has one function that visits its pointers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "memory/slab.h"

namespace ifr {

class ScratchLayout {
 public:
  // Null: measure only; all pointers become null.
  explicit ScratchLayout(std::byte* base) : base_(base) {}

  template <typename T>
  void add(T*& pointer, int64_t count) {
    pointer = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_bytes_);
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
    used_bytes_ += (bytes + kSlabAlignment - 1) / kSlabAlignment * kSlabAlignment;
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  }

  // Blocks run one after the other: each begins where the last began.
  [[nodiscard]] uint64_t mark() const { return used_bytes_; }
  void rewind(uint64_t mark) { used_bytes_ = mark; }
  [[nodiscard]] uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  std::byte* base_;
  uint64_t used_bytes_ = 0;
  uint64_t peak_bytes_ = 0;
};

}  // namespace ifr
