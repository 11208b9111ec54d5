// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace ifr::host {
namespace {

constexpr uint32_t kMaxSize = 16384;  // what every Vulkan device of this class can draw to
constexpr const char* kFooter =
    "\nWithout --model the scene runs alone. F1 hides the panels.\n"
    "Exit status: 0 finished; 2 wrong command line; 3 no Vulkan 1.3 device or no window system; 4 "
    "Vulkan failed;\n"
    "5 model or plugin failed (frames were drawn all the same); 6 validation messages; 7 a file "
    "could not be written;\n"
    "8 the answer was not complete within --time-limit.";

template <class Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

Result<ScriptStep> parse_step(const std::string& text) {
  const auto wrong = [&](const char* reason) {
    return Error{ErrorCode::kBadArgument, "--script: \"" + text + "\": " + reason};
  };
  ScriptStep step;
  const size_t colon = text.find(':');
  if (colon == std::string::npos ||
      !parse_number(std::string_view(text).substr(0, colon), step.frame)) {
    return wrong("a step is FRAME:ACTION");
  }
  const std::string action = text.substr(colon + 1);
  if (action.rfind("size=", 0) == 0) {
    const auto size = parse_size(action.substr(5));
    if (!size) {
      return wrong("size=WxH needs two numbers in 1..16384");
    }
    step.action = ScriptStep::Action::kSize;
    std::tie(step.width, step.height) = *size;
  } else if (action.rfind("ask=", 0) == 0) {
    step.action = ScriptStep::Action::kAsk;
    step.text = action.substr(4);
  } else if (action == "minimise") {
    step.action = ScriptStep::Action::kMinimise;
  } else if (action == "restore") {
    step.action = ScriptStep::Action::kRestore;
  } else if (action == "cancel") {
    step.action = ScriptStep::Action::kCancel;
  } else if (action == "close") {
    step.action = ScriptStep::Action::kClose;
  } else {
    return wrong("the actions are size=WxH, minimise, restore, close, ask=TEXT and cancel");
  }
  return step;
}

struct Unparsed {
  std::string size = "1280x720";
  std::string script;
  uint64_t seed = 0;
};

void describe(CLI::App& app, Options& options, Unparsed& unparsed) {
  app.add_flag("--headless", options.is_headless, "Draw into images, with no window system at all");
  app.add_option("--frames", options.num_frames,
                 "Frames to draw (headless: 120 unless --until-done)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app.add_option("--size", unparsed.size, "Pixels of the window or image, WxH")
      ->capture_default_str();
  app.add_option("--prompt", options.prompt, "Asked as soon as the model is loaded");
  app.add_option("--model", options.model_path,
                 "A .gguf file, or a folder with config.json and safetensors");
  app.add_option("--plugin", options.plugin_path,
                 "The Interframe library (else: beside the program, ../lib)");
  app.add_option("--backend", options.backend, "Where the model runs")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--max-tokens", options.max_tokens, "Longest answer")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--temperature", options.temperature, "0 is greedy")
      ->check(CLI::Range(0.0f, 100.0f))
      ->capture_default_str();
  app.add_option("--seed", unparsed.seed, "Seed of the sampling (else drawn)");
  app.add_flag("--raw", options.is_raw,
               "Give the prompt to the model as it is, without its chat form");
  app.add_option("--threads", options.num_threads,
                 "CPU threads of the inference (0: one fewer than the cores)")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  app.add_flag("--until-done", options.until_done,
               "Go on until the answer is complete (and --frames are drawn)");
  app.add_option("--time-limit", options.time_limit_s, "Seconds after which --until-done gives up")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--screenshot", options.screenshot_path, "Write the last frame here, as PNG");
  app.add_option("--report", options.report_path, "Write measurements here, as JSON");
  app.add_flag("--validation", options.validates,
               "Run under VK_LAYER_KHRONOS_validation; any message fails the run");
  app.add_option("--fps-limit", options.fps_limit, "Frames a second at most (0: none)")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app.add_flag("--no-vsync", options.is_unpaced, "Do not wait for the display's refresh");
  app.add_flag("--realtime", options.is_realtime,
               "Headless: let time pass as it does, not 1/60 s a frame");
  app.add_option("--time-of-day", options.start_hour, "Hour at which the scene begins")
      ->check(CLI::Range(0.0, 24.0))
      ->capture_default_str();
  app.add_option("--day-length", options.day_length_s, "Seconds that a day of the scene takes")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  app.add_option("--msaa", options.num_samples, "Samples a pixel (0: 4 on a GPU, 1 on a CPU)")
      ->check(CLI::IsMember({0, 1, 2, 4, 8}))
      ->capture_default_str();
  app.add_flag("--no-overlay", options.hides_overlay, "Start with the profiler panels hidden");
  app.add_option("--script", unparsed.script)->group("");  // for tests
  app.footer(kFooter);
}

}  // namespace

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBadArgument:
      return kExitUsage;
    case ErrorCode::kNoDevice:
    case ErrorCode::kNoWindow:
      return kExitNoDevice;
    case ErrorCode::kDeviceLost:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kVulkan:
      return kExitGraphics;
    case ErrorCode::kIo:
      return kExitFile;
    case ErrorCode::kPlugin:
      return kExitModel;
  }
  return kExitGraphics;
}

std::optional<std::pair<uint32_t, uint32_t>> parse_size(const std::string& text) {
  const size_t cross = text.find('x');
  uint32_t width = 0;
  uint32_t height = 0;
  if (cross == std::string::npos || !parse_number(std::string_view(text).substr(0, cross), width) ||
      !parse_number(std::string_view(text).substr(cross + 1), height) || width == 0 ||
      height == 0 || width > kMaxSize || height > kMaxSize) {
    return std::nullopt;
  }
  return std::pair{width, height};
}

Result<std::vector<ScriptStep>> parse_script(const std::string& text) {
  std::vector<ScriptStep> steps;
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, ',')) {
    IFR_HOST_ASSIGN(ScriptStep step, parse_step(part));
    steps.push_back(std::move(step));
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const ScriptStep& a, const ScriptStep& b) { return a.frame < b.frame; });
  return steps;
}

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  Unparsed unparsed;
  CLI::App app(
      "Interframe's demo: a small Vulkan scene with a language model running between its frames.",
      "interframe-host");
  describe(app, options, unparsed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  // CLI11's ranges let NaN through.
  for (const double number : {static_cast<double>(options.temperature), options.time_limit_s,
                              options.fps_limit, options.start_hour, options.day_length_s}) {
    if (!std::isfinite(number)) {
      std::fprintf(stderr, "an option's number is not finite\n");
      return kExitUsage;
    }
  }
  const auto size = parse_size(unparsed.size);
  if (!size) {
    std::fprintf(stderr, "--size: \"%s\" is not WxH with both in 1..%u\n", unparsed.size.c_str(),
                 kMaxSize);
    return kExitUsage;
  }
  std::tie(options.width, options.height) = *size;
  auto script = parse_script(unparsed.script);
  if (!script.ok()) {
    std::fprintf(stderr, "%s\n", script.error().message.c_str());
    return kExitUsage;
  }
  options.script = std::move(script).value();
  if (app.count("--seed") > 0) {
    options.seed = unparsed.seed;
  }
  if (options.is_headless && options.num_frames == 0) {
    options.num_frames = options.until_done ? 1 : 120;
  }
  return options;
}

}  // namespace ifr::host
