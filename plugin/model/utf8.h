// SPDX-License-Identifier: Apache-2.0
// Reading UTF-8 one character at a time, as Unicode's table of well-formed byte sequences has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ifr {

// U+FFFD, what stands for bytes that are no character.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

enum class Utf8Kind {
  kCharacter,  // a whole, well-formed character
  kInvalid,    // bytes that begin no character: as long as a decoder would have gone on, at least 1
  kIncomplete,  // all given bytes, the beginning of a character that more bytes may complete
};

struct Utf8Piece {
  Utf8Kind kind = Utf8Kind::kInvalid;
  size_t size_bytes = 0;  // 1..4
};

// What stands at the front of `bytes` (not empty). Overlong forms, surrogates and values above
// U+10FFFF are invalid.
[[nodiscard]] Utf8Piece first_utf8_piece(std::string_view bytes);

// Offset of the first byte that is not part of a whole character; nothing when all are.
[[nodiscard]] std::optional<size_t> find_invalid_utf8(std::string_view bytes);

// The value of one whole, well-formed character.
[[nodiscard]] uint32_t code_point_of(std::string_view character);

}  // namespace ifr
