// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/cpu_executor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace ifr::kernels {

struct CpuExecutor::Pool {
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;
  uint64_t generation = 0;
  int32_t num_busy = 0;
  bool stop = false;

  Body body = nullptr;
  void* context = nullptr;
  int64_t count = 0;
  int64_t grain = 1;
  std::atomic<int64_t> next{0};

  std::vector<std::thread> threads;

  void run_ranges() {
    for (;;) {
      const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) {
        return;
      }
      body(context, begin, std::min(begin + grain, count));
    }
  }

  void thread_main() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      work_ready.wait(lock, [&] { return stop || generation != seen; });
      if (stop) {
        return;
      }
      seen = generation;
      lock.unlock();
      run_ranges();
      lock.lock();
      if (--num_busy == 0) {
        work_done.notify_one();
      }
    }
  }

  void stop_and_join() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    work_ready.notify_all();
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};

CpuExecutor::CpuExecutor(int32_t num_threads, ThreadStart on_thread_start)
    : pool_(std::make_unique<Pool>()), num_threads_(std::max(1, num_threads)) {
  try {
    for (int32_t i = 1; i < num_threads_; ++i) {
      pool_->threads.emplace_back([pool = pool_.get(), on_thread_start, i] {
        if (on_thread_start) {
          on_thread_start(i);
        }
        pool->thread_main();
      });
    }
  } catch (...) {
    pool_->stop_and_join();
    throw;
  }
}

CpuExecutor::~CpuExecutor() {
  pool_->stop_and_join();
}

void CpuExecutor::parallel_for(int64_t count, int64_t grain, Body body, void* context) {
  grain = std::max<int64_t>(1, grain);
  if (count <= grain || num_threads_ == 1) {
    if (count > 0) {
      body(context, 0, count);
    }
    return;
  }
  Pool& pool = *pool_;
  {
    const std::lock_guard lock(pool.mutex);
    pool.body = body;
    pool.context = context;
    pool.count = count;
    pool.grain = grain;
    pool.next.store(0, std::memory_order_relaxed);
    pool.num_busy = num_threads_ - 1;
    ++pool.generation;
  }
  pool.work_ready.notify_all();
  pool.run_ranges();
  std::unique_lock lock(pool.mutex);
  pool.work_done.wait(lock, [&] { return pool.num_busy == 0; });
}

}  // namespace ifr::kernels
