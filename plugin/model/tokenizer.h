// SPDX-License-Identifier: Apache-2.0
// Text to token ids and back: byte-level BPE as GGUF files hold it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/bpe.h"
#include "model/tokenizer_data.h"
#include "model/tokenizer_pattern.h"

namespace ifr {

enum class SpecialTokens {
  kPlain,  // names of control tokens in the text stay text: never gives a control token
  kParse,  // they become those tokens; only for text that its author may steer the model with
};

// A stretch of a text for Tokenizer::encode_parts.
struct TextPart {
  size_t size_bytes = 0;
  SpecialTokens special = SpecialTokens::kPlain;
  std::optional<std::span<const int32_t>> ids;  // stand in place of the part's text; not copied
};

enum class ControlText {
  kOmit,
  kKeep,  // control tokens come out as their names
};

// Immutable: every function may be called from any thread, none throws.
//
// User-defined tokens are taken whole wherever their text stands, in both modes; the leftmost
// first, of those the longest. Everything else is cut into words by the file's pattern and merged
// byte by byte. decode(encode(text)) gives the text back byte for byte, with one exception: where
// the vocabulary lacks a byte of a character (SmolLM2's lacks those of U+40000..U+BFFFF and of six
// control characters), the character becomes one unknown token if the file names one that is no
// control token, and is refused by name otherwise.
class Tokenizer {
 public:
  // `data` is not kept. Errors: kUnsupported (another tokenizer model or pattern, named together
  // with what is supported), kInvalidFile (merges of control tokens, mismatching lengths).
  [[nodiscard]] static Expected<Tokenizer> create(const TokenizerData& data);

  // The ids of `text`, nothing added at either end; the length counts, NUL is a character. Time:
  // n log n. Errors, all kInvalidArgument: invalid UTF-8 (with the offset of the first such byte;
  // nothing is ever replaced silently), a character without tokens, more than 2^30 bytes.
  [[nodiscard]] Expected<std::vector<int32_t>> encode(std::string_view text,
                                                      SpecialTokens special) const;

  // As encode, with the beginning-of-sequence token before it if the file asks for one and the
  // text does not begin with it. No end token is ever added.
  [[nodiscard]] Expected<std::vector<int32_t>> encode_prompt(std::string_view text,
                                                             SpecialTokens special) const;

  // The ids of a text of several origins. `parts` follow one another and cover it. Parts without
  // ids are one text: words and merges cross their borders as if there were none, but a control
  // token stands only where its whole name lies in kParse parts. Errors as encode's;
  // kInvalidArgument when the parts do not cover the text or an id is outside the vocabulary.
  [[nodiscard]] Expected<std::vector<int32_t>> encode_parts(std::string_view text,
                                                            std::span<const TextPart> parts) const;

  // What encode(prefix + text, kPlain) gives; offsets in errors count from `text`'s first byte.
  [[nodiscard]] Expected<std::vector<int32_t>> encode_joined(std::string_view prefix,
                                                             std::string_view text) const;

  // The bytes of the ids, which may cut characters. kInvalidArgument: an id outside the vocabulary.
  [[nodiscard]] Expected<std::string> decode(std::span<const int32_t> ids,
                                             ControlText control) const;

  // The bytes of one token, a control token's name; empty for ids outside the vocabulary (models
  // pad theirs). Valid as long as the tokenizer.
  [[nodiscard]] std::string_view token_bytes(int32_t id) const;
  [[nodiscard]] bool is_control(int32_t id) const;       // false outside the vocabulary
  [[nodiscard]] bool is_user_defined(int32_t id) const;  // false outside the vocabulary

  [[nodiscard]] int32_t num_tokens() const { return static_cast<int32_t>(types_.size()); }
  // The control token of that name.
  [[nodiscard]] std::optional<int32_t> find_control(std::string_view name) const;
  // The beginning-of-sequence token if each prompt begins with it.
  [[nodiscard]] std::optional<int32_t> prompt_bos() const { return prompt_bos_; }
  // Tokens that end an answer: the file's end of sequence and end of turn, <|endoftext|> and
  // <|im_end|> where they are control tokens. Ascending, each once; may be empty.
  [[nodiscard]] std::span<const int32_t> end_tokens() const { return end_tokens_; }

 private:
  friend class TokenizerBuilder;

  // A token that is looked for in the text itself, not made by merging.
  struct WholeToken {
    std::string text;
    int32_t id = 0;
  };
  struct Match {
    int32_t id = 0;
    size_t begin = 0;
    size_t end = 0;
  };
  struct Encoding;
  // The bytes [begin, end) of a text whose control tokens become ids.
  struct ParsedRange {
    size_t begin = 0;
    size_t end = 0;
  };

  explicit Tokenizer(SplitPattern pattern) : pattern_(std::move(pattern)) {}

  [[nodiscard]] Status check_id(int32_t id) const;
  [[nodiscard]] Expected<std::vector<int32_t>> encode_checked(std::string_view text,
                                                              SpecialTokens special,
                                                              size_t prefix_bytes) const;
  // `parsed`: ascending, apart from each other.
  [[nodiscard]] Expected<std::vector<int32_t>> encode_ranges(std::string_view text,
                                                             std::span<const ParsedRange> parsed,
                                                             size_t prefix_bytes) const;
  [[nodiscard]] std::optional<Match> find_whole_token(std::string_view text, size_t begin,
                                                      std::span<const ParsedRange> parsed) const;
  [[nodiscard]] std::optional<Match> longest_at(std::string_view text, size_t begin,
                                                std::span<const ParsedRange> parsed) const;
  [[nodiscard]] Status encode_words(Encoding& encoding, size_t begin, size_t end) const;
  [[nodiscard]] Status encode_word(Encoding& encoding, size_t begin, size_t end) const;

  SplitPattern pattern_;
  BpeMerges merges_;
  std::array<int32_t, 256> byte_ids_ = {};  // the token of each single byte, -1 where there is none
  std::optional<int32_t> unk_id_;           // only if not a control token
  std::vector<WholeToken> whole_tokens_;    // sorted by text, texts differ
  std::array<bool, 256> whole_first_ = {};  // the bytes that texts of whole_tokens_ begin with
  std::vector<TokenType> types_;            // by id
  std::string bytes_;                       // of all tokens, one after another
  std::vector<size_t> bytes_end_;           // by id: offset into bytes_ where the token ends
  std::optional<int32_t> prompt_bos_;
  std::vector<int32_t> end_tokens_;
};

}  // namespace ifr
