// SPDX-License-Identifier: Apache-2.0
// A step allocates nothing, on any thread: this program counts what operator new hands out.
#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/sampler.h"
#include "engine_fixture.h"
#include "support/gguf_builder.h"

namespace {

std::atomic<int64_t> num_allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) {
    std::abort();
  }
  return memory;
}

constexpr std::size_t kDefaultAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void* operator new(std::size_t size) {
  return counted(size, kDefaultAlignment);
}
void* operator new[](std::size_t size) {
  return counted(size, kDefaultAlignment);
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return counted(size, kDefaultAlignment);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace ifr::test {

namespace {

class SilentObserver final : public StepObserver {
 public:
  void on_operator(const OperatorSpan& /*span*/) override {}
  void on_selection(const SelectionSpan& /*span*/) override {}
};

TEST(Allocations, TheCounterCounts) {
  const int64_t before = num_allocations;
  const auto memory = std::make_unique<int>(1);
  EXPECT_EQ(num_allocations, before + 1);
}

void check_model(const std::string& path, const EngineOptions& options = {}) {
  LoadedEngine loaded(path, 0, options);
  ASSERT_TRUE(loaded.is_ok());
  const auto sequence = loaded.sequence(256);
  const auto workspace = loaded.workspace(16);
  Expected<Sampler> sampler = Sampler::create(loaded.budget, loaded.engine->info().vocab_size);
  ASSERT_TRUE(sampler.is_ok());
  kernels::CpuExecutor executor(3);
  SilentObserver observer;
  std::vector<float> logits(loaded.vocab());
  std::vector<int32_t> ids(100);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>(i * 37 % loaded.vocab());
  }
  bool is_ok = true;
  const int64_t before = num_allocations;
  is_ok = loaded.engine->step(*sequence, *workspace, executor, ids, {.observer = &observer}, logits)
              .is_ok();
  for (int32_t i = 0; i < 50; ++i) {
    const Expected<int32_t> id =
        sampler->sample(logits, sequence->num_tokens(),
                        {.temperature = 0.8F, .top_k = 40, .top_p = 0.9F, .seed = 1}, executor);
    is_ok = is_ok && id.is_ok() &&
            loaded.engine
                ->step(*sequence, *workspace, executor, {&id.value(), 1}, {.observer = &observer},
                       logits)
                .is_ok();
  }
  sequence->reset();
  const int64_t after = num_allocations;
  EXPECT_TRUE(is_ok);
  EXPECT_EQ(after - before, 0) << path;
}

TEST(Allocations, NoneInAStepOfQwen4Exp) {
  check_model(IFR_SOURCE_DIR "/assets/micro");
}

TEST(Allocations, NoneInAStepOfLlama) {
  const std::string path = make_temporary_folder("engine_allocations") + "/b.gguf";
  write_file(path, make_gguf_b().build());
  check_model(path);
}

TEST(Allocations, NoneInASparseStepOfLlama) {
  const std::string path = make_temporary_folder("engine_allocations_sparse") + "/b.gguf";
  write_file(path, make_gguf_b().build());
  check_model(path, {.sparse_budget_tokens = 64});
}

}  // namespace

}  // namespace ifr::test
