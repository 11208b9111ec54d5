// SPDX-License-Identifier: Apache-2.0
// The command line of interframe-host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gfx/result.h"

namespace ifr::host {

/// Exit status of the program.
enum ExitCode : int {
  kExitOk = 0,
  kExitUsage = 2,       // wrong command line
  kExitNoDevice = 3,    // no Vulkan 1.3 device, or no window system and not --headless
  kExitGraphics = 4,    // Vulkan failed while running
  kExitModel = 5,       // the model or the plugin refused; frames were drawn all the same
  kExitValidation = 6,  // the validation layer said something
  kExitFile = 7,        // screenshot or report could not be written
  kExitTimeLimit = 8,   // --until-done: the answer was not complete within --time-limit
};
[[nodiscard]] int exit_code_of(ErrorCode code);

/// What a script does at a frame; for tests of the window.
struct ScriptStep {
  enum class Action { kSize, kMinimise, kRestore, kClose, kAsk, kCancel };
  uint64_t frame = 0;
  Action action = Action::kClose;
  uint32_t width = 0;
  uint32_t height = 0;
  std::string text;
};

struct Options {
  bool is_headless = false;
  uint64_t num_frames = 0;  // 0: until closed, or until done
  uint32_t width = 1280;
  uint32_t height = 720;
  std::string prompt;
  std::string model_path;
  std::string plugin_path;
  std::string backend = "cpu";
  std::string screenshot_path;
  std::string report_path;
  bool validates = false;
  bool until_done = false;
  double time_limit_s = 300.0;
  int32_t max_tokens = 192;
  float temperature = 0.0f;
  std::optional<uint64_t> seed;
  bool is_raw = false;
  int32_t num_threads = 0;
  double fps_limit = 0.0;  // 0: none
  bool is_realtime = false;
  bool is_unpaced = false;
  double start_hour = 17.8;
  double day_length_s = 480.0;
  uint32_t num_samples = 0;
  bool hides_overlay = false;
  std::vector<ScriptStep> script;
};

/// The options, or the exit code with which to end at once (help and errors have been printed).
[[nodiscard]] std::variant<Options, int> parse_options(int argc, const char* const* argv);

/// "WxH" with both in 1..16384.
[[nodiscard]] std::optional<std::pair<uint32_t, uint32_t>> parse_size(const std::string& text);
/// "FRAME:ACTION,..." with size=WxH, minimise, restore, close, ask=TEXT, cancel.
[[nodiscard]] Result<std::vector<ScriptStep>> parse_script(const std::string& text);

}  // namespace ifr::host
