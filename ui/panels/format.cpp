// SPDX-License-Identifier: Apache-2.0
#include "panels/format.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace ifr::overlay {
namespace {

/// `value` with three digits that count, then `unit`.
ShortText three_digits(double value, const char* unit) {
  const double size = std::fabs(value);
  if (size >= 99.95) {
    return format_text("%.0f%s", value, unit);
  }
  if (size >= 9.995) {
    return format_text("%.1f%s", value, unit);
  }
  return format_text("%.2f%s", value, unit);
}

/// Bytes of the UTF-8 character at the start of `bytes`, 0 when there is no valid one.
size_t utf8_length(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  size_t length = 0;
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
  }
  if (length == 0 || bytes.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const unsigned second = at(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

ShortText format_text(const char* format, ...) {
  ShortText text;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.chars.data(), text.chars.size(), format, arguments);
  va_end(arguments);
  return text;
}

ShortText format_number(double value) {
  const double size = std::fabs(value);
  if (!std::isfinite(value)) {
    return format_text("-");
  }
  if (size >= 999.5e9) {
    return three_digits(value / 1e12, "T");
  }
  if (size >= 999.5e6) {
    return three_digits(value / 1e9, "G");
  }
  if (size >= 999.5e3) {
    return three_digits(value / 1e6, "M");
  }
  if (size >= 9999.5) {
    return three_digits(value / 1e3, "k");
  }
  if (size >= 999.5) {
    const auto whole = static_cast<int>(std::lround(size));
    return format_text("%s%d,%03d", value < 0 ? "-" : "", whole / 1000, whole % 1000);
  }
  return three_digits(value, "");
}

ShortText format_count(uint64_t count) {
  return count < 1000 ? format_text("%d", static_cast<int>(count))
                      : format_number(static_cast<double>(count));
}

ShortText format_bytes(uint64_t num_bytes) {
  constexpr double kKibi = 1024.0;
  const auto value = static_cast<double>(num_bytes);
  if (num_bytes < 1024) {
    return format_text("%d B", static_cast<int>(num_bytes));
  }
  // 999.5: so that rounding never shows four digits where the next unit is near.
  if (value < 999.5 * kKibi) {
    return three_digits(value / kKibi, " KiB");
  }
  if (value < 999.5 * kKibi * kKibi) {
    return three_digits(value / (kKibi * kKibi), " MiB");
  }
  if (value < 999.5 * kKibi * kKibi * kKibi) {
    return three_digits(value / (kKibi * kKibi * kKibi), " GiB");
  }
  return three_digits(value / (kKibi * kKibi * kKibi * kKibi), " TiB");
}

ShortText format_duration_ns(double ns) {
  if (!std::isfinite(ns) || ns < 0) {
    return format_text("-");
  }
  if (ns < 999.5) {
    return format_text("%.0f ns", ns);
  }
  if (ns < 999.5e3) {
    return three_digits(ns / 1e3, " \xC2\xB5s");
  }
  if (ns < 999.5e6) {
    return three_digits(ns / 1e6, " ms");
  }
  return three_digits(ns / 1e9, " s");
}

std::string printable_utf8(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = utf8_length(bytes);
    const auto first = static_cast<unsigned char>(bytes[0]);
    if (length == 0) {
      text += "\xEF\xBF\xBD";
      bytes.remove_prefix(1);
      continue;
    }
    if (first == '\n') {
      text += "\\n";
    } else if (first == '\t') {
      text += "\\t";
    } else if (first == '\r') {
      text += "\\r";
    } else if (first < 0x20 || first == 0x7F) {
      text += "\\x";
      text += kHex[first >> 4U];
      text += kHex[first & 0xFU];
    } else {
      text.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(length);
  }
  return text;
}

}  // namespace ifr::overlay
