// SPDX-License-Identifier: Apache-2.0
#include "model/utf8.h"

#include <cassert>

namespace ifr {
namespace {

struct LeadByte {
  size_t size_bytes = 0;  // of the character; 0: no character begins so
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xBF;
};

LeadByte lead_byte(uint8_t byte) {
  if (byte < 0x80) {
    return {.size_bytes = 1};
  }
  if (byte < 0xC2 || byte > 0xF4) {
    return {};
  }
  if (byte < 0xE0) {
    return {.size_bytes = 2};
  }
  if (byte < 0xF0) {
    const uint8_t second_min = byte == 0xE0 ? 0xA0 : 0x80;  // below: overlong
    const uint8_t second_max = byte == 0xED ? 0x9F : 0xBF;  // above: surrogates
    return {.size_bytes = 3, .second_min = second_min, .second_max = second_max};
  }
  const uint8_t second_min = byte == 0xF0 ? 0x90 : 0x80;  // below: overlong
  const uint8_t second_max = byte == 0xF4 ? 0x8F : 0xBF;  // above: more than U+10FFFF
  return {.size_bytes = 4, .second_min = second_min, .second_max = second_max};
}

}  // namespace

Utf8Piece first_utf8_piece(std::string_view bytes) {
  assert(!bytes.empty());
  const LeadByte lead = lead_byte(static_cast<uint8_t>(bytes[0]));
  if (lead.size_bytes == 0) {
    return {Utf8Kind::kInvalid, 1};
  }
  for (size_t i = 1; i < lead.size_bytes; ++i) {
    if (i == bytes.size()) {
      return {Utf8Kind::kIncomplete, i};
    }
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    const uint8_t min = i == 1 ? lead.second_min : 0x80;
    const uint8_t max = i == 1 ? lead.second_max : 0xBF;
    if (byte < min || byte > max) {
      return {Utf8Kind::kInvalid, i};
    }
  }
  return {Utf8Kind::kCharacter, lead.size_bytes};
}

std::optional<size_t> find_invalid_utf8(std::string_view bytes) {
  size_t offset = 0;
  while (offset < bytes.size()) {
    const Utf8Piece piece = first_utf8_piece(bytes.substr(offset));
    if (piece.kind != Utf8Kind::kCharacter) {
      return offset;
    }
    offset += piece.size_bytes;
  }
  return std::nullopt;
}

uint32_t code_point_of(std::string_view character) {
  assert(first_utf8_piece(character).size_bytes == character.size());
  const uint32_t first = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) {
    return first;
  }
  // The lead byte of an n-byte character carries 7 - n bits, each further byte 6.
  uint32_t value = first & (0x7Fu >> character.size());
  for (const char byte : character.substr(1)) {
    value = (value << 6) | (static_cast<uint8_t>(byte) & 0x3Fu);
  }
  return value;
}

}  // namespace ifr
