// SPDX-License-Identifier: Apache-2.0
// Slabs, the page pool and the embedding store.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>

#include "engine/scratch.h"
#include "memory/embedding_store.h"
#include "memory/page_pool.h"
#include "memory/slab.h"

namespace ifr {

namespace {

TEST(Slab, UsageAndBudget) {
  MemoryBudget budget(1 << 20);
  {
    SlabLayout layout;
    const uint64_t first = layout.add(100);
    const uint64_t second = layout.add(4);
    EXPECT_EQ(first, 0U);
    EXPECT_EQ(second, 128U);
    Expected<Slab> made = Slab::create(budget, MemoryKind::kState, layout.size_bytes(), "a test");
    ASSERT_TRUE(made.is_ok());
    Slab slab = std::move(made).value();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slab.data()) % kSlabAlignment, 0U);
    std::memset(slab.data(), 1, slab.size_bytes());
    EXPECT_EQ(budget.used_bytes(MemoryKind::kState), layout.size_bytes());
    Slab moved = std::move(slab);
    EXPECT_EQ(budget.used_bytes(), layout.size_bytes());
  }
  EXPECT_EQ(budget.used_bytes(), 0U);
  const Expected<Slab> refused =
      Slab::create(budget, MemoryKind::kState, (1 << 20) + 1, "a large test");
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kOverBudget);
  EXPECT_NE(refused.status().message().find("a large test"), std::string::npos);
  EXPECT_TRUE(Slab::create(budget, MemoryKind::kState, 0, "nothing").is_ok());
}

TEST(Slab, MemoryTheSystemDoesNotHave) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end the program when an allocation is too large";
#endif
  MemoryBudget budget(0);
  const Expected<Slab> refused =
      Slab::create(budget, MemoryKind::kState, uint64_t{1} << 62, "a huge test");
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kOutOfMemory);
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(ScratchLayout, MeasuresWhatItPlaces) {
  const auto visit = [](ScratchLayout& layout, float*& a, int64_t*& b, std::byte*& c) {
    layout.add(a, 3);
    const uint64_t mark = layout.mark();
    layout.add(b, 100);
    layout.rewind(mark);
    layout.add(c, 1);
  };
  float* a = nullptr;
  int64_t* b = nullptr;
  std::byte* c = nullptr;
  ScratchLayout measure(nullptr);
  visit(measure, a, b, c);
  EXPECT_EQ(a, nullptr);
  EXPECT_EQ(measure.peak_bytes(), 64U + 832U);
  std::vector<std::byte> memory(measure.peak_bytes());
  ScratchLayout place(memory.data());
  visit(place, a, b, c);
  EXPECT_EQ(reinterpret_cast<std::byte*>(a), memory.data());
  EXPECT_EQ(reinterpret_cast<std::byte*>(b), memory.data() + 64);
  EXPECT_EQ(c, memory.data() + 64);
}

TEST(PagePool, UsageSharedPagesLiveUntilTheLastReference) {
  MemoryBudget budget(0);
  Expected<std::unique_ptr<PagePool>> made = PagePool::create(budget, 4096, 100);
  ASSERT_TRUE(made.is_ok());
  PagePool& pool = **made;
  EXPECT_EQ(budget.used_bytes(), 0U);
  {
    Expected<PageList> first = pool.reserve(3);
    ASSERT_TRUE(first.is_ok());
    EXPECT_EQ(budget.used_bytes(MemoryKind::kCache), 3U * 4096U);
    const std::vector<int32_t> idx(first->page_idx().begin(), first->page_idx().end());
    for (const int32_t page : idx) {
      std::memset(pool.base() + page * 4096, page + 1, 4096);
    }
    PageList shared = pool.share(*first, 2);
    EXPECT_EQ(pool.num_references(idx[0]), 2);
    EXPECT_EQ(pool.num_references(idx[2]), 1);
    { const PageList gone = std::move(first).value(); }
    EXPECT_EQ(pool.num_used_pages(), 2);
    EXPECT_EQ(budget.used_bytes(), 2U * 4096U);
    EXPECT_EQ(pool.base()[idx[1] * 4096], std::byte(idx[1] + 1));
    // The third page goes to the next, the two shared ones do not.
    const Expected<PageList> next = pool.reserve(2);
    ASSERT_TRUE(next.is_ok());
    EXPECT_EQ(next->page_idx()[0], idx[2]);
    EXPECT_NE(next->page_idx()[1], idx[0]);
    EXPECT_NE(next->page_idx()[1], idx[1]);
  }
  EXPECT_EQ(pool.num_used_pages(), 0);
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(PagePool, AllOrNothing) {
  MemoryBudget budget(10 * 4096);
  Expected<std::unique_ptr<PagePool>> made = PagePool::create(budget, 4096, 8);
  ASSERT_TRUE(made.is_ok());
  PagePool& pool = **made;
  const Expected<PageList> most = pool.reserve(7);
  ASSERT_TRUE(most.is_ok());
  const Expected<PageList> too_many = pool.reserve(2);
  ASSERT_FALSE(too_many.is_ok());
  EXPECT_EQ(too_many.status().code(), Code::kOutOfMemory);
  EXPECT_EQ(pool.num_used_pages(), 7);
  const Expected<Reservation> other = budget.reserve(MemoryKind::kState, 3 * 4096, "others");
  ASSERT_TRUE(other.is_ok());
  const Expected<PageList> over = pool.reserve(1);
  ASSERT_FALSE(over.is_ok());
  EXPECT_EQ(over.status().code(), Code::kOverBudget);
  EXPECT_EQ(pool.num_used_pages(), 7);
  EXPECT_TRUE(pool.reserve(0).is_ok());
}

TEST(PagePool, ManyThreadsGetDifferentPages) {
  MemoryBudget budget(0);
  Expected<std::unique_ptr<PagePool>> made = PagePool::create(budget, 64, 4096);
  ASSERT_TRUE(made.is_ok());
  PagePool& pool = **made;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int32_t round = 0; round < 200; ++round) {
        const Expected<PageList> list = pool.reserve(1 + (round + t) % 7);
        ASSERT_TRUE(list.is_ok());
        for (const int32_t page : list->page_idx()) {
          std::memset(pool.base() + page * 64, t + 1, 64);
        }
        for (const int32_t page : list->page_idx()) {
          EXPECT_EQ(pool.base()[page * 64 + 63], std::byte(t + 1));
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(pool.num_used_pages(), 0);
  EXPECT_EQ(budget.used_bytes(), 0U);
}

// Byte i of shard s is s * 16 + i.
class FakeShards final : public ShardReader {
 public:
  [[nodiscard]] Status read(int64_t shard_idx, uint64_t offset,
                            std::span<std::byte> out) const override {
    if (shard_idx == 2) {
      return make_error(Code::kIo, Part::kModel, "shard 2 is gone");
    }
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<std::byte>(static_cast<uint64_t>(shard_idx) * 16 + offset + i);
    }
    return {};
  }
};

TEST(EmbeddingStore, UsageRowsComeFromTheirShards) {
  const EmbeddingStore store({.num_rows = 14, .rows_per_shard = 5, .row_bytes = 3},
                             std::make_unique<FakeShards>());
  const std::vector<int64_t> ids = {9, 0, 4, 5};
  std::vector<std::byte> out(ids.size() * 3);
  ASSERT_TRUE(store.read_rows(ids, out).is_ok());
  EXPECT_EQ(out[0], std::byte(16 + 12));
  EXPECT_EQ(out[3], std::byte(0));
  EXPECT_EQ(out[6], std::byte(12));
  EXPECT_EQ(out[9], std::byte(16));
  EXPECT_EQ(out[11], std::byte(18));
  std::vector<std::byte> one(3);
  EXPECT_EQ(store.read_rows(std::vector<int64_t>{10}, one).code(), Code::kIo);
  EXPECT_EQ(store.read_rows(std::vector<int64_t>{14}, one).code(), Code::kInternal);
  EXPECT_EQ(store.read_rows(std::vector<int64_t>{-1}, one).code(), Code::kInternal);
}

}  // namespace

}  // namespace ifr
