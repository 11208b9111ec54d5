// SPDX-License-Identifier: Apache-2.0
// The paged KV memory of one model: pages of a fixed size at one base address, counted by
// references so that sequences can share a prefix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "base/status.h"
#include "memory/budget.h"

namespace ifr {

class PagePool;

// References to pages, in the order of the tokens they hold: a block table. Move-only; gives them
// back when destroyed. The pool outlives it.
class PageList {
 public:
  PageList() = default;
  PageList(PageList&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), page_idx_(std::move(other.page_idx_)) {}
  PageList& operator=(PageList&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(page_idx_, other.page_idx_);
    return *this;
  }
  PageList(const PageList&) = delete;
  PageList& operator=(const PageList&) = delete;
  ~PageList();

  // Each page lies at pool.base() + index * pool.page_bytes().
  [[nodiscard]] std::span<const int32_t> page_idx() const { return page_idx_; }

 private:
  friend class PagePool;
  PagePool* pool_ = nullptr;
  std::vector<int32_t> page_idx_;
};

// Thread-safe. Only address space is taken at creation; memory and budget follow the pages in use.
class PagePool {
 public:
  // max_pages >= 1, page_bytes a multiple of 64.
  [[nodiscard]] static Expected<std::unique_ptr<PagePool>> create(MemoryBudget& budget,
                                                                  uint64_t page_bytes,
                                                                  int32_t max_pages);

  // Pages of undefined contents that nobody else holds; all or none. Errors: kOverBudget,
  // kOutOfMemory.
  [[nodiscard]] Expected<PageList> reserve(int32_t num_pages);
  // A second reference to the first num_pages pages of `list`: for reading, as they are shared.
  [[nodiscard]] PageList share(const PageList& list, int32_t num_pages);

  [[nodiscard]] std::byte* base() const { return range_.data(); }
  [[nodiscard]] uint64_t page_bytes() const { return page_bytes_; }
  [[nodiscard]] int32_t num_used_pages() const;
  [[nodiscard]] int32_t num_references(int32_t page_idx) const;

 private:
  friend class PageList;
  PagePool(MemoryBudget& budget, AddressRange range, uint64_t page_bytes, int32_t max_pages);
  void give_back(std::span<const int32_t> page_idx);
  [[nodiscard]] bool commit(std::span<const int32_t> page_idx);
  void free_pages(std::span<const int32_t> page_idx);

  MemoryBudget& budget_;
  AddressRange range_;
  uint64_t page_bytes_;
  mutable std::mutex mutex_;
  Reservation reservation_;
  int32_t max_pages_;
  std::vector<int32_t> num_references_;  // of the pages that were ever in use
  std::vector<int32_t> free_pages_;      // among those
};

}  // namespace ifr
