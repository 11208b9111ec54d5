// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "interframe_kernels/cpu_executor.h"

namespace ifr::kernels {
namespace {

TEST(CpuExecutor, UsageCoversEachIndexOnce) {
  for (const int32_t threads : {1, 2, 3, 7}) {
    std::atomic<int32_t> started{0};
    CpuExecutor executor(threads, [&](int32_t) { started.fetch_add(1); });
    EXPECT_EQ(executor.num_threads(), threads);
    for (const int64_t count : {0, 1, 5, 64, 1001}) {
      for (const int64_t grain : {0, 1, 7, 2000}) {
        std::vector<std::atomic<int32_t>> hits(static_cast<size_t>(count));
        executor.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            hits[static_cast<size_t>(i)].fetch_add(1);
          }
        });
        for (const std::atomic<int32_t>& hit : hits) {
          ASSERT_EQ(hit.load(), 1);
        }
      }
    }
  }
}

TEST(CpuExecutor, ManyShortRunsEnd) {
  CpuExecutor executor(4);
  int64_t total = 0;
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int64_t> sum{0};
    executor.parallel_for(16, 1, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
    total += sum.load();
  }
  EXPECT_EQ(total, 32'000);
}

TEST(CpuExecutor, StartsItsThreadsOnce) {
  std::atomic<int32_t> sum{0};
  {
    const CpuExecutor executor(5, [&](int32_t thread_idx) { sum.fetch_add(thread_idx); });
  }
  // Threads that were stopped before they ran have still started: 1 + 2 + 3 + 4.
  EXPECT_EQ(sum.load(), 10);
}

}  // namespace
}  // namespace ifr::kernels
