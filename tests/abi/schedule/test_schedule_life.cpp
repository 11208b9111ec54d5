// SPDX-License-Identifier: Apache-2.0
// Loading, closing and destroying at every time, over a fake model.
#include <gtest/gtest.h>

#include <thread>

#include "schedule/fake_host.h"

namespace ifr::test {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Loading, ReportsProgressAndEndsReady) {
  FakeScript script;
  script.load_time = std::chrono::milliseconds(60);
  FakeHost host(script);
  const Expected<uint64_t> model = host.runtime->load_model("fake");
  EXPECT_EQ(host.runtime->ready_model(*model).status().code(), Code::kInvalidState);
  EXPECT_EQ(host.runtime->create_session(*model, 0).status().code(), Code::kInvalidState);
  ASSERT_TRUE(wait_for([&] {
    const Expected<ModelRef> ref = host.runtime->model(*model);
    return (*ref)->progress.done_bytes > 2 && (*ref)->progress.total_bytes == 100;
  }));
  ASSERT_TRUE(wait_for([&] {
    host.poll();
    return host.ready.contains(*model);
  }));
  EXPECT_TRUE(host.runtime->ready_model(*model).is_ok());
}

TEST(Loading, FailsWithTheCause) {
  FakeScript script;
  script.load_failure = make_error(Code::kInvalidFile, Part::kModel, "the fake file is broken");
  FakeHost host(script);
  const Expected<uint64_t> model = host.runtime->load_model("fake");
  ASSERT_TRUE(wait_for([&] {
    host.poll();
    return host.failed.contains(*model);
  }));
  EXPECT_EQ(host.failed[*model].code, Code::kInvalidFile);
  const Expected<ModelRef> ref = host.runtime->model(*model);
  EXPECT_EQ((*ref)->failure.message(), "the fake file is broken");
  const Status not_ready = host.runtime->ready_model(*model).status();
  EXPECT_EQ(not_ready.code(), Code::kInvalidState);
  EXPECT_NE(not_ready.message().find("the fake file is broken"), std::string::npos);
}

TEST(Loading, IsCancelledWithin100Ms) {
  FakeScript script;
  script.load_time = std::chrono::seconds(60);
  FakeHost host(script);
  const Expected<uint64_t> running = host.runtime->load_model("a");
  const Expected<uint64_t> waiting = host.runtime->load_model("b");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto begin = Clock::now();
  ASSERT_TRUE(host.runtime->cancel_load(*waiting).is_ok());
  host.poll();
  EXPECT_TRUE(host.failed.contains(*waiting)) << "one that waits ends at once";
  ASSERT_TRUE(host.runtime->cancel_load(*running).is_ok());
  ASSERT_TRUE(wait_for([&] {
    host.poll();
    return host.failed.contains(*running);
  }));
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(100));
  EXPECT_EQ(host.failed[*running].code, Code::kCancelled);
  EXPECT_EQ(host.failed[*waiting].code, Code::kCancelled);
  // And can be repeated.
  script.load_time = std::chrono::milliseconds(0);
  const uint64_t model = host.load();
  ASSERT_TRUE(host.runtime->cancel_load(model).is_ok());
  EXPECT_TRUE(host.runtime->ready_model(model).is_ok()) << "no effect on a loaded model";
}

TEST(Loading, OfAReleasedModelEndsWithoutAnEvent) {
  FakeScript script;
  script.load_time = std::chrono::seconds(60);
  FakeHost host(script);
  const Expected<uint64_t> model = host.runtime->load_model("a");
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(host.runtime->release_model(*model).is_ok());
  EXPECT_EQ(host.runtime->model(*model).status().code(), Code::kInvalidHandle);
  script.load_time = std::chrono::milliseconds(0);
  (void)host.load();  // comes after the released one
  EXPECT_FALSE(host.failed.contains(*model));
  EXPECT_FALSE(host.ready.contains(*model));
}

TEST(Life, AReleasedModelLivesUntilItsLastSessionGoes) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  const uint64_t session = host.session(model);
  ASSERT_TRUE(host.runtime->release_model(model).is_ok());
  EXPECT_EQ(host.runtime->release_model(model).code(), Code::kInvalidHandle);
  EXPECT_EQ(host.run(session, {1}, 4).ids.size(), 4U);
  EXPECT_EQ(script.num_engines, 1);
  ASSERT_TRUE(host.runtime->destroy_session(session).is_ok());
  EXPECT_EQ(script.num_engines, 0);
  EXPECT_EQ(host.runtime->telemetry().memory().used_bytes, 0U);
}

TEST(Life, ASessionIsDestroyedWhileItsRequestRuns) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {1};
  script.close_gate();
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt, 1000));
  script.permit(3);
  ASSERT_TRUE(wait_for([&] { return script.num_steps >= 3; }));
  ASSERT_TRUE(host.runtime->destroy_session(session).is_ok());
  EXPECT_EQ(host.runtime->session(session).status().code(), Code::kInvalidHandle);
  script.open_gate();
  EXPECT_EQ(host.finish(request).end.finish_reason, FinishReason::kCancelled);
  EXPECT_TRUE(wait_for([&] { return script.num_sequences == 0; }));
}

TEST(Life, ARuntimeIsDestroyedWhileLoading) {
  FakeScript script;
  script.load_time = std::chrono::seconds(60);
  FakeHost host(script);
  (void)host.runtime->load_model("a");
  (void)host.runtime->load_model("b");
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto begin = Clock::now();
  host.runtime.reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(500));
  EXPECT_EQ(script.num_engines, 0);
}

TEST(Life, ARuntimeIsDestroyedWhileGenerating) {
  FakeScript script;
  script.step_time = std::chrono::milliseconds(5);
  FakeHost host(script);
  const uint64_t model = host.load();
  const std::vector<int32_t> prompt(500, 3);
  for (int32_t i = 0; i < 4; ++i) {
    const std::vector<int32_t> one = {1};
    (void)host.submit(host.session(model), FakeHost::ids_spec(i < 2 ? prompt : one, 1000));
  }
  ASSERT_TRUE(wait_for([&] { return script.num_steps > 8; }));
  const auto begin = Clock::now();
  host.runtime.reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(500));
  EXPECT_EQ(script.num_engines, 0);
  EXPECT_EQ(script.num_sequences, 0);
}

TEST(Life, ARuntimeIsDestroyedWhileTheQueueIsFull) {
  FakeScript script;
  RuntimeOptions options;
  options.event_capacity = kMinEventCapacity;
  FakeHost host(script, {}, options);
  const std::vector<int32_t> prompt = {1};
  (void)host.submit(host.session(host.load()), FakeHost::ids_spec(prompt, 1000));
  ASSERT_TRUE(wait_for([&] { return script.num_steps >= 17; }));
  const auto begin = Clock::now();
  host.runtime.reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(500));
}

TEST(Life, TheBudgetIsKept) {
  FakeScript script;
  RuntimeOptions options;
  options.memory_budget_bytes = 20'000;
  FakeHost host(script, {}, options);
  const uint64_t model = host.load();
  const Expected<uint64_t> large = host.runtime->create_session(model, 4096);
  ASSERT_FALSE(large.is_ok());
  EXPECT_EQ(large.status().code(), Code::kOverBudget);
  EXPECT_NE(large.status().message().find("40960"), std::string::npos);
  const uint64_t session = host.session(model, 1000);
  EXPECT_LE(host.runtime->telemetry().memory().used_bytes, 20'000U);
  EXPECT_EQ(host.runtime->telemetry().memory().cache_bytes, 10'000U);
  EXPECT_EQ(host.runtime->create_session(model, 1000).status().code(), Code::kOverBudget);
  ASSERT_TRUE(host.runtime->destroy_session(session).is_ok());
  EXPECT_TRUE(host.runtime->create_session(model, 1000).is_ok());
}

TEST(Life, TooManySessionsAreRefused) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  std::vector<uint64_t> sessions;
  for (uint32_t i = 0; i < kMaxSessions; ++i) {
    sessions.push_back(host.session(model, 8));
  }
  EXPECT_EQ(host.runtime->create_session(model, 8).status().code(), Code::kInvalidState);
  ASSERT_TRUE(host.runtime->destroy_session(sessions[500]).is_ok());
  const uint64_t again = host.session(model, 8);
  EXPECT_EQ(Handle::slot(again), Handle::slot(sessions[500]));
  EXPECT_NE(again, sessions[500]);
  EXPECT_EQ(host.runtime->session(sessions[500]).status().code(), Code::kInvalidHandle);
}

TEST(Life, CallsFromManyThreadsAtOnce) {
  FakeScript script;
  script.selecting_layers = {3, 7};
  FakeHost host(script);
  const uint64_t model = host.load();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const Expected<uint64_t> session = host.runtime->create_session(model, 64);
        if (!session.is_ok()) {  // the worker is behind: all places are taken
          EXPECT_EQ(session.status().code(), Code::kInvalidState);
          std::this_thread::yield();
          continue;
        }
        const std::vector<int32_t> prompt = {1, 2, 3};
        const Expected<uint64_t> request =
            host.runtime->submit(*session, FakeHost::ids_spec(prompt, 20));
        std::vector<int32_t> tokens(64);
        (void)host.runtime->copy_tokens(*session, 0, tokens);
        (void)host.runtime->cancel_request(*request);
        const Expected<SessionRef> ref = host.runtime->session(*session);
        std::vector<int32_t> blocks(8);
        (void)(*ref)->selections->read(3, 1, blocks, {});
        EXPECT_TRUE(host.runtime->destroy_session(*session).is_ok());
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      (void)host.runtime->telemetry().read(monotonic_ns());
      (void)host.runtime->telemetry().memory();
      (void)host.runtime->last_error().copy({});
    }
  });
  const auto end = Clock::now() + std::chrono::milliseconds(400);
  while (Clock::now() < end) {
    host.poll();
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(wait_for([&] {
    host.poll();
    return script.num_sequences == 0;
  }));
}

}  // namespace
}  // namespace ifr::test
