// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ifr {
namespace {

TEST(LogSink, UsageFiltersByThreshold) {
  std::vector<std::string> lines;
  LogSink sink;
  sink.user = &lines;
  sink.threshold = LogLevel::kWarning;
  sink.callback = [](void* user, int32_t level, const char* message) {
    static_cast<std::vector<std::string>*>(user)->push_back(std::to_string(level) + message);
  };
  sink.write(LogLevel::kInfo, "not kept");
  sink.write(LogLevel::kError, "%d of %s", 3, "four");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "33 of four");
  LogSink{}.write(LogLevel::kError, "nobody listens");
}

}  // namespace
}  // namespace ifr
