// SPDX-License-Identifier: Apache-2.0
// Tokenizer::create: from the texts of a file to tables of bytes and ids.
#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/tokenizer.h"
#include "model/utf8.h"

namespace ifr {
namespace {

// Byte-level vocabularies spell each byte as one printable character: the byte itself where Latin-1
// has a visible sign, else the next free code point from U+0100 on, in the order of the bytes.
constexpr uint32_t kNumSpellings = 0x144;

bool is_visible_latin1(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

// By code point: the byte that it spells, or -1.
std::array<int16_t, kNumSpellings> byte_of_spelling() {
  std::array<int16_t, kNumSpellings> bytes = {};
  bytes.fill(-1);
  uint32_t free_code_point = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t spelling = is_visible_latin1(byte) ? byte : free_code_point++;
    bytes[spelling] = static_cast<int16_t>(byte);
  }
  return bytes;
}

// The bytes that `text` spells; false (out as before) if it has other characters.
bool append_spelled_bytes(std::string_view text, const std::array<int16_t, kNumSpellings>& bytes,
                          std::string& out) {
  const size_t size_before = out.size();
  for (size_t i = 0; i < text.size();) {
    const Utf8Piece piece = first_utf8_piece(text.substr(i));
    const uint32_t code_point = piece.kind == Utf8Kind::kCharacter
                                    ? code_point_of(text.substr(i, piece.size_bytes))
                                    : kNumSpellings;
    if (code_point >= kNumSpellings || bytes[code_point] < 0) {
      out.resize(size_before);
      return false;
    }
    out.push_back(static_cast<char>(bytes[code_point]));
    i += piece.size_bytes;
  }
  return true;
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') {
    return digit - '0';
  }
  const char lower = static_cast<char>(digit | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// "<0xHH>": the byte, or -1.
int byte_token_value(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') {
    return -1;
  }
  const int high = hex_digit(text[3]);
  const int low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

class TokenizerBuilder {
 public:
  explicit TokenizerBuilder(const TokenizerData& data) : data_(data) {}

  Expected<Tokenizer> build() {
    IFR_TRY(check());
    IFR_ASSIGN_OR_RETURN(SplitPattern pattern, SplitPattern::create(data_.pre));
    Tokenizer tokenizer(std::move(pattern));
    IFR_TRY(add_tokens(tokenizer));
    IFR_TRY(add_merges(tokenizer));
    add_whole_tokens(tokenizer);
    add_special_ids(tokenizer);
    return tokenizer;
  }

 private:
  Status check() const {
    if (data_.model == "llama" || data_.model == "t5" || data_.model == "bert") {
      return make_error(Code::kUnsupported, Part::kTokenizer,
                        "tokenizer.ggml.model is \"%s\" (%s), which is not supported yet; "
                        "supported is \"gpt2\" (byte-level BPE). Token ids can still be submitted",
                        data_.model.c_str(), data_.model == "bert" ? "WordPiece" : "SentencePiece");
    }
    if (data_.model != "gpt2") {
      return make_error(Code::kUnsupported, Part::kTokenizer,
                        "tokenizer.ggml.model is \"%.200s\"; supported is \"gpt2\" (byte-level "
                        "BPE). Token ids can still be submitted",
                        data_.model.c_str());
    }
    if (data_.tokens.size() != data_.types.size() ||
        data_.tokens.size() > static_cast<size_t>(INT32_MAX)) {
      return make_error(Code::kInvalidFile, Part::kTokenizer,
                        "tokenizer.ggml.tokens has %zu entries, tokenizer.ggml.token_type %zu",
                        data_.tokens.size(), data_.types.size());
    }
    for (const std::optional<int32_t>& id :
         {data_.bos_id, data_.eos_id, data_.eot_id, data_.unk_id}) {
      if (id.has_value() && (*id < 0 || *id >= data_.num_tokens())) {
        return make_error(Code::kInvalidFile, Part::kTokenizer,
                          "special token id %d is outside the vocabulary of %d tokens", *id,
                          data_.num_tokens());
      }
    }
    if (data_.add_bos && !data_.bos_id.has_value()) {
      return make_error(Code::kInvalidFile, Part::kTokenizer,
                        "tokenizer.ggml.add_bos_token is true, but tokenizer.ggml.bos_token_id is "
                        "absent");
    }
    return {};
  }

  Status add_tokens(Tokenizer& tokenizer) {
    const auto spelling = byte_of_spelling();
    tokenizer.types_ = data_.types;
    tokenizer.byte_ids_.fill(-1);
    std::array<int32_t, 256> fallback_ids;
    fallback_ids.fill(-1);
    ids_.reserve(data_.tokens.size());
    for (int32_t id = 0; id < data_.num_tokens(); ++id) {
      const std::string& text = data_.tokens[static_cast<size_t>(id)];
      const TokenType type = data_.types[static_cast<size_t>(id)];
      const size_t begin = tokenizer.bytes_.size();
      if (type == TokenType::kByte) {
        const int value = byte_token_value(text);
        if (value < 0) {
          return make_error(Code::kInvalidFile, Part::kTokenizer,
                            "token %d is of type byte, but its text \"%.40s\" is not <0xHH>", id,
                            text.c_str());
        }
        tokenizer.bytes_.push_back(static_cast<char>(value));
        set_if_free(fallback_ids[static_cast<size_t>(value)], id);
      } else if (type == TokenType::kNormal &&
                 append_spelled_bytes(text, spelling, tokenizer.bytes_)) {
        if (!text.empty()) {
          ids_.try_emplace(text, id);
        }
        if (tokenizer.bytes_.size() == begin + 1) {
          set_if_free(tokenizer.byte_ids_[static_cast<uint8_t>(tokenizer.bytes_[begin])], id);
        }
      } else {
        tokenizer.bytes_.append(text);  // not spelled in bytes: its text as it stands
      }
      tokenizer.bytes_end_.push_back(tokenizer.bytes_.size());
    }
    for (size_t byte = 0; byte < 256; ++byte) {
      set_if_free(tokenizer.byte_ids_[byte], fallback_ids[byte]);
    }
    return {};
  }

  static void set_if_free(int32_t& slot, int32_t id) {
    if (slot < 0) {
      slot = id;
    }
  }

  Status add_merges(Tokenizer& tokenizer) const {
    tokenizer.merges_.reserve(data_.merges.size());
    std::string merged_text;
    for (size_t i = 0; i < data_.merges.size(); ++i) {
      const std::string_view merge = data_.merges[i];
      const size_t space = std::min(merge.find(' '), merge.size());
      const std::string_view left_text = merge.substr(0, space);
      const std::string_view right_text = merge.substr(std::min(space + 1, merge.size()));
      merged_text.assign(left_text).append(right_text);
      const auto left = ids_.find(left_text);
      const auto right = ids_.find(right_text);
      const auto merged = ids_.find(merged_text);
      if (left == ids_.end() || right == ids_.end() || merged == ids_.end()) {
        return make_error(Code::kInvalidFile, Part::kTokenizer,
                          "merge %zu (\"%.80s\") is not of two normal tokens that make a third", i,
                          data_.merges[i].c_str());
      }
      tokenizer.merges_.add(left->second, right->second, merged->second);
    }
    return {};
  }

  void add_whole_tokens(Tokenizer& tokenizer) const {
    std::vector<Tokenizer::WholeToken>& whole = tokenizer.whole_tokens_;
    for (int32_t id = 0; id < data_.num_tokens(); ++id) {
      const std::string& text = data_.tokens[static_cast<size_t>(id)];
      const TokenType type = data_.types[static_cast<size_t>(id)];
      const bool is_whole = type == TokenType::kControl || type == TokenType::kUnknown ||
                            type == TokenType::kUserDefined;
      if (is_whole && !text.empty()) {
        whole.push_back({.text = text, .id = id});
        tokenizer.whole_first_[static_cast<uint8_t>(text[0])] = true;
      }
    }
    // Of equal texts the lowest id stays.
    std::stable_sort(whole.begin(), whole.end(),
                     [](const auto& a, const auto& b) { return a.text < b.text; });
    whole.erase(std::unique(whole.begin(), whole.end(),
                            [](const auto& a, const auto& b) { return a.text == b.text; }),
                whole.end());
  }

  void add_special_ids(Tokenizer& tokenizer) const {
    // A control token for unknown characters would let a text end the turn or the document.
    if (data_.unk_id.has_value() && !tokenizer.is_control(*data_.unk_id)) {
      tokenizer.unk_id_ = data_.unk_id;
    }
    if (data_.add_bos) {
      tokenizer.prompt_bos_ = data_.bos_id;
    }
    std::vector<int32_t>& ends = tokenizer.end_tokens_;
    for (const std::optional<int32_t>& id :
         {data_.eos_id, data_.eot_id, tokenizer.find_control("<|endoftext|>"),
          tokenizer.find_control("<|im_end|>")}) {
      if (id.has_value()) {
        ends.push_back(*id);
      }
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  }

  const TokenizerData& data_;
  std::unordered_map<std::string_view, int32_t> ids_;  // normal, byte-spelled tokens by text
};

Expected<Tokenizer> Tokenizer::create(const TokenizerData& data) {
  try {
    return TokenizerBuilder(data).build();
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, Part::kTokenizer, "no memory");
  }
}

}  // namespace ifr
