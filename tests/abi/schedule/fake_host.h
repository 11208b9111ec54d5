// SPDX-License-Identifier: Apache-2.0
// A host over ifr::Runtime with a fake model: loads, submits, polls, collects.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "schedule/runtime.h"
#include "support/fake_engine.h"

namespace ifr::test {

struct Answer {
  std::vector<int32_t> ids;
  std::vector<std::string> texts;  // of each token event; the FINISHED event's last
  std::string text;
  std::string raw;
  std::vector<int32_t> positions;
  bool finished = false;
  Event end;
};

inline constexpr std::chrono::seconds kPatience(10);

// Repeats `condition` until it holds; false when patience ends.
inline bool wait_for(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

class FakeHost {
 public:
  explicit FakeHost(FakeScript& script, FakeLoader::MakeCodec make_codec = {},
                    RuntimeOptions options = {}) {
    options.num_threads = 1;
    Expected<std::unique_ptr<Runtime>> made =
        Runtime::create(options, std::make_unique<FakeLoader>(script, std::move(make_codec)));
    EXPECT_TRUE(made.is_ok()) << made.status().message();
    runtime = std::move(made).value();
  }

  // A ready model.
  uint64_t load() {
    const Expected<uint64_t> model = runtime->load_model("fake");
    EXPECT_TRUE(model.is_ok());
    EXPECT_TRUE(wait_for([&] {
      poll();
      return ready.contains(*model);
    }));
    return *model;
  }
  uint64_t session(uint64_t model, int32_t context_tokens = 0) {
    const Expected<uint64_t> session = runtime->create_session(model, context_tokens);
    EXPECT_TRUE(session.is_ok()) << session.status().message();
    return *session;
  }
  static RequestSpec ids_spec(const std::vector<int32_t>& ids, int32_t max_tokens) {
    RequestSpec spec;
    spec.form = PromptForm::kTokenIds;
    spec.token_ids = ids;
    spec.max_tokens = max_tokens;
    return spec;
  }
  uint64_t submit(uint64_t session, const RequestSpec& spec) {
    const Expected<uint64_t> request = runtime->submit(session, spec);
    EXPECT_TRUE(request.is_ok()) << request.status().message();
    return request.is_ok() ? *request : 0;
  }
  bool is_busy(uint64_t session) {
    const Expected<SessionRef> ref = runtime->session(session);
    return ref.is_ok() && (*ref)->busy.load();
  }

  // Takes up to `most` events.
  size_t poll(size_t most = SIZE_MAX) {
    EventQueue& queue = runtime->events();
    size_t count = 0;
    for (; count < most; ++count) {
      const Event* event = queue.front();
      if (event == nullptr) {
        break;
      }
      take(*event);
      queue.pop();
    }
    if (count > 0) {
      runtime->note_polled();
    }
    return count;
  }
  Answer& finish(uint64_t request) {
    EXPECT_TRUE(wait_for([&] {
      poll();
      return answers[request].finished;
    }));
    return answers[request];
  }
  // The whole of one request.
  Answer run(uint64_t session, const std::vector<int32_t>& ids, int32_t max_tokens) {
    return finish(submit(session, ids_spec(ids, max_tokens)));
  }

  std::unique_ptr<Runtime> runtime;
  std::map<uint64_t, Answer> answers;
  std::map<uint64_t, Event> ready;
  std::map<uint64_t, Event> failed;

 private:
  void take(const Event& event) {
    if (event.type == EventType::kModelReady) {
      ready[event.model] = event;
      return;
    }
    if (event.type == EventType::kModelFailed) {
      failed[event.model] = event;
      return;
    }
    Answer& answer = answers[event.request];
    const std::string text(event.text.data(), event.text_bytes);
    answer.texts.push_back(text);
    answer.text += text;
    answer.raw.append(reinterpret_cast<const char*>(event.raw.data()), event.raw_bytes);
    if (event.type == EventType::kToken) {
      answer.positions.push_back(event.position);
      if (event.token_id >= 0) {
        answer.ids.push_back(event.token_id);
      }
    } else {
      EXPECT_FALSE(answer.finished) << "two ends of one request";
      answer.finished = true;
      answer.end = event;
    }
  }
};

}  // namespace ifr::test
