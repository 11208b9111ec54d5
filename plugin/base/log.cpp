// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <cstdarg>
#include <cstdio>

namespace ifr {

void LogSink::write(LogLevel level, const char* format, ...) const {
  if (callback == nullptr || level < threshold) {
    return;
  }
  char text[1024];
  va_list args;
  va_start(args, format);
  const int written = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (written >= 0) {
    callback(user, static_cast<int32_t>(level), text);
  }
}

}  // namespace ifr
