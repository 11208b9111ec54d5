// SPDX-License-Identifier: Apache-2.0
// The vocabulary as it stands in a GGUF file: plain data, checked, not yet a tokenizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ifr {

// Values are those of `tokenizer.ggml.token_type`.
enum class TokenType : uint8_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,  // its text is "<0xHH>" (checked)
};

// What the reader promises:
// - tokens is not empty; types has its length; scores has its length or is empty;
// - every id below is inside tokens; every token is valid UTF-8;
// - every merge is "left right" with one space between two texts of the vocabulary whose
//   concatenation is in it too.
// What it does not promise, because real files break it: texts may repeat (the lowest id is the one
// that encoding produces; each decodes to its text) and may be empty (never produced by encoding).
// ModelConfig::vocab_size() may be larger than tokens.size(): such padding ids have no text.
struct TokenizerData {
  std::string model;  // `tokenizer.ggml.model`: "gpt2" (byte-level BPE), "llama" (SentencePiece)
  std::string pre;    // `tokenizer.ggml.pre`, the pattern that splits text; "" when absent
  std::vector<std::string> tokens;  // by id
  std::vector<TokenType> types;     // by id; all kNormal when the file has none
  std::vector<float> scores;        // by id, finite; empty when the file has none
  std::vector<std::string> merges;  // by rank, best first
  std::optional<int32_t> bos_id;
  std::optional<int32_t> eos_id;
  std::optional<int32_t> eot_id;  // end of a chat turn
  std::optional<int32_t> unk_id;
  std::optional<int32_t> pad_id;
  bool add_bos = false;           // absent: true for "llama", else false
  bool add_eos = false;           // absent: false
  bool add_space_prefix = false;  // absent: true for "llama", else false
  std::string chat_template;      // Jinja text, "" when absent

  [[nodiscard]] int32_t num_tokens() const { return static_cast<int32_t>(tokens.size()); }
};

}  // namespace ifr
