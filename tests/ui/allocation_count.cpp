// SPDX-License-Identifier: Apache-2.0
// In its own file: where the compiler sees both sides it takes the pair below for a mismatch.
#include "ui/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int64_t> count = 0;
}  // namespace

void* operator new(size_t num_bytes) {
  ++count;
  void* const memory = std::malloc(num_bytes == 0 ? 1 : num_bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
// Replaced as well: a sanitizer's own would not fit the delete below.
void* operator new(size_t num_bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++count;
  return std::malloc(num_bytes == 0 ? 1 : num_bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t /*num_bytes*/) noexcept {
  std::free(memory);
}

void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}

namespace ifr::overlay::testing {

int64_t num_allocations() {
  return count;
}

}  // namespace ifr::overlay::testing
