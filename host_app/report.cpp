// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

namespace ifr::host {
namespace {

using nlohmann::json;

json summary(const Samples& samples) {
  return {{"count", samples.count()},
          {"p50", samples.percentile(0.50)},
          {"p99", samples.percentile(0.99)},
          {"max", samples.max()}};
}

const char* state_name(AssistantState state) {
  switch (state) {
    case AssistantState::kNoModel:
      return "no_model";
    case AssistantState::kLoading:
      return "loading";
    case AssistantState::kReady:
      return "ready";
    case AssistantState::kGenerating:
      return "generating";
    case AssistantState::kFailed:
      return "failed";
  }
  return "";
}

json answer_json(const Assistant& assistant) {
  if (assistant.turns().empty()) {
    return nullptr;
  }
  const Turn& turn = assistant.turns().back();
  return {{"prompt", turn.question},
          {"text", turn.answer},
          {"finished", turn.is_finished},
          {"remark", turn.remark},
          {"tokens", turn.num_tokens},
          {"tokens_per_second", turn.tokens_per_second},
          {"first_token_ms", turn.first_token_ms}};
}

}  // namespace

std::string report_json(const Options& options, const Renderer& renderer,
                        const Assistant& assistant, const RunStats& stats, int exit_code) {
  json passes = json::object();
  for (uint32_t pass = 0; pass < kNumPasses; ++pass) {
    json& entry = passes[pass_name(static_cast<Pass>(pass))];
    entry["cpu_ms"] = summary(stats.pass_cpu_ms[pass]);
    entry["gpu_ms"] =
        stats.pass_gpu_ms[pass].count() > 0 ? summary(stats.pass_gpu_ms[pass]) : json(nullptr);
  }
  const json report = {
      {"device", renderer.device().device_name()},
      {"headless", options.is_headless},
      {"size", {{"width", stats.extent.width}, {"height", stats.extent.height}}},
      {"samples", renderer.num_samples()},
      {"frames", stats.num_frames},
      {"skipped_frames", stats.num_skipped},
      {"swapchain_rebuilds", renderer.num_swapchain_rebuilds()},
      {"seconds", stats.wall_s},
      {"fps", stats.wall_s > 0.0 ? static_cast<double>(stats.num_frames) / stats.wall_s : 0.0},
      {"frame_ms", summary(stats.frame_ms)},
      {"answering_frame_ms", summary(stats.answering_frame_ms)},
      {"passes", passes},
      {"poll_us", summary(assistant.poll_times_us())},
      {"answering_poll_us", summary(assistant.busy_poll_times_us())},
      {"model",
       {{"path", assistant.model_path()},
        {"name", assistant.model().name},
        {"state", state_name(assistant.state())},
        {"error", assistant.error()}}},
      {"answer", answer_json(assistant)},
      {"validation",
       {{"enabled", options.validates}, {"messages", renderer.num_validation_messages()}}},
      {"exit_code", exit_code}};
  return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<void> write_text_file(const std::string& path, const std::string& text) {
  struct CloseFile {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fclose(file.release()) != 0) {
    return Error{ErrorCode::kIo, "cannot write " + path + ": " + std::strerror(errno)};
  }
  return {};
}

}  // namespace ifr::host
