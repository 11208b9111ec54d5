// SPDX-License-Identifier: Apache-2.0
// The vocabulary of a GGUF file. Its rules stand at TokenizerData.
#include <bit>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "model/byte_cursor.h"
#include "model/gguf_header.h"
#include "model/text_check.h"

namespace ifr {

namespace {

constexpr uint64_t kMaxTokens = kMaxVocab;
constexpr uint64_t kMaxMerges = uint64_t{1} << 23;
constexpr uint64_t kMaxTokenBytes = 65536;
constexpr uint64_t kMaxTemplateBytes = uint64_t{4} << 20;
constexpr uint64_t kMaxWordBytes = 256;

// Null when absent; an error when it is not an array of `element` with 1 to `max` entries.
Expected<const GgufValue*> array_of(const GgufHeader& header, const std::string& key,
                                    GgufType element, uint64_t max) {
  const GgufValue* value = header.find(key);
  if (value == nullptr) {
    return value;
  }
  if (value->type != GgufType::kArray) {
    return header.value_error(key, Code::kInvalidFile, "is of type %s; an array of %s is needed",
                              gguf_type_name(value->type), gguf_type_name(element));
  }
  if (value->element_type != element) {
    return header.value_error(key, Code::kInvalidFile,
                              "is an array of %s; an array of %s is needed",
                              gguf_type_name(value->element_type), gguf_type_name(element));
  }
  if (value->count > max) {
    return header.value_error(key, Code::kInvalidFile, "has %llu entries; at most %llu are read",
                              static_cast<unsigned long long>(value->count),
                              static_cast<unsigned long long>(max));
  }
  return value;
}

Status read_strings(const GgufHeader& header, const std::string& key, const GgufValue& value,
                    std::vector<std::string>& out) {
  ByteCursor cursor(header.source(), value.offset);
  out.reserve(value.count);
  for (uint64_t idx = 0; idx < value.count; ++idx) {
    const uint64_t at = cursor.offset();
    uint64_t len = 0;
    IFR_TRY(cursor.read_u64(len, "string length"));
    if (len > kMaxTokenBytes) {
      return error_at(header.source(), at, Code::kInvalidFile,
                      "entry %llu of %s is %llu bytes long; at most %llu are read",
                      static_cast<unsigned long long>(idx), key.c_str(),
                      static_cast<unsigned long long>(len),
                      static_cast<unsigned long long>(kMaxTokenBytes));
    }
    std::string text(len, '\0');
    IFR_TRY(cursor.read(std::as_writable_bytes(std::span(text)), "string"));
    if (!is_valid_utf8(text)) {
      return error_at(header.source(), at, Code::kInvalidFile,
                      "entry %llu of %s, '%s', is not valid UTF-8",
                      static_cast<unsigned long long>(idx), key.c_str(), printable(text).c_str());
    }
    out.push_back(std::move(text));
  }
  return {};
}

Status read_words(const GgufHeader& header, const std::string& key, const GgufValue& value,
                  std::vector<uint32_t>& out) {
  ByteCursor cursor(header.source(), value.offset);
  out.resize(value.count);
  for (uint32_t& word : out) {
    IFR_TRY(cursor.read_u32(word, key.c_str()));
  }
  return {};
}

Status check_count(const GgufHeader& header, const std::string& key, uint64_t count,
                   size_t num_tokens) {
  if (count != num_tokens) {
    return header.value_error(key, Code::kInvalidFile, "has %llu entries, but there are %zu tokens",
                              static_cast<unsigned long long>(count), num_tokens);
  }
  return {};
}

// "<0xHH>", two upper or lower case hexadecimal digits.
bool is_byte_token(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  return text.size() == 6 && text.substr(0, 3) == "<0x" && text[5] == '>' &&
         kDigits.find(text[3]) != std::string_view::npos &&
         kDigits.find(text[4]) != std::string_view::npos;
}

Status read_types(const GgufHeader& header, TokenizerData& data) {
  const std::string key = "tokenizer.ggml.token_type";
  data.types.assign(data.tokens.size(), TokenType::kNormal);
  IFR_ASSIGN_OR_RETURN(const GgufValue* const value,
                       array_of(header, key, GgufType::kI32, kMaxTokens));
  if (value == nullptr) {
    return {};
  }
  IFR_TRY(check_count(header, key, value->count, data.tokens.size()));
  std::vector<uint32_t> words;
  IFR_TRY(read_words(header, key, *value, words));
  for (size_t idx = 0; idx < words.size(); ++idx) {
    if (words[idx] > static_cast<uint32_t>(TokenType::kByte)) {
      return header.value_error(key, Code::kInvalidFile, "of token %zu is %d; 0 to 6 is valid", idx,
                                static_cast<int32_t>(words[idx]));
    }
    data.types[idx] = static_cast<TokenType>(words[idx]);
    if (data.types[idx] == TokenType::kByte && !is_byte_token(data.tokens[idx])) {
      return header.value_error(
          key, Code::kInvalidFile,
          "of token %zu says byte, but its text is '%s', not <0x00> to <0xFF>", idx,
          printable(data.tokens[idx]).c_str());
    }
  }
  return {};
}

Status read_scores(const GgufHeader& header, TokenizerData& data) {
  const std::string key = "tokenizer.ggml.scores";
  IFR_ASSIGN_OR_RETURN(const GgufValue* const value,
                       array_of(header, key, GgufType::kF32, kMaxTokens));
  if (value == nullptr) {
    return {};
  }
  IFR_TRY(check_count(header, key, value->count, data.tokens.size()));
  std::vector<uint32_t> words;
  IFR_TRY(read_words(header, key, *value, words));
  data.scores.reserve(words.size());
  for (const uint32_t word : words) {
    data.scores.push_back(std::bit_cast<float>(word));
    if (!std::isfinite(data.scores.back())) {
      return header.value_error(key, Code::kInvalidFile, "of token %zu is not a finite number",
                                data.scores.size() - 1);
    }
  }
  return {};
}

Status read_merges(const GgufHeader& header, TokenizerData& data) {
  const std::string key = "tokenizer.ggml.merges";
  IFR_ASSIGN_OR_RETURN(const GgufValue* const value,
                       array_of(header, key, GgufType::kString, kMaxMerges));
  if (value == nullptr) {
    return {};
  }
  IFR_TRY(read_strings(header, key, *value, data.merges));
  const std::unordered_set<std::string_view> texts(data.tokens.begin(), data.tokens.end());
  std::string joined;
  for (size_t idx = 0; idx < data.merges.size(); ++idx) {
    const std::string_view merge = data.merges[idx];
    const size_t space = merge.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == merge.size() ||
        merge.find(' ', space + 1) != std::string_view::npos) {
      return header.value_error(key, Code::kInvalidFile,
                                "entry %zu is '%s'; two texts with one space between are needed",
                                idx, printable(merge).c_str());
    }
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    joined.assign(left).append(right);
    if (!texts.contains(left) || !texts.contains(right) || !texts.contains(joined)) {
      return header.value_error(key, Code::kInvalidFile,
                                "entry %zu is '%s', but a part of it or the whole is no token", idx,
                                printable(merge).c_str());
    }
  }
  return {};
}

Status read_id(const GgufHeader& header, const char* key, const TokenizerData& data,
               std::optional<int32_t>& out) {
  IFR_ASSIGN_OR_RETURN(const std::optional<int64_t> value, header.integer(key));
  if (value && (*value < 0 || *value >= data.num_tokens())) {
    return header.value_error(key, Code::kInvalidFile, "is %lld, but there are %d tokens",
                              static_cast<long long>(*value), data.num_tokens());
  }
  if (value) {
    out = static_cast<int32_t>(*value);
  }
  return {};
}

Status read_ids_and_flags(const GgufHeader& header, TokenizerData& data) {
  IFR_TRY(read_id(header, "tokenizer.ggml.bos_token_id", data, data.bos_id));
  IFR_TRY(read_id(header, "tokenizer.ggml.eos_token_id", data, data.eos_id));
  IFR_TRY(read_id(header, "tokenizer.ggml.eot_token_id", data, data.eot_id));
  IFR_TRY(read_id(header, "tokenizer.ggml.unknown_token_id", data, data.unk_id));
  IFR_TRY(read_id(header, "tokenizer.ggml.padding_token_id", data, data.pad_id));
  const bool is_sentence_piece = data.model == "llama";
  IFR_ASSIGN_OR_RETURN(const auto add_bos, header.boolean("tokenizer.ggml.add_bos_token"));
  IFR_ASSIGN_OR_RETURN(const auto add_eos, header.boolean("tokenizer.ggml.add_eos_token"));
  IFR_ASSIGN_OR_RETURN(const auto add_space, header.boolean("tokenizer.ggml.add_space_prefix"));
  data.add_bos = add_bos.value_or(is_sentence_piece);
  data.add_eos = add_eos.value_or(false);
  data.add_space_prefix = add_space.value_or(is_sentence_piece);
  return {};
}

// UTF-8, at most `max_bytes`; "" when absent.
Status read_text(const GgufHeader& header, const std::string& key, uint64_t max_bytes,
                 std::string& out) {
  IFR_ASSIGN_OR_RETURN(std::optional<std::string> text, header.text(key, max_bytes));
  if (text && !is_valid_utf8(*text)) {
    return header.value_error(key, Code::kInvalidFile, "is not valid UTF-8");
  }
  out = std::move(text).value_or("");
  return {};
}

}  // namespace

Expected<std::optional<TokenizerData>> read_gguf_tokenizer(const GgufHeader& header) {
  const std::string tokens_key = "tokenizer.ggml.tokens";
  IFR_ASSIGN_OR_RETURN(const GgufValue* const tokens,
                       array_of(header, tokens_key, GgufType::kString, kMaxTokens));
  if (tokens == nullptr) {
    return std::optional<TokenizerData>();
  }
  if (tokens->count == 0) {
    return header.value_error(tokens_key, Code::kInvalidFile, "is empty");
  }
  TokenizerData data;
  IFR_TRY(read_text(header, "tokenizer.ggml.model", kMaxWordBytes, data.model));
  if (data.model.empty()) {
    return header.value_error("tokenizer.ggml.model", Code::kInvalidFile,
                              "is missing or empty, but the file has tokens");
  }
  IFR_TRY(read_text(header, "tokenizer.ggml.pre", kMaxWordBytes, data.pre));
  IFR_TRY(read_text(header, "tokenizer.chat_template", kMaxTemplateBytes, data.chat_template));
  IFR_TRY(read_strings(header, tokens_key, *tokens, data.tokens));
  IFR_TRY(read_types(header, data));
  IFR_TRY(read_scores(header, data));
  IFR_TRY(read_merges(header, data));
  IFR_TRY(read_ids_and_flags(header, data));
  return std::optional(std::move(data));
}

}  // namespace ifr
