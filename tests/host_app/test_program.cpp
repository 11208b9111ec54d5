// SPDX-License-Identifier: Apache-2.0
// interframe-host as a user starts it: pictures, reports, exit codes, and windows under Xvfb.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "gfx/device.h"
#include "gfx/readback.h"
#include "options.h"

namespace ifr::host {
namespace {

using nlohmann::json;

constexpr const char* kMicro = IFR_SOURCE_DIR "/assets/micro";

class HostProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    auto probe = create_device({});
    if (!probe.ok()) {
      GTEST_SKIP() << "no Vulkan 1.3 device (install mesa-vulkan-drivers): "
                   << probe.error().message;
    }
    folder_ = std::filesystem::temp_directory_path() /
              ("interframe_host_" + std::to_string(::getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) {
      std::filesystem::remove_all(folder_);
    }
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  /// Runs the program through a shell; `before` goes in front (an environment, xvfb-run). Output
  /// lands in `output`.
  int run(const std::string& arguments,
          const std::string& before = "env -u DISPLAY -u WAYLAND_DISPLAY") {
    const std::string command =
        before + " " + IFR_HOST_PROGRAM + " " + arguments + " > '" + path("output") + "' 2>&1";
    const int status = std::system(command.c_str());
    std::ostringstream text;
    text << std::ifstream(path("output")).rdbuf();
    output = text.str();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] json report() const {
    std::ifstream file(path("report.json"));
    return json::parse(file, nullptr, false);
  }
  [[nodiscard]] std::string report_option() const {
    return " --report '" + path("report.json") + "'";
  }

  std::string output;

 private:
  std::filesystem::path folder_;
};

std::string xvfb() {
  return std::system("command -v xvfb-run > /dev/null 2>&1") == 0
             ? "xvfb-run -a -s '-screen 0 1280x1024x24' env -u WAYLAND_DISPLAY"
             : "";
}

#define IFR_SKIP_WITHOUT_XVFB() \
  if (xvfb().empty())           \
  GTEST_SKIP() << "xvfb-run is not installed (package xvfb)"

TEST_F(HostProgram, DrawsAPictureWithoutADisplay) {
  ASSERT_EQ(run("--headless --frames 4 --size 320x180 --validation --screenshot '" + path("a.png") +
                "'" + report_option()),
            kExitOk)
      << output;
  auto picture = read_png(path("a.png"));
  ASSERT_TRUE(picture.ok()) << picture.error().message;
  EXPECT_EQ(picture.value().width, 320u);
  EXPECT_EQ(picture.value().height, 180u);
  std::set<uint32_t> colors;
  double sum = 0.0;
  double squares = 0.0;
  const auto& rgba = picture.value().rgba;
  for (size_t pixel = 0; pixel < rgba.size(); pixel += 4) {
    colors.insert(rgba[pixel] << 16 | rgba[pixel + 1] << 8 | rgba[pixel + 2]);
    sum += rgba[pixel + 1];
    squares += rgba[pixel + 1] * rgba[pixel + 1];
  }
  const double count = static_cast<double>(rgba.size()) / 4.0;
  EXPECT_GT(colors.size(), 500u);
  EXPECT_GT(std::sqrt(squares / count - sum * sum / (count * count)), 15.0)
      << "the picture is nearly flat";
  const json numbers = report();
  ASSERT_FALSE(numbers.is_discarded());
  EXPECT_EQ(numbers["frames"], 4);
  EXPECT_EQ(numbers["validation"]["messages"], 0);
  EXPECT_EQ(numbers["size"]["width"], 320);
  EXPECT_GT(numbers["fps"].get<double>(), 0.0);
  for (const char* pass : {"shadow", "scene", "interface"}) {
    EXPECT_TRUE(numbers["passes"].contains(pass));
  }
}

TEST_F(HostProgram, MicroModelAnswersWithIds) {
  if (!std::filesystem::exists(kMicro)) {
    GTEST_SKIP() << kMicro << " is not there";
  }
  ASSERT_EQ(run("--headless --frames 2 --until-done --size 320x180 --max-tokens 12 --prompt Hello "
                "--validation --model '" +
                std::string(kMicro) + "'" + report_option()),
            kExitOk)
      << output;
  const json numbers = report();
  ASSERT_FALSE(numbers.is_discarded());
  EXPECT_TRUE(numbers["answer"]["finished"]);
  EXPECT_GT(numbers["answer"]["tokens"].get<int>(), 0);
  const std::string text = numbers["answer"]["text"];
  EXPECT_EQ(text.find_first_not_of("0123456789 "), std::string::npos) << text;
  EXPECT_NE(output.find("> Hello\n" + text), std::string::npos) << output;
  EXPECT_GT(numbers["poll_us"]["count"].get<int>(), 0);
  EXPECT_EQ(numbers["validation"]["messages"], 0);
}

TEST_F(HostProgram, RefusedModelIsShownAndTold) {
  EXPECT_EQ(run("--headless --frames 30 --until-done --size 160x90 --prompt x --model '" +
                path("absent.gguf") + "'" + report_option()),
            kExitModel)
      << output;
  EXPECT_NE(output.find("absent.gguf"), std::string::npos) << output;
  const json numbers = report();
  EXPECT_EQ(numbers["model"]["state"], "failed");
  EXPECT_GE(numbers["frames"].get<int>(), 30) << "the scene goes on without the model";
  EXPECT_LE(numbers["frames"].get<int>(), 40) << "nothing is waited for that cannot come";
}

TEST_F(HostProgram, ExitCodesNameTheCause) {
  EXPECT_EQ(run("--frobnicate"), kExitUsage);
  EXPECT_EQ(run("--headless --frames 1 --size 64x64 --screenshot /nonexistent/a.png"), kExitFile)
      << output;
  EXPECT_NE(output.find("/nonexistent/a.png"), std::string::npos);
  EXPECT_EQ(run("--frames 1"), kExitNoDevice) << output;
  EXPECT_NE(output.find("--headless"), std::string::npos) << output;
  EXPECT_EQ(run("--headless --frames 1", "env -u DISPLAY VK_ICD_FILENAMES=/nonexistent.json"),
            kExitNoDevice)
      << output;
  EXPECT_NE(output.find("Vulkan"), std::string::npos) << output;
}

TEST_F(HostProgram, WindowSurvivesResizes) {
  IFR_SKIP_WITHOUT_XVFB();
  ASSERT_EQ(run("--frames 40 --no-vsync --size 640x400 --validation --script "
                "4:size=320x200,8:size=800x600,9:size=801x601,10:size=200x150,16:minimise,18:"
                "restore,22:size=500x300" +
                    report_option(),
                xvfb()),
            kExitOk)
      << output;
  const json numbers = report();
  EXPECT_EQ(numbers["size"]["width"], 500);
  EXPECT_EQ(numbers["size"]["height"], 300);
  EXPECT_GE(numbers["swapchain_rebuilds"].get<int>(), 4);
  EXPECT_EQ(numbers["validation"]["messages"], 0);
}

TEST_F(HostProgram, WindowClosesWhileGenerating) {
  IFR_SKIP_WITHOUT_XVFB();
  if (!std::filesystem::exists(kMicro)) {
    GTEST_SKIP() << kMicro << " is not there";
  }
  ASSERT_EQ(
      run("--no-vsync --size 320x200 --validation --max-tokens 4000 --prompt Hello --model '" +
              std::string(kMicro) + "' --script 12:cancel,14:ask=again,16:close" + report_option(),
          xvfb()),
      kExitOk)
      << output;
  EXPECT_EQ(report()["validation"]["messages"], 0);
}

}  // namespace
}  // namespace ifr::host
