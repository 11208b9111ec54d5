// SPDX-License-Identifier: Apache-2.0
#include "model/text_check.h"

#include <cstdint>
#include <cstdio>

#include "model/utf8.h"

namespace ifr {

bool is_valid_utf8(std::string_view text) {
  return !find_invalid_utf8(text).has_value();
}

std::string printable(std::string_view text, size_t max_bytes) {
  std::string out;
  const size_t full_len = text.size();
  while (!text.empty()) {
    const bool is_character = first_utf8_piece(text).kind == Utf8Kind::kCharacter;
    const size_t taken = is_character ? first_utf8_piece(text).size_bytes : 1;
    if (full_len - text.size() + taken > max_bytes) {
      return out + "...";
    }
    const auto first = static_cast<uint8_t>(text[0]);
    if (!is_character || first < 0x20 || first == 0x7F) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02X", first);
      out += escaped;
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace ifr
