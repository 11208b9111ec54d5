// SPDX-License-Identifier: Apache-2.0
// The host's log sink, passed by its owner; nothing in the plugin prints.
#pragma once

#include <cstdint>

namespace ifr {

// Values equal IFR_LOG_* of interframe.h.
enum class LogLevel : int32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

struct LogSink {
  // NUL-terminated UTF-8, valid during the call. May be called from the plugin's own threads,
  // several at once.
  using Callback = void (*)(void* user, int32_t level, const char* message);

  Callback callback = nullptr;  // null: messages are dropped
  void* user = nullptr;
  LogLevel threshold = LogLevel::kInfo;

  void write(LogLevel level, const char* format, ...) const __attribute__((format(printf, 3, 4)));
};

}  // namespace ifr
