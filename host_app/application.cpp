// SPDX-License-Identifier: Apache-2.0
#include "application.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include "chat/chat_panel.h"
#include "interframe_overlay/overlay.h"
#include "passes/renderer.h"
#include "report.h"

namespace ifr::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kStepS = 1.0 / 60.0;  // of a headless frame

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Pixels at the left that the overlay's column, at the right edge, leaves to the scene and the
/// chat.
float free_width(float width, float scale) {
  constexpr float kMargins = 24.0f;
  const float column = std::clamp(0.29f * width, 430.0f * scale, 560.0f * scale) + kMargins * scale;
  return std::min(std::max(width - column, overlay::kReservedLeftWidth * scale), width);
}

/// What lives through the run. Members in order of creation: the renderer's ImGui goes before the
/// window.
class Application {
 public:
  explicit Application(const Options& options) : options_(options) {}
  Result<void> start();
  Result<void> loop();
  int finish(Result<void> outcome);

 private:
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] bool answer_is_pending() const;
  void play_script();
  Result<void> draw_frame(double delta_s);
  void build_interface(vk::Extent2D extent);
  [[nodiscard]] SceneTime scene_time(vk::Extent2D extent, double delta_s);
  void keep_costs(double frame_ms);
  void limit_rate(Clock::time_point frame_start) const;
  [[nodiscard]] Result<void> write_screenshot();

  const Options& options_;
  std::optional<Window> window_;
  std::unique_ptr<Renderer> renderer_;
  std::unique_ptr<Assistant> assistant_;
  overlay::Overlay overlay_;
  ChatPanelState chat_;
  RunStats stats_;
  Clock::time_point started_;
  double scene_s_ = 0.0;
  float overlay_share_ = 0.0f;  // 0: hidden, 1: shown; in between while the camera moves over
  ScreenPoint speaker_;
  size_t next_script_step_ = 0;
  bool was_script_closed_ = false;
  bool is_over_time_ = false;
  bool has_picture_ = false;
};

Result<void> Application::start() {
  if (!options_.is_headless) {
    IFR_HOST_ASSIGN(Window window,
                    Window::create({"Interframe", {options_.width, options_.height}}));
    window_.emplace(std::move(window));
  }
  IFR_HOST_ASSIGN(
      renderer_,
      Renderer::create(
          {.validation = options_.validates ? Validation::kOn : Validation::kOff,
           .window = window_ ? &*window_ : nullptr,
           .size = {options_.width, options_.height},
           .pacing = options_.is_unpaced ? FramePacing::kUnlimited : FramePacing::kDisplay,
           .num_samples = options_.num_samples}));
  assistant_ =
      Assistant::start({.plugin_path = options_.plugin_path,
                        .model_path = options_.model_path,
                        .backend = options_.backend == "cuda" ? IFR_BACKEND_CUDA : IFR_BACKEND_CPU,
                        .num_threads = options_.num_threads,
                        .max_tokens = options_.max_tokens,
                        .temperature = options_.temperature,
                        .seed = options_.seed,
                        .uses_chat_form = !options_.is_raw});
  if (!options_.prompt.empty()) {
    assistant_->ask(options_.prompt);
  }
  overlay_.view.visible = !options_.hides_overlay;
  overlay_share_ = overlay_.view.visible ? 1.0f : 0.0f;
  return {};
}

bool Application::answer_is_pending() const {
  return assistant_->state() == AssistantState::kGenerating || assistant_->is_waiting();
}

bool Application::is_done() const {
  if (was_script_closed_ || (window_ && window_->should_close())) {
    return true;
  }
  if (stats_.num_frames < options_.num_frames) {
    return false;
  }
  if (options_.until_done) {
    return !answer_is_pending();
  }
  return options_.num_frames > 0;
}

void Application::play_script() {
  for (; next_script_step_ < options_.script.size(); ++next_script_step_) {
    const ScriptStep& step = options_.script[next_script_step_];
    if (step.frame > stats_.num_frames + stats_.num_skipped) {
      return;
    }
    switch (step.action) {
      case ScriptStep::Action::kSize:
        if (window_) {
          window_->set_size({step.width, step.height});
        }
        break;
      case ScriptStep::Action::kMinimise:
        if (window_) {
          window_->minimise();
        }
        break;
      case ScriptStep::Action::kRestore:
        if (window_) {
          window_->restore();
        }
        break;
      case ScriptStep::Action::kClose:
        was_script_closed_ = true;
        break;
      case ScriptStep::Action::kAsk:
        assistant_->ask(step.text);
        break;
      case ScriptStep::Action::kCancel:
        assistant_->cancel();
        break;
    }
  }
}

Result<void> Application::loop() {
  started_ = Clock::now();
  auto last_start = started_;
  while (!is_done()) {
    const auto frame_start = Clock::now();
    const double elapsed_s = seconds(frame_start - last_start);
    last_start = frame_start;
    if (options_.until_done && seconds(frame_start - started_) > options_.time_limit_s) {
      is_over_time_ = true;
      break;
    }
    if (window_) {
      window_->poll_events();
    }
    play_script();
    const uint64_t frames_before = stats_.num_frames;
    IFR_HOST_TRY(draw_frame(options_.is_headless && !options_.is_realtime ? kStepS : elapsed_s));
    if (stats_.num_frames > frames_before) {
      limit_rate(frame_start);
      keep_costs(seconds(Clock::now() - frame_start) * 1000.0);
    }
  }
  stats_.wall_s = seconds(Clock::now() - started_);
  return {};
}

Result<void> Application::draw_frame(double delta_s) {
  // A pause (a debugger, a minimised window) must not throw the camera round.
  const double step_s = std::min(delta_s, 0.25);
  IFR_HOST_ASSIGN(const std::optional<vk::Extent2D> extent, renderer_->begin_frame(step_s));
  // After the wait for the frame's turn: what is shown is the newest text.
  assistant_->poll();
  if (!extent) {
    ++stats_.num_skipped;
    return {};
  }
  scene_s_ += step_s;
  const SceneTime time = scene_time(*extent, step_s);
  speaker_ = project(frame_uniforms(time), guide_head(time.time_s));
  build_interface(*extent);
  ++stats_.num_frames;
  stats_.extent = *extent;
  // Which frame will be the last is only known when the count is fixed; else every frame that may
  // end the run.
  const bool wants_picture = !options_.screenshot_path.empty() && is_done();
  IFR_HOST_TRY(renderer_->end_frame({time, wants_picture}));
  has_picture_ = has_picture_ || wants_picture;
  return {};
}

SceneTime Application::scene_time(vk::Extent2D extent, double delta_s) {
  const auto width = static_cast<float>(extent.width);
  const float wanted = overlay_.view.visible ? 1.0f : 0.0f;
  const float rate = std::min(static_cast<float>(delta_s) * 5.0f, 1.0f);
  overlay_share_ += (wanted - overlay_share_) * rate;
  SceneTime time;
  time.time_s = scene_s_;
  time.hour = hour_of_day(options_.start_hour, scene_s_, options_.day_length_s);
  time.aspect = width / static_cast<float>(std::max(extent.height, 1u));
  time.free_width_share =
      std::lerp(1.0f, free_width(width, renderer_->interface_scale()) / width, overlay_share_);
  return time;
}

void Application::build_interface(vk::Extent2D extent) {
  overlay_.update(assistant_->api(), assistant_->runtime());
  const auto width = static_cast<float>(extent.width);
  const float scale = renderer_->interface_scale();
  const ChatPanelInput input{.width = overlay_.view.visible ? free_width(width, scale) : width,
                             .height = static_cast<float>(extent.height),
                             .scale = scale,
                             .speaker = speaker_,
                             .time_s = scene_s_,
                             .accepts_input = !options_.is_headless};
  draw_speech_bubble(*assistant_, input);
  draw_chat_panel(*assistant_, chat_, input);
  (void)overlay_.draw();
}

void Application::limit_rate(Clock::time_point frame_start) const {
  if (options_.fps_limit > 0.0) {
    std::this_thread::sleep_until(frame_start +
                                  std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(1.0 / options_.fps_limit)));
  }
}

void Application::keep_costs(double frame_ms) {
  stats_.frame_ms.add(frame_ms);
  if (assistant_->state() == AssistantState::kGenerating) {
    stats_.answering_frame_ms.add(frame_ms);
  }
  for (uint32_t pass = 0; pass < kNumPasses; ++pass) {
    const PassCost& cost = renderer_->costs()[pass];
    stats_.pass_cpu_ms[pass].add(cost.cpu_ms);
    if (cost.has_gpu_time) {
      stats_.pass_gpu_ms[pass].add(cost.gpu_ms);
    }
  }
}

Result<void> Application::write_screenshot() {
  if (!has_picture_) {
    // The run ended otherwise than at a counted frame: draw one more.
    IFR_HOST_ASSIGN(const std::optional<vk::Extent2D> extent, renderer_->begin_frame(kStepS));
    if (!extent) {
      return Error{ErrorCode::kIo, "no screenshot: the window is minimised"};
    }
    const SceneTime time = scene_time(*extent, kStepS);
    speaker_ = project(frame_uniforms(time), guide_head(time.time_s));
    build_interface(*extent);
    IFR_HOST_TRY(renderer_->end_frame({time, true}));
  }
  IFR_HOST_ASSIGN(const Picture picture, renderer_->take_picture());
  return write_png(options_.screenshot_path, picture);
}

int Application::finish(Result<void> outcome) {
  int code = kExitOk;
  const auto note = [&](Error& error) {
    std::fprintf(stderr, "interframe-host: %s\n", error.message.c_str());
    code = code == kExitOk ? exit_code_of(error.code) : code;
  };
  if (!outcome.ok()) {
    note(outcome.error());
  }
  if (renderer_ == nullptr || assistant_ == nullptr) {
    return code;
  }
  if (outcome.ok() && !options_.screenshot_path.empty()) {
    auto written = write_screenshot();
    if (!written.ok()) {
      note(written.error());
    }
  }
  if (options_.is_headless && !assistant_->turns().empty()) {
    const Turn& turn = assistant_->turns().back();
    std::printf("> %s\n%s\n", turn.question.c_str(), turn.answer.c_str());
    if (!turn.remark.empty()) {
      std::printf("(%s)\n", turn.remark.c_str());
    }
  }
  if (assistant_->state() == AssistantState::kFailed) {
    Error error{ErrorCode::kPlugin, assistant_->error()};
    note(error);
  }
  if (is_over_time_) {
    std::fprintf(stderr,
                 "interframe-host: the answer was not complete within %.0f s (--time-limit)\n",
                 options_.time_limit_s);
    code = code == kExitOk ? kExitTimeLimit : code;
  }
  if (renderer_->num_validation_messages() > 0) {
    std::fprintf(stderr, "interframe-host: %llu validation messages\n",
                 static_cast<unsigned long long>(renderer_->num_validation_messages()));
    code = code == kExitOk ? kExitValidation : code;
  }
  if (!options_.report_path.empty()) {
    auto written = write_text_file(options_.report_path,
                                   report_json(options_, *renderer_, *assistant_, stats_, code));
    if (!written.ok()) {
      note(written.error());
    }
  }
  std::fprintf(stderr, "interframe-host: %llu frames, %.1f fps, %s\n",
               static_cast<unsigned long long>(stats_.num_frames),
               stats_.wall_s > 0.0 ? static_cast<double>(stats_.num_frames) / stats_.wall_s : 0.0,
               renderer_->device().device_name().c_str());
  return code;
}

}  // namespace

int run_application(const Options& options) {
  Application application(options);
  auto outcome = application.start();
  if (outcome.ok()) {
    outcome = application.loop();
  }
  return application.finish(std::move(outcome));
}

}  // namespace ifr::host
