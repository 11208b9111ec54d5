// SPDX-License-Identifier: Apache-2.0
// What the frame thread pays: time and allocations of poll and of the telemetry snapshots while the
// plugin generates.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "abi/abi_fixture.h"

namespace {

thread_local bool counting = false;
thread_local int64_t num_allocations = 0;

[[maybe_unused]] void note_allocation() {
  if (counting) {
    ++num_allocations;
  }
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(size_t size);                      // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(size_t count, size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* pointer, size_t size);      // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(size_t alignment, size_t size);  // NOLINT(bugprone-reserved-identifier)

void* malloc(size_t size) {
  note_allocation();
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  note_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* pointer, size_t size) {
  note_allocation();
  return __libc_realloc(pointer, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}
}
#endif

namespace ifr::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Percentiles {
  double p50_us = 0.0;
  double p99_us = 0.0;
  double max_us = 0.0;
};

Percentiles percentiles_of(std::vector<double> times_us) {
  std::sort(times_us.begin(), times_us.end());
  const size_t count = times_us.size();
  return {times_us[count / 2], times_us[count * 99 / 100], times_us.back()};
}

// Polls like a frame loop, 1 ms apart, for `frames` frames while a session generates.
Percentiles measure(AbiHost& host, ifr_session session, int32_t frames) {
  const std::vector<int32_t> prompt = {1, 2, 3};
  std::vector<double> times_us;
  times_us.reserve(static_cast<size_t>(frames));
  std::vector<ifr_event> events(64);
  (void)host.submit(session, prompt, 4000);
  for (int32_t frame = 0; frame < frames; ++frame) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    uint32_t count = 0;
    const auto begin = Clock::now();
    const ifr_result result =
        host.api.poll(host.runtime, events.data(), sizeof events[0], 64, &count);
    times_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    EXPECT_EQ(result.code, IFR_OK);
    for (uint32_t i = 0; i < count; ++i) {
      if (events[i].type == IFR_EVENT_FINISHED) {
        EXPECT_EQ(host.api.session_reset(host.runtime, session).code, IFR_OK);
        (void)host.submit(session, prompt, 4000);
      }
    }
  }
  return percentiles_of(std::move(times_us));
}

TEST(AbiPoll, CostsTheFrameLittle) {
  const OpenLibrary library;
  // One inference thread: the frame thread keeps a core on a machine of two.
  AbiHost host(library.api, 1);
  const ifr_session session = host.session(host.load());
  constexpr double kBoundUs = 20.0;
  Percentiles best;
  for (int32_t attempt = 0; attempt < 3; ++attempt) {
    const Percentiles now = measure(host, session, 1000);
    std::printf("poll: p50 %.2f us, p99 %.2f us, max %.2f us\n", now.p50_us, now.p99_us,
                now.max_us);
    best = attempt == 0 || now.p99_us < best.p99_us ? now : best;
    if (best.p99_us <= kBoundUs) {
      break;
    }
  }
  if (kSanitized) {
    GTEST_SKIP() << "times mean nothing under a sanitizer";
  }
  double load = 0.0;
  ASSERT_EQ(getloadavg(&load, 1), 1);
  if (best.p99_us > kBoundUs && load > 1.5) {
    GTEST_SKIP() << "p99 is " << best.p99_us << " us, but the machine is busy (load " << load
                 << ")";
  }
  EXPECT_LE(best.p99_us, kBoundUs);
}

TEST(AbiPoll, AllocatesNothingNorDoTheSnapshots) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer has its own allocator";
  }
  const OpenLibrary library;
  AbiHost host(library.api, 1);
  const ifr_model model = host.load();
  const ifr_session session = host.session(model);
  const std::vector<int32_t> prompt = {1, 2, 3};
  const ifr_request request = host.submit(session, prompt, 400);
  std::vector<ifr_event> events(64);
  auto telemetry = make<ifr_telemetry>();
  auto session_status = make<ifr_session_status>();
  auto model_status = make<ifr_model_status>();
  auto description = make<ifr_model_description>();
  std::vector<ifr_operator_record> records(64);
  std::vector<ifr_selection_row> rows(64);
  std::vector<int32_t> blocks(64 * 8);
  std::vector<float> scores(64 * 8);
  auto read = make<ifr_selection_read>();
  read.layer = 3;
  read.rows = rows.data();
  read.row_stride = sizeof rows[0];
  read.row_capacity = 64;
  read.block_idx = blocks.data();
  read.scores = scores.data();
  read.entry_capacity = 8;
  bool finished = false;
  int32_t failures = 0;
  num_allocations = 0;
  while (!finished) {
    uint32_t count = 0;
    uint32_t num_records = 0;
    counting = true;
    failures += host.api.poll(host.runtime, events.data(), sizeof events[0], 64, &count).code;
    failures += host.api.telemetry_read(host.runtime, &telemetry).code;
    failures +=
        host.api
            .telemetry_operators(host.runtime, records.data(), sizeof records[0], 64, &num_records)
            .code;
    failures += host.api.telemetry_selections(host.runtime, session, &read).code;
    failures += host.api.session_status(host.runtime, session, &session_status).code;
    failures += host.api.model_status(host.runtime, model, &model_status).code;
    failures += host.api.model_describe(host.runtime, model, &description).code;
    counting = false;
    for (uint32_t i = 0; i < count; ++i) {
      finished = finished || (events[i].type == IFR_EVENT_FINISHED && events[i].request == request);
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(num_allocations, 0);
  // The counter counts.
  counting = true;
  const std::string long_enough(1000, 'x');
  counting = false;
  EXPECT_GT(num_allocations, 0) << long_enough.size();
}

TEST(AbiPoll, IsForOneThreadAtATime) {
  const OpenLibrary library;
  AbiHost host(library.api, 1);
  const ifr_session session = host.session(host.load());
  const std::vector<int32_t> prompt = {1};
  const ifr_request request = host.submit(session, prompt, 2000);
  std::atomic<bool> stop{false};
  std::atomic<int32_t> refused{0};
  std::atomic<int32_t> num_tokens{0};
  const auto loop = [&] {
    std::vector<ifr_event> events(4);
    while (!stop) {
      uint32_t count = 0;
      const ifr_result result =
          host.api.poll(host.runtime, events.data(), sizeof events[0], 4, &count);
      if (result.code == IFR_ERROR_INVALID_STATE) {
        ++refused;
        continue;
      }
      EXPECT_EQ(result.code, IFR_OK);
      for (uint32_t i = 0; i < count; ++i) {
        if (events[i].type == IFR_EVENT_FINISHED && events[i].request == request) {
          stop = true;
        } else {
          ++num_tokens;
        }
      }
    }
  };
  std::thread other(loop);
  loop();
  other.join();
  EXPECT_EQ(num_tokens, 2000) << refused << " calls were refused";
}

}  // namespace
}  // namespace ifr::test
