// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <cstdarg>
#include <cstdio>

namespace ifr {

Status make_error(Code code, Part part, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  const int written = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (written < 0) {
    return {code, part, "the error's text could not be formatted"};
  }
  std::string message(text);
  if (static_cast<size_t>(written) >= sizeof text) {
    // Cut inside a character: drop its leading bytes too.
    while (!message.empty() && (static_cast<unsigned char>(message.back()) & 0xC0U) == 0x80U) {
      message.pop_back();
    }
    if (!message.empty() && static_cast<unsigned char>(message.back()) >= 0xC0U) {
      message.pop_back();
    }
  }
  return {code, part, std::move(message)};
}

}  // namespace ifr
