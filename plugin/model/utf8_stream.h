// SPDX-License-Identifier: Apache-2.0
// Turns the bytes of tokens, which may cut a character anywhere, into text that never does.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace ifr {

// Each character comes out with the byte that completes it. Bytes that can no longer become one
// come out as U+FFFD at once, one for each maximal run that began like a character. The text is the
// same however the bytes were cut into push calls. Not thread-safe; allocates only when `out` grows
// (by at most 3 bytes for each byte pushed, and 3 at the end).
class Utf8Stream {
 public:
  void push(std::string_view bytes, std::string& out);

  // The end of the bytes: a held-back beginning of a character comes out as one U+FFFD. The stream
  // is then as new.
  void finish(std::string& out);

  // The 0..3 raw bytes that wait for more; valid until the next call.
  [[nodiscard]] std::string_view pending() const { return {pending_.data(), num_pending_}; }

 private:
  std::array<char, 4> pending_ = {};
  size_t num_pending_ = 0;
};

}  // namespace ifr
