// SPDX-License-Identifier: Apache-2.0
// A host like any other: everything goes through the C ABI.
#include <interframe/interframe.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace ifr::tools {

namespace {

struct Answer {
  std::vector<int32_t> ids;
  std::string text;
  ifr_event end{};
};

// The runtime and what the command made in it; destroyed whole.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    if (runtime_ != nullptr) {
      (void)api_.runtime_destroy(runtime_);
    }
  }

  bool start(const GenerateOptions& options);
  bool load(const std::string& path);
  bool open_session(int32_t context_tokens);
  bool answer(const GenerateOptions& options, Answer& answer);

 private:
  bool check(ifr_result result, const char* what);
  bool describe();
  bool submit(const GenerateOptions& options);
  bool collect(const GenerateOptions& options, Answer& answer);

  ifr_api api_{};
  ifr_runtime* runtime_ = nullptr;
  ifr_model model_ = 0;
  ifr_session session_ = 0;
  ifr_model_description description_{};
};

bool Host::check(ifr_result result, const char* what) {
  if (result.code == IFR_OK) {
    return true;
  }
  char text[1024] = "";
  if (runtime_ != nullptr) {
    (void)api_.last_error(runtime_, text, sizeof text, nullptr);
  }
  std::fprintf(stderr, "interframe: %s: %s (%s)\n", what, text, api_.result_string(result));
  return false;
}

bool Host::start(const GenerateOptions& options) {
  api_.struct_size = sizeof api_;
  if (ifr_get_api(IFR_ABI_VERSION, &api_).code != IFR_OK) {
    std::fprintf(stderr, "interframe: the library beside this program has another ABI version\n");
    return false;
  }
  if (options.backend != "cpu" && options.backend != "cuda") {
    std::fprintf(stderr, "interframe: --backend %s: give cpu or cuda\n", options.backend.c_str());
    return false;
  }
  char why[512] = "";
  ifr_runtime_info info{};
  info.struct_size = sizeof info;
  info.backend = options.backend == "cpu" ? IFR_BACKEND_CPU : IFR_BACKEND_CUDA;
  info.num_threads = options.threads;
  info.thread_priority = IFR_THREAD_PRIORITY_NORMAL;
  info.error_text = why;
  info.error_capacity = sizeof why;
  const ifr_result result = api_.runtime_create(&info, &runtime_);
  if (result.code != IFR_OK) {
    std::fprintf(stderr, "interframe: %s (%s)\n", why, api_.result_string(result));
    return false;
  }
  return true;
}

bool Host::load(const std::string& path) {
  ifr_model_info info{};
  info.struct_size = sizeof info;
  info.path = {path.data(), path.size()};
  if (!check(api_.model_load(runtime_, &info, &model_), "loading")) {
    return false;
  }
  for (;;) {
    ifr_model_status status{};
    status.struct_size = sizeof status;
    if (!check(api_.model_status(runtime_, model_, &status), "loading")) {
      return false;
    }
    if (status.state == IFR_MODEL_FAILED) {
      std::fprintf(stderr, "interframe: %s (%s)\n", status.message,
                   api_.result_string(status.result));
      return false;
    }
    if (status.state == IFR_MODEL_READY) {
      return describe();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool Host::describe() {
  description_.struct_size = sizeof description_;
  return check(api_.model_describe(runtime_, model_, &description_), "describing the model");
}

bool Host::open_session(int32_t context_tokens) {
  ifr_session_info info{};
  info.struct_size = sizeof info;
  info.context_tokens = context_tokens;
  return check(api_.session_create(runtime_, model_, &info, &session_), "creating the session");
}

bool Host::submit(const GenerateOptions& options) {
  ifr_request_info info{};
  info.struct_size = sizeof info;
  info.max_tokens = options.max_tokens;
  info.flags = (options.parse_special ? IFR_REQUEST_PARSE_SPECIAL : 0U) |
               (options.ignore_end ? IFR_REQUEST_IGNORE_END : 0U);
  info.sampling.temperature = options.temperature;
  info.sampling.top_k = options.top_k;
  info.sampling.top_p = options.top_p;
  info.sampling.use_seed = options.has_seed ? 1 : 0;
  info.sampling.seed = options.seed;
  std::vector<int32_t> ids;
  ifr_message message{};
  message.struct_size = sizeof message;
  message.role = IFR_ROLE_USER;
  message.content = {options.prompt.data(), options.prompt.size()};
  if (options.chat) {
    info.messages = &message;
    info.num_messages = 1;
    info.message_stride = sizeof message;
  } else if (description_.has_tokenizer == 0 && description_.vocab_size >= 256) {
    for (const char c : options.prompt) {
      ids.push_back(static_cast<unsigned char>(c));
    }
    info.token_ids = ids.data();
    info.num_token_ids = ids.size();
  } else {
    info.text = message.content;
  }
  ifr_request request = 0;
  return check(api_.request_submit(runtime_, session_, &info, &request), "submitting the prompt");
}

bool Host::collect(const GenerateOptions& options, Answer& answer) {
  std::vector<ifr_event> events(64);
  int32_t last_position = -1;
  for (;;) {
    for (ifr_event& event : events) {
      event.struct_size = sizeof event;
    }
    uint32_t count = 0;
    if (!check(api_.poll(runtime_, events.data(), sizeof(ifr_event),
                         static_cast<uint32_t>(events.size()), &count),
               "polling")) {
      return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const ifr_event& event = events[i];
      if (event.type == IFR_EVENT_TOKEN && event.token_id >= 0 && event.position != last_position) {
        last_position = event.position;
        answer.ids.push_back(event.token_id);
        if (!options.json && description_.has_tokenizer == 0) {
          std::printf("%d ", event.token_id);
        }
      }
      if (event.type == IFR_EVENT_TOKEN || event.type == IFR_EVENT_FINISHED) {
        answer.text.append(event.text, event.text_bytes);
        if (!options.json) {
          (void)std::fwrite(event.text, 1, event.text_bytes, stdout);
          (void)std::fflush(stdout);
        }
      }
      if (event.type == IFR_EVENT_FINISHED) {
        answer.end = event;
        return true;
      }
    }
    if (count == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

bool Host::answer(const GenerateOptions& options, Answer& answer) {
  if (!submit(options) || !collect(options, answer)) {
    return false;
  }
  if (answer.end.finish_reason == IFR_FINISH_ERROR) {
    return check(answer.end.result, "generating");
  }
  return true;
}

const char* finish_name(int32_t reason) {
  switch (reason) {
    case IFR_FINISH_END_TOKEN:
      return "end_token";
    case IFR_FINISH_MAX_TOKENS:
      return "max_tokens";
    case IFR_FINISH_CONTEXT:
      return "context";
    case IFR_FINISH_CANCELLED:
      return "cancelled";
    default:
      return "error";
  }
}

void print_json(const Answer& answer) {
  nlohmann::ordered_json json;
  json["text"] = answer.text;
  json["token_ids"] = answer.ids;
  json["finish_reason"] = finish_name(answer.end.finish_reason);
  json["prompt_tokens"] = answer.end.prompt_tokens;
  json["generated_tokens"] = answer.end.generated_tokens;
  json["seed"] = answer.end.seed;
  json["first_token_us"] = answer.end.first_token_us;
  json["total_us"] = answer.end.total_us;
  const uint64_t decode_us = answer.end.total_us - answer.end.first_token_us;
  json["decode_tokens_per_second"] = answer.end.generated_tokens > 1 && decode_us > 0
                                         ? static_cast<double>(answer.end.generated_tokens - 1) *
                                               1e6 / static_cast<double>(decode_us)
                                         : 0.0;
  std::printf("%s\n", json.dump(2).c_str());
}

}  // namespace

int command_generate(const GenerateOptions& options) {
  Host host;
  Answer answer;
  if (!host.start(options) || !host.load(options.model) ||
      !host.open_session(options.context_tokens) || !host.answer(options, answer)) {
    return 1;
  }
  if (options.json) {
    print_json(answer);
  } else {
    std::printf("\n");
  }
  return 0;
}

}  // namespace ifr::tools
