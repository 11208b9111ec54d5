// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer.h"

#include <algorithm>
#include <new>
#include <utility>

#include "model/utf8.h"

namespace ifr {
namespace {

// Keeps offsets inside a word within the 31 bits of BpeScratch.
constexpr size_t kMaxTextBytes = size_t{1} << 30;

bool is_parsed_only(TokenType type) {
  return type == TokenType::kControl || type == TokenType::kUnknown;
}

// What `function` returns; running out of memory becomes a Status.
template <typename Function>
auto catch_out_of_memory(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, Part::kTokenizer, "no memory");
  }
}

}  // namespace

// One call's text and working memory.
struct Tokenizer::Encoding {
  std::string_view text;
  size_t prefix_bytes = 0;  // not counted in offsets of errors
  std::vector<size_t> word_ends;
  std::vector<int32_t> symbols;
  BpeScratch scratch;
  std::vector<int32_t> ids;
};

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view text,
                                                 SpecialTokens special) const {
  return catch_out_of_memory([&] { return encode_checked(text, special, 0); });
}

Expected<std::vector<int32_t>> Tokenizer::encode_prompt(std::string_view text,
                                                        SpecialTokens special) const {
  return catch_out_of_memory([&]() -> Expected<std::vector<int32_t>> {
    IFR_ASSIGN_OR_RETURN(std::vector<int32_t> ids, encode_checked(text, special, 0));
    if (prompt_bos_.has_value() && (ids.empty() || ids.front() != *prompt_bos_)) {
      ids.insert(ids.begin(), *prompt_bos_);
    }
    return ids;
  });
}

Expected<std::vector<int32_t>> Tokenizer::encode_parts(std::string_view text,
                                                       std::span<const TextPart> parts) const {
  return catch_out_of_memory([&]() -> Expected<std::vector<int32_t>> {
    std::vector<int32_t> ids;
    std::vector<ParsedRange> parsed;  // counted from `begin`
    size_t begin = 0;                 // of the text that waits to be encoded
    size_t end = 0;
    const auto flush = [&]() -> Status {
      IFR_ASSIGN_OR_RETURN(const std::vector<int32_t> more,
                           encode_ranges(text.substr(begin, end - begin), parsed, 0));
      ids.insert(ids.end(), more.begin(), more.end());
      parsed.clear();
      return {};
    };
    for (const TextPart& part : parts) {
      if (part.size_bytes > text.size() - end) {
        break;
      }
      if (part.ids.has_value()) {
        IFR_TRY(flush());
        for (const int32_t id : *part.ids) {
          IFR_TRY(check_id(id));
          ids.push_back(id);
        }
        begin = end + part.size_bytes;
      } else if (part.special == SpecialTokens::kParse) {
        const size_t from = end - begin;
        if (parsed.empty() || parsed.back().end != from) {
          parsed.push_back({.begin = from, .end = from});
        }
        parsed.back().end = from + part.size_bytes;
      }
      end += part.size_bytes;
    }
    if (end != text.size()) {
      return make_error(Code::kInvalidArgument, Part::kTokenizer,
                        "the parts of a text cover %zu of its %zu bytes", end, text.size());
    }
    IFR_TRY(flush());
    return ids;
  });
}

Status Tokenizer::check_id(int32_t id) const {
  if (id >= 0 && id < num_tokens()) {
    return {};
  }
  return make_error(Code::kInvalidArgument, Part::kTokenizer,
                    "token id %d is outside the vocabulary of %d tokens", id, num_tokens());
}

Expected<std::vector<int32_t>> Tokenizer::encode_joined(std::string_view prefix,
                                                        std::string_view text) const {
  return catch_out_of_memory([&] {
    if (text.size() > kMaxTextBytes) {
      return encode_checked(text, SpecialTokens::kPlain, 0);  // refuses it
    }
    std::string joined;
    joined.reserve(prefix.size() + text.size());
    joined.append(prefix).append(text);
    return encode_checked(joined, SpecialTokens::kPlain, prefix.size());
  });
}

Expected<std::vector<int32_t>> Tokenizer::encode_checked(std::string_view text,
                                                         SpecialTokens special,
                                                         size_t prefix_bytes) const {
  const ParsedRange whole = {.begin = 0, .end = text.size()};
  return encode_ranges(text, std::span(&whole, special == SpecialTokens::kParse ? 1 : 0),
                       prefix_bytes);
}

Expected<std::vector<int32_t>> Tokenizer::encode_ranges(std::string_view text,
                                                        std::span<const ParsedRange> parsed,
                                                        size_t prefix_bytes) const {
  if (text.size() > kMaxTextBytes) {
    return make_error(Code::kInvalidArgument, Part::kTokenizer,
                      "the text has %zu bytes; at most %zu can be encoded at once", text.size(),
                      kMaxTextBytes);
  }
  if (const std::optional<size_t> bad = find_invalid_utf8(text)) {
    return make_error(Code::kInvalidArgument, Part::kTokenizer,
                      "the text is not valid UTF-8 at byte %zu (0x%02X); replace or remove it",
                      *bad - std::min(*bad, prefix_bytes), static_cast<uint8_t>(text[*bad]));
  }
  Encoding encoding;
  encoding.text = text;
  encoding.prefix_bytes = prefix_bytes;
  encoding.ids.reserve(text.size() / 3 + 4);  // 3 to 5 bytes a token in most languages
  size_t begin = 0;
  while (begin < text.size()) {
    const std::optional<Match> match = find_whole_token(text, begin, parsed);
    IFR_TRY(encode_words(encoding, begin, match.has_value() ? match->begin : text.size()));
    if (!match.has_value()) {
      break;
    }
    encoding.ids.push_back(match->id);
    begin = match->end;
  }
  return std::move(encoding.ids);
}

std::optional<Tokenizer::Match> Tokenizer::find_whole_token(
    std::string_view text, size_t begin, std::span<const ParsedRange> parsed) const {
  if (whole_tokens_.empty()) {
    return std::nullopt;
  }
  for (size_t i = begin; i < text.size(); ++i) {
    if (whole_first_[static_cast<uint8_t>(text[i])]) {
      if (const std::optional<Match> match = longest_at(text, i, parsed)) {
        return match;
      }
    }
  }
  return std::nullopt;
}

std::optional<Tokenizer::Match> Tokenizer::longest_at(std::string_view text, size_t begin,
                                                      std::span<const ParsedRange> parsed) const {
  // The only range that `begin` may lie in; up to its end, control tokens are taken.
  const auto range =
      std::partition_point(parsed.begin(), parsed.end(),
                           [begin](const ParsedRange& other) { return other.end <= begin; });
  const size_t parsed_end = range != parsed.end() && range->begin <= begin ? range->end : begin;
  // [first, last) are the tokens that agree with the text in their first `length` bytes. Sorted by
  // text, so one as long as that comes first.
  auto first = whole_tokens_.begin();
  auto last = whole_tokens_.end();
  std::optional<Match> longest;
  for (size_t length = 0; begin + length < text.size(); ++length) {
    const auto wanted = static_cast<uint8_t>(text[begin + length]);
    const auto byte_of = [length](const WholeToken& token) {
      return length < token.text.size() ? static_cast<int>(static_cast<uint8_t>(token.text[length]))
                                        : -1;
    };
    first = std::partition_point(first, last,
                                 [&](const WholeToken& token) { return byte_of(token) < wanted; });
    last = std::partition_point(first, last,
                                [&](const WholeToken& token) { return byte_of(token) <= wanted; });
    if (first == last) {
      break;
    }
    const bool allowed =
        begin + length < parsed_end || !is_parsed_only(types_[static_cast<size_t>(first->id)]);
    if (first->text.size() == length + 1 && allowed) {
      longest = Match{.id = first->id, .begin = begin, .end = begin + length + 1};
    }
  }
  return longest;
}

Status Tokenizer::encode_words(Encoding& encoding, size_t begin, size_t end) const {
  IFR_TRY(pattern_.split(encoding.text.substr(begin, end - begin), encoding.word_ends));
  size_t word_begin = begin;
  for (const size_t word_end : encoding.word_ends) {
    IFR_TRY(encode_word(encoding, word_begin, begin + word_end));
    word_begin = begin + word_end;
  }
  return {};
}

Status Tokenizer::encode_word(Encoding& encoding, size_t begin, size_t end) const {
  encoding.symbols.clear();
  for (size_t i = begin; i < end;) {
    const size_t size_bytes = first_utf8_piece(encoding.text.substr(i, end - i)).size_bytes;
    const std::string_view character = encoding.text.substr(i, size_bytes);
    const bool known = std::all_of(character.begin(), character.end(), [this](char byte) {
      return byte_ids_[static_cast<uint8_t>(byte)] >= 0;
    });
    if (known) {
      for (const char byte : character) {
        encoding.symbols.push_back(byte_ids_[static_cast<uint8_t>(byte)]);
      }
    } else if (unk_id_.has_value()) {
      merges_.apply(encoding.symbols, encoding.scratch, encoding.ids);
      encoding.symbols.clear();
      encoding.ids.push_back(*unk_id_);
    } else {
      return make_error(Code::kInvalidArgument, Part::kTokenizer,
                        "the model's vocabulary has no tokens for U+%04X at byte %zu of the text; "
                        "replace or remove it",
                        code_point_of(character), i - std::min(i, encoding.prefix_bytes));
    }
    i += size_bytes;
  }
  merges_.apply(encoding.symbols, encoding.scratch, encoding.ids);
  return {};
}

Expected<std::string> Tokenizer::decode(std::span<const int32_t> ids, ControlText control) const {
  return catch_out_of_memory([&]() -> Expected<std::string> {
    std::string out;
    for (const int32_t id : ids) {
      IFR_TRY(check_id(id));
      if (control == ControlText::kKeep || !is_control(id)) {
        out.append(token_bytes(id));
      }
    }
    return out;
  });
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  if (id < 0 || id >= num_tokens()) {
    return {};
  }
  const auto idx = static_cast<size_t>(id);
  const size_t begin = idx == 0 ? 0 : bytes_end_[idx - 1];
  return std::string_view(bytes_).substr(begin, bytes_end_[idx] - begin);
}

bool Tokenizer::is_control(int32_t id) const {
  return id >= 0 && id < num_tokens() && types_[static_cast<size_t>(id)] == TokenType::kControl;
}

bool Tokenizer::is_user_defined(int32_t id) const {
  return id >= 0 && id < num_tokens() && types_[static_cast<size_t>(id)] == TokenType::kUserDefined;
}

std::optional<int32_t> Tokenizer::find_control(std::string_view name) const {
  const auto token =
      std::lower_bound(whole_tokens_.begin(), whole_tokens_.end(), name,
                       [](const WholeToken& a, std::string_view b) { return a.text < b; });
  if (token == whole_tokens_.end() || token->text != name || !is_control(token->id)) {
    return std::nullopt;
  }
  return token->id;
}

}  // namespace ifr
