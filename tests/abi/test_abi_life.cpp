// SPDX-License-Identifier: Apache-2.0
// Beginnings and ends of runtimes (cases L01, L02, L06 on the CPU): nothing stays behind.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "abi/abi_fixture.h"

namespace ifr::test {
namespace {

using Clock = std::chrono::steady_clock;

size_t num_entries(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++count;
  }
  return count;
}

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

bool library_is_mapped() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libinterframe.so") != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST(AbiLife, CyclesLeaveNothingBehind) {
  constexpr int32_t kCycles = 20;
  constexpr int32_t kWarm = 5;
  size_t fds = 0;
  size_t threads = 0;
  size_t resident = 0;
  std::vector<int32_t> expected;
  for (int32_t cycle = 0; cycle < kCycles; ++cycle) {
    {
      const OpenLibrary library;
      AbiHost host(library.api, 2);
      const ifr_model model = host.load();
      const std::vector<int32_t> ids = host.run(host.session(model, 128), {1, 2, 3}, 8);
      ASSERT_EQ(ids.size(), 8U);
      if (expected.empty()) {
        expected = ids;
      }
      ASSERT_EQ(ids, expected);
    }
    if (cycle == kWarm) {
      fds = num_entries("/proc/self/fd");
      threads = num_entries("/proc/self/task");
      resident = resident_bytes();
    }
  }
  EXPECT_EQ(num_entries("/proc/self/fd"), fds);
  EXPECT_EQ(num_entries("/proc/self/task"), threads);
  if (!kSanitized) {
    EXPECT_LE(resident_bytes(), resident + (size_t{4} << 20U));
    EXPECT_FALSE(library_is_mapped());
  }
}

TEST(AbiLife, ALibraryGoesWhileAThreadThatUsedItLives) {
  std::thread thread;
  std::atomic<int32_t> stage{0};
  {
    const OpenLibrary library;
    thread = std::thread([&] {
      {
        AbiHost host(library.api);
        (void)host.api.model_cancel(host.runtime, 1);
      }
      stage = 1;
      while (stage != 2) {
        std::this_thread::yield();
      }
    });
    while (stage != 1) {
      std::this_thread::yield();
    }
  }
  if (!kSanitized) {
    EXPECT_FALSE(library_is_mapped());
  }
  stage = 2;
  thread.join();  // its thread-local destructors run without the library
}

TEST(AbiLife, TwoRuntimesAtOnce) {
  const OpenLibrary library;
  AbiHost first(library.api);
  AbiHost second(library.api);
  const ifr_session a = first.session(first.load(), 256);
  const ifr_session b = second.session(second.load(), 256);
  const std::vector<int32_t> prompt = {1, 2, 3};
  const ifr_request ra = first.submit(a, prompt, 60);
  const ifr_request rb = second.submit(b, prompt, 60);
  EXPECT_EQ(first.finish(ra).ids, second.finish(rb).ids);
  EXPECT_NE(a, b);
}

TEST(AbiLife, TooManyRuntimesAreRefused) {
  const OpenLibrary library;
  auto info = make<ifr_runtime_info>();
  info.num_threads = 1;
  info.event_capacity = 16;
  char reason[200] = "";
  info.error_text = reason;
  info.error_capacity = sizeof reason;
  std::vector<ifr_runtime*> runtimes;
  ifr_runtime* runtime = nullptr;
  while (library.api.runtime_create(&info, &runtime).code == IFR_OK) {
    runtimes.push_back(runtime);
    ASSERT_LE(runtimes.size(), 64U);
  }
  EXPECT_EQ(runtimes.size(), 64U);
  EXPECT_NE(std::string(reason).find("64 runtimes"), std::string::npos) << reason;
  for (ifr_runtime* made : runtimes) {
    EXPECT_EQ(library.api.runtime_destroy(made).code, IFR_OK);
  }
  ASSERT_EQ(library.api.runtime_create(&info, &runtime).code, IFR_OK);
  EXPECT_EQ(library.api.runtime_destroy(runtime).code, IFR_OK);
}

TEST(AbiLife, DestroyAtAnyTime) {
  // While loading, at the first steps, with two requests in their prompt and two decoding.
  for (int32_t round = 0; round < 20; ++round) {
    const OpenLibrary library;
    auto host = std::make_unique<AbiHost>(library.api, 2);
    const ifr_model model = round % 2 == 0 ? host->load() : host->begin_load(kMicroPath);
    if (round % 2 == 0) {
      for (int32_t i = 0; i < 4; ++i) {
        (void)host->submit(host->session(model), std::vector<int32_t>(i < 2 ? 3000 : 1, 5), 500);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300 * round));
    const auto begin = Clock::now();
    if (round % 4 == 0) {
      std::thread([&] { host.reset(); }).join();
    } else {
      host.reset();
    }
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(kSanitized ? 10 : 2));
  }
}

TEST(AbiLife, CancelsALoadAndRepeatsIt) {
  const OpenLibrary library;
  AbiHost host(library.api);
  for (int32_t i = 0; i < 10; ++i) {
    const ifr_model model = host.begin_load(kMicroPath);
    std::this_thread::sleep_for(std::chrono::microseconds(50 * i));
    ASSERT_EQ(library.api.model_cancel(host.runtime, model).code, IFR_OK);
    ASSERT_TRUE(host.wait([&] { return host.model_events.contains(model); }));
    const ifr_event& event = host.model_events[model];
    if (event.type == IFR_EVENT_MODEL_FAILED) {
      EXPECT_EQ(event.result.code, IFR_ERROR_CANCELLED);
    }
    EXPECT_EQ(library.api.model_release(host.runtime, model).code, IFR_OK);
  }
  auto telemetry = make<ifr_telemetry>();
  ASSERT_EQ(library.api.telemetry_read(host.runtime, &telemetry).code, IFR_OK);
  EXPECT_EQ(telemetry.memory_used_bytes, 0U);
  EXPECT_EQ(host.run(host.session(host.load(), 64), {1}, 4).size(), 4U);
}

TEST(AbiLife, AModelThatDoesNotFitTheBudgetIsRefused) {
  const OpenLibrary library;
  auto info = make<ifr_runtime_info>();
  info.num_threads = 1;
  info.memory_budget_bytes = 10'000;
  ifr_runtime* runtime = nullptr;
  ASSERT_EQ(library.api.runtime_create(&info, &runtime).code, IFR_OK);
  auto model_info = make<ifr_model_info>();
  const std::string path = kMicroPath;
  model_info.path = to_string(path);
  ifr_model model = 0;
  ASSERT_EQ(library.api.model_load(runtime, &model_info, &model).code, IFR_OK);
  ifr_event event;
  uint32_t count = 0;
  while (count == 0) {
    ASSERT_EQ(library.api.poll(runtime, &event, sizeof event, 1, &count).code, IFR_OK);
  }
  EXPECT_EQ(event.type, IFR_EVENT_MODEL_FAILED);
  EXPECT_EQ(event.result.code, IFR_ERROR_OVER_BUDGET);
  auto status = make<ifr_model_status>();
  ASSERT_EQ(library.api.model_status(runtime, model, &status).code, IFR_OK);
  EXPECT_NE(std::string(status.message).find("10000"), std::string::npos) << status.message;
  ASSERT_EQ(library.api.runtime_destroy(runtime).code, IFR_OK);
}

TEST(AbiLife, AForkedChildIsRefused) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not follow a fork of a process with threads";
#endif
  const OpenLibrary library;
  AbiHost host(library.api);
  const ifr_session session = host.session(host.load(), 64);
  const std::vector<int32_t> before = host.run(session, {1}, 4);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    uint32_t count = 0;
    ifr_event event;
    int status = 0;
    status |=
        host.api.poll(host.runtime, &event, sizeof event, 1, &count).code == IFR_ERROR_INVALID_STATE
            ? 0
            : 1;
    status |= host.api.session_reset(host.runtime, session).code == IFR_ERROR_INVALID_STATE ? 0 : 2;
    status |= host.api.runtime_destroy(host.runtime).code == IFR_ERROR_INVALID_STATE ? 0 : 4;
    // One of its own works.
    auto info = make<ifr_runtime_info>();
    info.num_threads = 1;
    ifr_runtime* own = nullptr;
    status |= host.api.runtime_create(&info, &own).code == IFR_OK ? 0 : 8;
    status |= host.api.runtime_destroy(own).code == IFR_OK ? 0 : 16;
    _exit(status);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_EQ(library.api.session_reset(host.runtime, session).code, IFR_OK);
  EXPECT_EQ(host.run(session, {1}, 4), before);
}

TEST(AbiLife, ExitsWithoutDestroyAreQuiet) {
  if (kSanitized) {
    GTEST_SKIP() << "a leak checker objects to what is meant here";
  }
  for (const bool quick : {false, true}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Never destroyed, in the middle of an answer.
      auto* library = new OpenLibrary;
      auto* host = new AbiHost(library->api, 2);
      (void)host->submit(host->session(host->load()), std::vector<int32_t>(2000, 3), 500);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (quick) {
        std::quick_exit(0);
      }
      std::thread([] { std::exit(0); }).join();
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

}  // namespace
}  // namespace ifr::test
