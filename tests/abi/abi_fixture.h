// SPDX-License-Identifier: Apache-2.0
// A host in C++ over the raw table, opened with dlopen as a host would.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "interframe/interframe.h"

namespace ifr::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline const char* const kLibraryPath = IFR_LIBRARY_PATH;
inline const char* const kMicroPath = IFR_SOURCE_DIR "/assets/micro";

template <typename T>
T make() {
  T value;
  std::memset(&value, 0, sizeof value);
  value.struct_size = static_cast<uint32_t>(sizeof value);
  return value;
}

inline ifr_string to_string(const std::string& text) {
  return {text.data(), text.size()};
}

class OpenLibrary {
 public:
  OpenLibrary() : handle_(dlopen(kLibraryPath, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
    const auto get_api = reinterpret_cast<ifr_get_api_function>(dlsym(handle_, "ifr_get_api"));
    EXPECT_NE(get_api, nullptr);
    api = make<ifr_api>();
    EXPECT_EQ(get_api(IFR_ABI_VERSION, &api).code, IFR_OK);
  }
  ~OpenLibrary() { EXPECT_EQ(dlclose(handle_), 0); }
  OpenLibrary(const OpenLibrary&) = delete;
  OpenLibrary& operator=(const OpenLibrary&) = delete;

  ifr_get_api_function get_api() const {
    return reinterpret_cast<ifr_get_api_function>(dlsym(handle_, "ifr_get_api"));
  }
  ifr_api api;

 private:
  void* handle_;
};

struct AbiAnswer {
  std::vector<int32_t> ids;
  bool finished = false;
  ifr_event end;
};

// One runtime and what its poll has given so far.
class AbiHost {
 public:
  explicit AbiHost(const ifr_api& table, int32_t num_threads = 1, uint32_t event_capacity = 0)
      : api(table) {
    auto info = make<ifr_runtime_info>();
    info.num_threads = num_threads;
    info.event_capacity = event_capacity;
    EXPECT_EQ(api.runtime_create(&info, &runtime).code, IFR_OK);
  }
  ~AbiHost() { EXPECT_EQ(api.runtime_destroy(runtime).code, IFR_OK); }
  AbiHost(const AbiHost&) = delete;
  AbiHost& operator=(const AbiHost&) = delete;

  std::string error() const {
    char text[1024] = "";
    EXPECT_EQ(api.last_error(runtime, text, sizeof text, nullptr).code, IFR_OK);
    return text;
  }
  ifr_model begin_load(const std::string& path) {
    auto info = make<ifr_model_info>();
    info.path = to_string(path);
    ifr_model model = 0;
    EXPECT_EQ(api.model_load(runtime, &info, &model).code, IFR_OK) << error();
    return model;
  }
  // A ready model.
  ifr_model load(const std::string& path = kMicroPath) {
    const ifr_model model = begin_load(path);
    EXPECT_TRUE(wait([&] { return model_events.contains(model); }));
    EXPECT_EQ(model_events[model].type, IFR_EVENT_MODEL_READY);
    return model;
  }
  ifr_session session(ifr_model model, int32_t context_tokens = 0) {
    auto info = make<ifr_session_info>();
    info.context_tokens = context_tokens;
    ifr_session session = 0;
    EXPECT_EQ(api.session_create(runtime, model, &info, &session).code, IFR_OK) << error();
    return session;
  }
  static ifr_request_info request_info(const std::vector<int32_t>& ids, int32_t max_tokens) {
    auto info = make<ifr_request_info>();
    info.flags = IFR_REQUEST_IGNORE_END;
    info.token_ids = ids.data();
    info.num_token_ids = ids.size();
    info.max_tokens = max_tokens;
    return info;
  }
  ifr_request submit(ifr_session session, const std::vector<int32_t>& ids, int32_t max_tokens) {
    const ifr_request_info info = request_info(ids, max_tokens);
    ifr_request request = 0;
    EXPECT_EQ(api.request_submit(runtime, session, &info, &request).code, IFR_OK) << error();
    return request;
  }
  const AbiAnswer& finish(ifr_request request) {
    EXPECT_TRUE(wait([&] { return answers[request].finished; }));
    return answers[request];
  }
  std::vector<int32_t> run(ifr_session session, const std::vector<int32_t>& ids,
                           int32_t max_tokens) {
    return finish(submit(session, ids, max_tokens)).ids;
  }
  void poll() {
    ifr_event events[16];
    uint32_t count = 0;
    do {
      EXPECT_EQ(api.poll(runtime, events, sizeof events[0], 16, &count).code, IFR_OK) << error();
      for (uint32_t i = 0; i < count; ++i) {
        take(events[i]);
      }
    } while (count == 16);
  }
  bool wait(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      poll();
      if (condition()) {
        return true;
      }
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  }

  const ifr_api& api;
  ifr_runtime* runtime = nullptr;
  std::map<ifr_request, AbiAnswer> answers;
  std::map<ifr_model, ifr_event> model_events;

 private:
  void take(const ifr_event& event) {
    EXPECT_EQ(event.struct_size, sizeof(ifr_event));
    if (event.type == IFR_EVENT_MODEL_READY || event.type == IFR_EVENT_MODEL_FAILED) {
      model_events[event.model] = event;
    } else if (event.type == IFR_EVENT_TOKEN) {
      answers[event.request].ids.push_back(event.token_id);
    } else {
      answers[event.request].finished = true;
      answers[event.request].end = event;
    }
  }
};

}  // namespace ifr::test
