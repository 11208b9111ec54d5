// SPDX-License-Identifier: Apache-2.0
// Threads of the CPU backend. The caller of parallel_for works too; the pool adds num_threads - 1
// threads that block while there is no work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace ifr::kernels {

class CpuExecutor {
 public:
  // Runs on each pool thread when it starts (name, priority). May be empty.
  using ThreadStart = std::function<void(int32_t thread_idx)>;

  // num_threads >= 1, the calling thread counted. Throws std::system_error when a thread cannot be
  // made.
  explicit CpuExecutor(int32_t num_threads, ThreadStart on_thread_start = {});
  ~CpuExecutor();
  CpuExecutor(const CpuExecutor&) = delete;
  CpuExecutor& operator=(const CpuExecutor&) = delete;

  [[nodiscard]] int32_t num_threads() const { return num_threads_; }

  // Calls body(begin, end) over disjoint ranges that cover [0, count), each at least `grain` long
  // but the last. Returns when all are done. One caller at a time; body must not call back into the
  // executor or throw. How the ranges fall differs from run to run: a body's results must not
  // depend on it.
  using Body = void (*)(void* context, int64_t begin, int64_t end);
  void parallel_for(int64_t count, int64_t grain, Body body, void* context);

  template <typename F>
  void parallel_for(int64_t count, int64_t grain, F&& function) {
    using Function = std::remove_reference_t<F>;
    parallel_for(
        count, grain,
        [](void* context, int64_t begin, int64_t end) {
          (*static_cast<Function*>(context))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&function)));
  }

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
  int32_t num_threads_ = 1;
};

}  // namespace ifr::kernels
