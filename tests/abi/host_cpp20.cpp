// SPDX-License-Identifier: Apache-2.0
// A host in C++20 over interframe.hpp. host_cpp20 LIBRARY MODEL [NUM_TOKENS]: prints the ids on one
// line. Built without exceptions.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <interframe/interframe.hpp>
#include <thread>

namespace {

using interframe::Result;

int fail(const interframe::Error& error) {
  (void)std::fprintf(stderr, "error %d of part %d: %s\n", error.result.code, error.result.part,
                     error.message.c_str());
  return 1;
}

// The next event, waited for.
Result<ifr_event> next_event(interframe::Runtime& runtime) {
  std::array<ifr_event, 1> events{};
  for (;;) {
    const Result<uint32_t> count = runtime.poll(events);
    if (!count) {
      return count.error();
    }
    if (*count == 1) {
      return events[0];
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int usage_generate(const char* library_path, const char* model_path, int32_t num_tokens) {
  const Result<interframe::Library> library = interframe::Library::open(library_path);
  if (!library) {
    return fail(library.error());
  }
  auto info = interframe::make<ifr_runtime_info>();
  info.num_threads = 2;
  Result<interframe::Runtime> runtime = interframe::Runtime::create(*library, info);
  if (!runtime) {
    return fail(runtime.error());
  }
  const Result<interframe::Model> model = runtime->load_model(model_path);
  if (!model) {
    return fail(model.error());
  }
  const Result<ifr_event> loaded = next_event(*runtime);
  if (!loaded || loaded->type != IFR_EVENT_MODEL_READY) {
    const Result<ifr_model_status> status = model->status();
    return fail({status ? status->result : ifr_result{}, status ? status->message : ""});
  }
  Result<interframe::Session> session = model->create_session(128);
  if (!session) {
    return fail(session.error());
  }
  const std::array<int32_t, 4> prompt = {1, 17, 42, 99};
  const Result<interframe::Request> request =
      session->submit_ids(prompt, {.max_tokens = num_tokens, .flags = IFR_REQUEST_IGNORE_END});
  if (!request) {
    return fail(request.error());
  }
  for (;;) {
    const Result<ifr_event> event = next_event(*runtime);
    if (!event) {
      return fail(event.error());
    }
    if (event->type == IFR_EVENT_FINISHED) {
      break;
    }
    (void)std::printf("%d ", event->token_id);
  }
  (void)std::printf("\n");
  const Result<ifr_telemetry> telemetry = runtime->telemetry();
  const Result<std::vector<int32_t>> tokens = session->tokens();
  if (!telemetry || telemetry->generated_tokens != static_cast<uint64_t>(num_tokens) || !tokens ||
      tokens->size() != prompt.size() + static_cast<size_t>(num_tokens)) {
    (void)std::fprintf(stderr, "the counts are wrong\n");
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    (void)std::fprintf(stderr, "usage: host_cpp20 LIBRARY MODEL [NUM_TOKENS]\n");
    return 2;
  }
  return usage_generate(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 8);
}
