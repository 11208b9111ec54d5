// SPDX-License-Identifier: Apache-2.0
#include "base/platform.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

namespace ifr {
namespace {

class PlatformFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("ifr_platform_" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string make(const char* name, const std::string& contents) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << contents;
    return path.string();
  }

  std::filesystem::path folder_;
};

TEST_F(PlatformFile, UsageReadsByPosition) {
  Expected<File> file = File::open(make("a", "0123456789"));
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  EXPECT_EQ(file->size_bytes(), 10U);
  std::array<std::byte, 4> out{};
  ASSERT_TRUE(file->read(6, out).is_ok());
  EXPECT_EQ(static_cast<char>(out[0]), '6');
  EXPECT_EQ(static_cast<char>(out[3]), '9');
  EXPECT_TRUE(file->read(10, std::span<std::byte>()).is_ok());
  const Status past = file->read(7, out);
  EXPECT_EQ(past.code(), Code::kIo);
  EXPECT_EQ(file->read(~uint64_t{0} - 1, out).code(), Code::kIo);
}

TEST_F(PlatformFile, CutAfterOpenIsAnErrorNotASignal) {
  const std::string path = make("b", std::string(100'000, 'x'));
  Expected<File> file = File::open(path);
  ASSERT_TRUE(file.is_ok());
  std::filesystem::resize_file(path, 50'000);
  std::array<std::byte, 16> out{};
  EXPECT_TRUE(file->read(1000, out).is_ok());
  const Status cut = file->read(90'000, out);
  EXPECT_EQ(cut.code(), Code::kIo);
  EXPECT_NE(cut.message().find("90000"), std::string::npos) << cut.message();
}

TEST_F(PlatformFile, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(File::open("").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(File::open(std::string("a\0b", 3)).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(File::open((folder_ / "none").string()).status().code(), Code::kNotFound);
  EXPECT_EQ(File::open(folder_.string()).status().code(), Code::kInvalidArgument);
  const std::string fifo = (folder_ / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(File::open(fifo).status().code(),
            Code::kInvalidArgument);  // and does not wait for a writer
}

TEST_F(PlatformFile, MovesOwnership) {
  Expected<File> opened = File::open(make("c", "abc"));
  ASSERT_TRUE(opened.is_ok());
  File first = std::move(opened).value();
  File second = std::move(first);
  std::array<std::byte, 3> out{};
  EXPECT_TRUE(second.read(0, out).is_ok());
  EXPECT_EQ(second.size_bytes(), 3U);
}

TEST(Platform, LibrariesSayWhyTheyDoNotOpen) {
  const Expected<SharedLibrary> none = SharedLibrary::open("libifr_that_is_not_there.so.1");
  ASSERT_FALSE(none.is_ok());
  EXPECT_NE(none.status().message().find("libifr_that_is_not_there"), std::string::npos);
  Expected<SharedLibrary> libm = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(libm.is_ok()) << libm.status().message();
  EXPECT_NE(libm->symbol("cos"), nullptr);
  EXPECT_EQ(libm->symbol("ifr_no_such_symbol"), nullptr);
}

TEST(Platform, PriorityIsOfTheThreadAlone) {
  const int before = getpriority(PRIO_PROCESS, 0);
  int inside = before;
  std::thread([&] {
    EXPECT_TRUE(set_current_thread_priority(ThreadPriority::kLowest));
    inside = getpriority(PRIO_PROCESS, 0);
  }).join();
  EXPECT_GE(inside, 15);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before);
}

TEST(Platform, ClockCoresMemory) {
  const uint64_t first = monotonic_ns();
  EXPECT_GE(monotonic_ns(), first);
  EXPECT_GE(num_usable_cores(), 1);
  EXPECT_GT(physical_memory_bytes(), uint64_t{1} << 28);
  EXPECT_NE(random_seed(), random_seed());
  EXPECT_TRUE(is_directory("."));
  EXPECT_FALSE(is_regular_file("."));
}

}  // namespace
}  // namespace ifr
