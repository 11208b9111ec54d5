// SPDX-License-Identifier: Apache-2.0
#include "memory/page_pool.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "base/checked_math.h"

namespace ifr {

PageList::~PageList() {
  if (pool_ != nullptr) {
    pool_->give_back(page_idx_);
  }
}

PagePool::PagePool(MemoryBudget& budget, AddressRange range, uint64_t page_bytes, int32_t max_pages)
    : budget_(budget), range_(std::move(range)), page_bytes_(page_bytes), max_pages_(max_pages) {}

Expected<std::unique_ptr<PagePool>> PagePool::create(MemoryBudget& budget, uint64_t page_bytes,
                                                     int32_t max_pages) {
  const std::optional<uint64_t> bytes =
      checked_mul(page_bytes, static_cast<uint64_t>(std::max(max_pages, 0)));
  if (max_pages < 1 || !bytes) {
    return make_error(Code::kInternal, Part::kMemory, "a page pool of %d pages of %llu bytes",
                      max_pages, static_cast<unsigned long long>(page_bytes));
  }
  IFR_ASSIGN_OR_RETURN(AddressRange range, AddressRange::reserve(*bytes));
  return std::unique_ptr<PagePool>(new PagePool(budget, std::move(range), page_bytes, max_pages));
}

Expected<PageList> PagePool::reserve(int32_t num_pages) {
  const std::lock_guard lock(mutex_);
  const size_t count = static_cast<size_t>(num_pages);
  const size_t num_seen = num_references_.size();
  const size_t num_free = free_pages_.size() + static_cast<size_t>(max_pages_) - num_seen;
  if (count > num_free) {
    return make_error(
        Code::kOutOfMemory, Part::kMemory,
        "a context needs %d pages of %llu bytes; %zu of the pool's %d are free. Close "
        "sessions or ask for a shorter context",
        num_pages, static_cast<unsigned long long>(page_bytes_), num_free, max_pages_);
  }
  const uint64_t bytes = static_cast<uint64_t>(num_pages) * page_bytes_;
  IFR_ASSIGN_OR_RETURN(Reservation reservation,
                       budget_.reserve(MemoryKind::kCache, bytes, "the KV cache of a context"));
  const size_t num_reused = std::min(count, free_pages_.size());
  PageList list;
  list.page_idx_.assign(free_pages_.rbegin(),
                        free_pages_.rbegin() + static_cast<std::ptrdiff_t>(num_reused));
  for (size_t i = num_reused; i < count; ++i) {
    list.page_idx_.push_back(static_cast<int32_t>(num_seen + i - num_reused));
  }
  if (!commit(list.page_idx_)) {
    return make_error(Code::kOutOfMemory, Part::kMemory,
                      "the KV cache of a context needs %llu bytes, which the system does not have. "
                      "Free memory or ask for a shorter context",
                      static_cast<unsigned long long>(bytes));
  }
  free_pages_.resize(free_pages_.size() - num_reused);
  num_references_.resize(num_seen + count - num_reused);
  for (const int32_t page : list.page_idx_) {
    num_references_[static_cast<size_t>(page)] = 1;
  }
  reservation_.merge(std::move(reservation));
  list.pool_ = this;
  return list;
}

PageList PagePool::share(const PageList& list, int32_t num_pages) {
  assert(list.pool_ == this && num_pages <= static_cast<int32_t>(list.page_idx_.size()));
  PageList shared;
  shared.page_idx_.assign(list.page_idx_.begin(), list.page_idx_.begin() + num_pages);
  const std::lock_guard lock(mutex_);
  for (const int32_t page : shared.page_idx_) {
    ++num_references_[static_cast<size_t>(page)];
  }
  shared.pool_ = this;
  return shared;
}

int32_t PagePool::num_used_pages() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int32_t>(num_references_.size() - free_pages_.size());
}

int32_t PagePool::num_references(int32_t page_idx) const {
  const std::lock_guard lock(mutex_);
  return num_references_[static_cast<size_t>(page_idx)];
}

bool PagePool::commit(std::span<const int32_t> page_idx) {
  for (size_t i = 0; i < page_idx.size(); ++i) {
    if (!range_.commit(static_cast<uint64_t>(page_idx[i]) * page_bytes_, page_bytes_)) {
      free_pages(page_idx.first(i));
      return false;
    }
  }
  return true;
}

void PagePool::free_pages(std::span<const int32_t> page_idx) {
  for (const int32_t page : page_idx) {
    range_.decommit(static_cast<uint64_t>(page) * page_bytes_, page_bytes_);
  }
}

void PagePool::give_back(std::span<const int32_t> page_idx) {
  const std::lock_guard lock(mutex_);
  // Last first, so that the next reservation gets them in the same order.
  for (size_t i = page_idx.size(); i-- > 0;) {
    const int32_t page = page_idx[i];
    if (--num_references_[static_cast<size_t>(page)] == 0) {
      free_pages({&page, 1});
      free_pages_.push_back(page);
      reservation_.shrink(page_bytes_);
    }
  }
}

}  // namespace ifr
