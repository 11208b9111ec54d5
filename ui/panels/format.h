// SPDX-License-Identifier: Apache-2.0
// Numbers and text for people. Numbers go into a small buffer by value: nothing is allocated for
// them.
#ifndef INTERFRAME_PANELS_FORMAT_H
#define INTERFRAME_PANELS_FORMAT_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ifr::overlay {

struct ShortText {
  std::array<char, 64> chars{};
  [[nodiscard]] const char* c_str() const { return chars.data(); }
};

/// printf into a ShortText, cut to its size.
ShortText format_text(const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/// 0.123, 1.23, 12.3, 123, 1,234, 12.3k, 1.23M: three digits that count; "-" when not finite.
ShortText format_number(double value);
/// Whole numbers: 0, 98, 1,184, then as format_number.
ShortText format_count(uint64_t count);
/// "512 B", "1.50 KiB", "12.3 MiB", "1.00 GiB".
ShortText format_bytes(uint64_t num_bytes);
/// "850 ns", "12.3 us" (with the micro sign), "4.56 ms", "1.20 s".
ShortText format_duration_ns(double ns);

/// `bytes` as valid UTF-8 on one line: bytes that are not UTF-8 become U+FFFD, control characters
/// their escapes.
std::string printable_utf8(std::string_view bytes);

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_FORMAT_H
