// SPDX-License-Identifier: Apache-2.0
// Text that comes from a file: is it UTF-8, and how it is shown in a message.
#pragma once

#include <string>
#include <string_view>

namespace ifr {

[[nodiscard]] bool is_valid_utf8(std::string_view text);

// For messages: control bytes and invalid bytes as \xNN, at most `max_bytes` of the text, then
// "...".
[[nodiscard]] std::string printable(std::string_view text, size_t max_bytes = 80);

}  // namespace ifr
