// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "options.h"

namespace ifr::host {
namespace {

std::variant<Options, int> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "interframe-host");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

int exit_of(std::vector<const char*> arguments) {
  const auto result = parse(std::move(arguments));
  const int* code = std::get_if<int>(&result);
  return code != nullptr ? *code : -1;
}

TEST(Options, UsageOfTheDemo) {
  const auto result = parse({"--headless", "--frames", "30", "--size", "640x360", "--prompt", "hi",
                             "--model", "m.gguf", "--screenshot", "a.png", "--report", "a.json",
                             "--validation", "--seed", "0"});
  const Options* options = std::get_if<Options>(&result);
  ASSERT_NE(options, nullptr);
  EXPECT_TRUE(options->is_headless);
  EXPECT_EQ(options->num_frames, 30u);
  EXPECT_EQ(options->width, 640u);
  EXPECT_EQ(options->height, 360u);
  EXPECT_EQ(options->prompt, "hi");
  EXPECT_TRUE(options->validates);
  EXPECT_EQ(options->seed, std::optional<uint64_t>{0});
}

TEST(Options, HeadlessEndsByItself) {
  const auto plain = parse({"--headless"});
  EXPECT_GT(std::get_if<Options>(&plain)->num_frames, 0u);
  const auto until_done = parse({"--headless", "--until-done"});
  EXPECT_EQ(std::get_if<Options>(&until_done)->num_frames, 1u);
  const auto windowed = parse({});
  EXPECT_EQ(std::get_if<Options>(&windowed)->num_frames, 0u);
}

TEST(Options, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(exit_of({"--help"}), kExitOk);
  EXPECT_EQ(exit_of({"--no-such-option"}), kExitUsage);
  EXPECT_EQ(exit_of({"--frames", "0"}), kExitUsage);
  EXPECT_EQ(exit_of({"--frames", "-1"}), kExitUsage);
  EXPECT_EQ(exit_of({"--frames", "many"}), kExitUsage);
  EXPECT_EQ(exit_of({"--max-tokens", "0"}), kExitUsage);
  EXPECT_EQ(exit_of({"--threads", "257"}), kExitUsage);
  EXPECT_EQ(exit_of({"--temperature", "-1"}), kExitUsage);
  EXPECT_EQ(exit_of({"--temperature", "nan"}), kExitUsage);
  EXPECT_EQ(exit_of({"--msaa", "3"}), kExitUsage);
  EXPECT_EQ(exit_of({"--backend", "tpu"}), kExitUsage);
  EXPECT_EQ(exit_of({"--size", "0x0"}), kExitUsage);
  EXPECT_EQ(exit_of({"--script", "x"}), kExitUsage);
}

TEST(Options, Sizes) {
  EXPECT_EQ(parse_size("1x1"), (std::pair{1u, 1u}));
  EXPECT_EQ(parse_size("16384x16384"), (std::pair{16384u, 16384u}));
  for (const char* wrong : {"", "x", "640", "640x", "x480", "0x480", "640x0", "16385x1", "-1x5",
                            "640X480", "640x480 ", "99999999999x1", "1.5x2"}) {
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  }
}

TEST(Options, ScriptsAreSortedAndChecked) {
  auto script = parse_script("30:close,5:size=320x200,7:ask=why?,7:cancel");
  ASSERT_TRUE(script.ok());
  ASSERT_EQ(script.value().size(), 4u);
  EXPECT_EQ(script.value()[0].action, ScriptStep::Action::kSize);
  EXPECT_EQ(script.value()[0].width, 320u);
  EXPECT_EQ(script.value()[1].text, "why?");
  EXPECT_EQ(script.value()[2].action, ScriptStep::Action::kCancel);
  EXPECT_EQ(script.value()[3].frame, 30u);
  EXPECT_TRUE(parse_script("").ok());
  for (const char* wrong : {"close", "x:close", "5:", "5:jump", "5:size=3", "-1:close"}) {
    EXPECT_FALSE(parse_script(wrong).ok()) << wrong;
  }
}

TEST(Options, EveryErrorHasAnExitCode) {
  EXPECT_EQ(exit_code_of(ErrorCode::kNoDevice), kExitNoDevice);
  EXPECT_EQ(exit_code_of(ErrorCode::kNoWindow), kExitNoDevice);
  EXPECT_EQ(exit_code_of(ErrorCode::kDeviceLost), kExitGraphics);
  EXPECT_EQ(exit_code_of(ErrorCode::kIo), kExitFile);
  EXPECT_EQ(exit_code_of(ErrorCode::kPlugin), kExitModel);
}

}  // namespace
}  // namespace ifr::host
