// SPDX-License-Identifier: Apache-2.0
// One model, one conversation: what the host does with the plugin.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin_host/plugin_library.h"
#include "samples.h"

namespace ifr::host {

enum class AssistantState {
  kNoModel,  // none was asked for
  kLoading,
  kReady,
  kGenerating,  // from the submit to the last token
  kFailed,      // error() says why; it stays so
};

struct AssistantInfo {
  std::string plugin_path = {};  // empty: search
  std::string model_path = {};   // empty: kNoModel
  int32_t backend = IFR_BACKEND_CPU;
  int32_t num_threads = 0;  // 0: the plugin's choice
  int32_t max_tokens = 192;
  float temperature = 0.0f;
  std::optional<uint64_t> seed = {};
  bool uses_chat_form = true;  // where the model has one
};

/// A question and what came back.
struct Turn {
  std::string question;
  std::string answer;  // whole characters, or the ids in decimal without a tokenizer
  std::string remark;  // why it ended early; empty when it did not
  bool is_finished = false;
  int32_t num_tokens = 0;
  double first_token_ms = 0.0;     // from asking to the first token; 0 before it
  double tokens_per_second = 0.0;  // after the first
};

/// One thread, the frame's. Nothing waits but start() (threads of the plugin) and the destructor
/// (at most one step).
class Assistant {
 public:
  /// Never fails as such: what goes wrong is the state kFailed, to be shown where the answer would
  /// stand.
  [[nodiscard]] static std::unique_ptr<Assistant> start(const AssistantInfo& info);
  ~Assistant();
  Assistant(const Assistant&) = delete;
  Assistant& operator=(const Assistant&) = delete;

  /// Once a frame: takes what has come.
  void poll();
  /// Asks now, or as soon as the model is there. False when an answer is still under way.
  bool ask(const std::string& prompt);
  /// Ends the answer under way, if any; it is finished a step later.
  void cancel();

  [[nodiscard]] AssistantState state() const { return state_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] double load_share() const { return load_share_; }  // 0..1
  [[nodiscard]] const std::vector<Turn>& turns() const { return turns_; }
  [[nodiscard]] bool is_waiting() const { return pending_prompt_.has_value(); }
  [[nodiscard]] const ifr_model_description& model() const {
    return description_;
  }  // zeros before it is ready
  [[nodiscard]] const std::string& model_path() const { return info_.model_path; }
  /// Microseconds that each poll call of the plugin took.
  [[nodiscard]] const Samples& poll_times_us() const { return poll_times_us_; }
  /// The same, of the calls made while an answer was under way.
  [[nodiscard]] const Samples& busy_poll_times_us() const { return busy_poll_times_us_; }
  /// For the overlay; null before and without a runtime.
  [[nodiscard]] const ifr_api* api() const { return library_ ? &library_->api() : nullptr; }
  [[nodiscard]] ifr_runtime* runtime() const { return runtime_; }

 private:
  using Clock = std::chrono::steady_clock;
  explicit Assistant(AssistantInfo info);
  void fail(std::string message);
  void fail_with_last_error(const char* what);
  void create_runtime();
  void read_progress();
  void on_model_ready();
  void on_token(const ifr_event& event);
  void on_finished(const ifr_event& event);
  void submit(const std::string& prompt);
  [[nodiscard]] std::string last_error() const;

  AssistantInfo info_;
  std::optional<PluginLibrary> library_;
  ifr_runtime* runtime_ = nullptr;
  ifr_model model_ = 0;
  ifr_session session_ = 0;
  ifr_request request_ = 0;
  ifr_model_description description_{};
  AssistantState state_ = AssistantState::kNoModel;
  std::string error_;
  double load_share_ = 0.0;
  std::optional<std::string> pending_prompt_;
  std::vector<Turn> turns_;
  std::vector<ifr_event> events_;
  Clock::time_point asked_at_;
  Clock::time_point first_token_at_;
  Samples poll_times_us_;
  Samples busy_poll_times_us_;
};

}  // namespace ifr::host
