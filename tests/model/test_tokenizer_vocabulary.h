// SPDX-License-Identifier: Apache-2.0
// A byte-level vocabulary small enough to read: three control tokens, the 256 bytes, some merges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/tokenizer_data.h"

namespace ifr::test {

inline constexpr int32_t kEndOfText = 0;
inline constexpr int32_t kTurnStart = 1;
inline constexpr int32_t kTurnEnd = 2;
inline constexpr int32_t kFirstByte = 3;  // byte b is token kFirstByte + b

inline constexpr std::string_view kChatMl =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] "
    "+ '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\\n' }}{% endif %}";

// How byte-level vocabularies spell `byte`; written from the rule, not from the code under test.
inline std::string spelling_of(uint32_t byte) {
  const auto is_printable = [](uint32_t value) {
    return (value > 32 && value < 127) || (value > 160 && value != 173);
  };
  uint32_t code_point = byte;
  if (!is_printable(byte)) {
    code_point = 256;
    for (uint32_t other = 0; other < byte; ++other) {
      code_point += is_printable(other) ? 0 : 1;
    }
  }
  if (code_point < 128) {
    return {static_cast<char>(code_point)};
  }
  return {static_cast<char>(0xC0 | (code_point >> 6)),
          static_cast<char>(0x80 | (code_point & 0x3F))};
}

inline std::string spell(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += spelling_of(static_cast<uint8_t>(byte));
  }
  return text;
}

inline void add_merge(TokenizerData& data, std::string_view left, std::string_view right) {
  data.merges.push_back(spell(left) + " " + spell(right));
  data.tokens.push_back(spell(left) + spell(right));
  data.types.push_back(TokenType::kNormal);
}

inline void add_token(TokenizerData& data, std::string text, TokenType type) {
  data.tokens.push_back(std::move(text));
  data.types.push_back(type);
}

inline TokenizerData small_vocabulary() {
  TokenizerData data;
  data.model = "gpt2";
  data.pre = "smollm";
  for (const char* name : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) {
    add_token(data, name, TokenType::kControl);
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    add_token(data, spelling_of(byte), TokenType::kNormal);
  }
  add_merge(data, "h", "e");            // 259
  add_merge(data, "l", "l");            // 260
  add_merge(data, "he", "ll");          // 261
  add_merge(data, "hell", "o");         // 262
  add_merge(data, " ", "w");            // 263
  add_merge(data, "a", "a");            // 264
  add_merge(data, "aa", "aa");          // 265
  add_merge(data, "\n", "\n");          // 266
  add_merge(data, "<", "|");            // 267
  add_merge(data, "\xF0", "\x9F");      // 268
  add_merge(data, "\xF0\x9F", "\x98");  // 269: how many emoji begin
  data.eos_id = kEndOfText;
  data.chat_template = std::string(kChatMl);
  return data;
}

}  // namespace ifr::test
