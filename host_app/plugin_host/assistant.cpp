// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/assistant.h"

#include <cstdio>
#include <utility>

namespace ifr::host {
namespace {

constexpr size_t kEventsPerPoll = 64;
constexpr size_t kAnswerReserveBytes = 16384;

void IFR_CALL print_log(void* /*user*/, int32_t level, const char* message) {
  std::fprintf(stderr, "interframe %s: %s\n", level >= IFR_LOG_ERROR ? "error" : "warning",
               message);
}

double milliseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

const char* finish_remark(int32_t reason) {
  switch (reason) {
    case IFR_FINISH_MAX_TOKENS:
      return "stopped at the token limit";
    case IFR_FINISH_CONTEXT:
      return "the context is full";
    case IFR_FINISH_CANCELLED:
      return "cancelled";
    default:
      return "";
  }
}

}  // namespace

Assistant::Assistant(AssistantInfo info) : info_(std::move(info)), events_(kEventsPerPoll) {}

std::unique_ptr<Assistant> Assistant::start(const AssistantInfo& info) {
  auto assistant = std::unique_ptr<Assistant>(new Assistant(info));
  if (!info.model_path.empty()) {
    assistant->create_runtime();
  }
  return assistant;
}

Assistant::~Assistant() {
  if (runtime_ != nullptr) {
    // Cancels and drains whatever runs; sessions and models go with it.
    (void)library_->api().runtime_destroy(runtime_);
  }
}

void Assistant::fail(std::string message) {
  state_ = AssistantState::kFailed;
  error_ = std::move(message);
  pending_prompt_.reset();
  if (!turns_.empty() && !turns_.back().is_finished) {
    turns_.back().is_finished = true;
    turns_.back().remark = error_;
  }
}

std::string Assistant::last_error() const {
  char text[1024] = {};
  const ifr_result result = library_->api().last_error(runtime_, text, sizeof(text), nullptr);
  return result.code == IFR_OK && text[0] != '\0' ? std::string(text)
                                                  : std::string("no reason given");
}

void Assistant::fail_with_last_error(const char* what) {
  fail(std::string(what) + ": " + last_error());
}

void Assistant::create_runtime() {
  auto library = PluginLibrary::open(info_.plugin_path);
  if (!library.ok()) {
    fail(std::move(library.error().message));
    return;
  }
  library_.emplace(std::move(library).value());
  char error_text[1024] = {};
  ifr_runtime_info runtime{};
  runtime.struct_size = sizeof(runtime);
  runtime.backend = info_.backend;
  runtime.num_threads = info_.num_threads;
  runtime.log_level = IFR_LOG_WARNING;
  runtime.log = print_log;
  runtime.error_text = error_text;
  runtime.error_capacity = sizeof(error_text);
  if (library_->api().runtime_create(&runtime, &runtime_).code != IFR_OK) {
    runtime_ = nullptr;
    fail(std::string("the inference runtime did not start: ") + error_text);
    return;
  }
  ifr_model_info model{};
  model.struct_size = sizeof(model);
  model.path = {info_.model_path.data(), info_.model_path.size()};
  if (library_->api().model_load(runtime_, &model, &model_).code != IFR_OK) {
    fail_with_last_error("the model cannot be loaded");
    return;
  }
  state_ = AssistantState::kLoading;
}

void Assistant::poll() {
  if (runtime_ == nullptr) {
    return;
  }
  uint32_t count = 0;
  const auto start = Clock::now();
  const ifr_result result =
      library_->api().poll(runtime_, events_.data(), sizeof(ifr_event), kEventsPerPoll, &count);
  const double took_us = milliseconds(Clock::now() - start) * 1000.0;
  poll_times_us_.add(took_us);
  if (state_ == AssistantState::kGenerating) {
    busy_poll_times_us_.add(took_us);
  }
  if (result.code != IFR_OK) {
    fail_with_last_error("the plugin refused to be polled");
    return;
  }
  for (uint32_t index = 0; index < count; ++index) {
    const ifr_event& event = events_[index];
    switch (event.type) {
      case IFR_EVENT_MODEL_READY:
        on_model_ready();
        break;
      case IFR_EVENT_MODEL_FAILED:
        read_progress();
        break;
      case IFR_EVENT_TOKEN:
        on_token(event);
        break;
      case IFR_EVENT_FINISHED:
        on_finished(event);
        break;
      default:
        break;  // of a later version
    }
  }
  if (state_ == AssistantState::kLoading) {
    read_progress();
  }
}

void Assistant::read_progress() {
  ifr_model_status status{};
  status.struct_size = sizeof(status);
  if (library_->api().model_status(runtime_, model_, &status).code != IFR_OK) {
    fail_with_last_error("the model's state cannot be read");
    return;
  }
  if (status.state == IFR_MODEL_FAILED) {
    fail(std::string("the model cannot be loaded: ") + status.message);
  } else if (status.total_bytes > 0) {
    load_share_ = static_cast<double>(status.done_bytes) / static_cast<double>(status.total_bytes);
  }
}

void Assistant::on_model_ready() {
  const ifr_api& api = library_->api();
  load_share_ = 1.0;
  description_.struct_size = sizeof(description_);
  if (api.model_describe(runtime_, model_, &description_).code != IFR_OK) {
    fail_with_last_error("the model cannot be described");
    return;
  }
  ifr_session_info session{};
  session.struct_size = sizeof(session);
  if (api.session_create(runtime_, model_, &session, &session_).code != IFR_OK) {
    fail_with_last_error("no session could be made");
    return;
  }
  state_ = AssistantState::kReady;
  if (pending_prompt_) {
    const std::string prompt = std::move(*pending_prompt_);
    pending_prompt_.reset();
    submit(prompt);
  }
}

bool Assistant::ask(const std::string& prompt) {
  if (prompt.empty() || state_ == AssistantState::kGenerating || pending_prompt_) {
    return false;
  }
  Turn& turn = turns_.emplace_back();
  turn.question = prompt;
  turn.answer.reserve(kAnswerReserveBytes);
  asked_at_ = Clock::now();
  switch (state_) {
    case AssistantState::kReady:
      submit(prompt);
      break;
    case AssistantState::kLoading:
      pending_prompt_ = prompt;
      break;
    default:
      turn.is_finished = true;
      turn.remark = state_ == AssistantState::kNoModel ? "no model is loaded" : error_;
      break;
  }
  return true;
}

void Assistant::submit(const std::string& prompt) {
  ifr_request_info request{};
  request.struct_size = sizeof(request);
  request.max_tokens = info_.max_tokens;
  request.sampling.temperature = info_.temperature;
  request.sampling.top_p = 1.0f;
  request.sampling.use_seed = info_.seed.has_value() ? 1 : 0;
  request.sampling.seed = info_.seed.value_or(0);
  std::vector<int32_t> ids;
  ifr_message message{};
  if (description_.has_tokenizer == 0) {
    for (const char byte : prompt) {
      ids.push_back(static_cast<int32_t>(static_cast<unsigned char>(byte)) %
                    description_.vocab_size);
    }
    request.token_ids = ids.data();
    request.num_token_ids = ids.size();
  } else if (description_.has_chat_form != 0 && info_.uses_chat_form) {
    message.struct_size = sizeof(message);
    message.role = IFR_ROLE_USER;
    message.content = {prompt.data(), prompt.size()};
    request.messages = &message;
    request.num_messages = 1;
    request.message_stride = sizeof(message);
  } else {
    request.text = {prompt.data(), prompt.size()};
  }
  const ifr_result result = library_->api().request_submit(runtime_, session_, &request, &request_);
  if (result.code != IFR_OK) {
    // The session is as it was: the next question may be a shorter one.
    request_ = 0;
    turns_.back().is_finished = true;
    turns_.back().remark = last_error();
    return;
  }
  state_ = AssistantState::kGenerating;
}

void Assistant::on_token(const ifr_event& event) {
  if (turns_.empty() || event.request != request_) {
    return;
  }
  Turn& turn = turns_.back();
  const auto now = Clock::now();
  if (event.token_id >= 0) {
    if (turn.num_tokens == 0) {
      first_token_at_ = now;
      turn.first_token_ms = milliseconds(now - asked_at_);
    }
    ++turn.num_tokens;
    if (turn.num_tokens > 1) {
      turn.tokens_per_second = 1000.0 * static_cast<double>(turn.num_tokens - 1) /
                               std::max(milliseconds(now - first_token_at_), 1e-3);
    }
  }
  if (description_.has_tokenizer != 0) {
    turn.answer.append(event.text, event.text_bytes);
  } else if (event.token_id >= 0) {
    char id[16];
    const int length =
        std::snprintf(id, sizeof(id), turn.answer.empty() ? "%d" : " %d", event.token_id);
    turn.answer.append(id, static_cast<size_t>(length));
  }
}

void Assistant::on_finished(const ifr_event& event) {
  if (turns_.empty() || event.request != request_) {
    return;
  }
  Turn& turn = turns_.back();
  turn.answer.append(event.text, event.text_bytes);
  turn.is_finished = true;
  turn.remark = event.finish_reason == IFR_FINISH_ERROR
                    ? std::string("failed: ") + library_->api().result_string(event.result)
                    : finish_remark(event.finish_reason);
  turn.num_tokens = event.generated_tokens;
  request_ = 0;
  if (state_ == AssistantState::kGenerating) {
    state_ = AssistantState::kReady;
  }
}

void Assistant::cancel() {
  if (request_ != 0) {
    // Refused only when the request has just ended, which the next poll shows.
    (void)library_->api().request_cancel(runtime_, request_);
  }
}

}  // namespace ifr::host
