// SPDX-License-Identifier: Apache-2.0
// What requests need of a vocabulary: text to ids, ids to bytes, which ids end an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/chat_template.h"
#include "model/tokenizer.h"

namespace ifr {

// Immutable; any thread.
class TextCodec {
 public:
  virtual ~TextCodec() = default;

  // last_id: the last token of the conversation so far; nothing at its beginning (where a
  // beginning-of-sequence token is added if the model wants one).
  [[nodiscard]] virtual Expected<std::vector<int32_t>> encode(
      std::string_view text, SpecialTokens special, std::optional<int32_t> last_id) const = 0;
  // In the chat form, the answer's turn opened at the end. kUnsupported without one.
  [[nodiscard]] virtual Expected<std::vector<int32_t>> encode_messages(
      std::span<const ChatMessage> messages, std::optional<int32_t> last_id) const = 0;
  [[nodiscard]] virtual bool has_chat_form() const = 0;

  // Empty for ids without text. Valid as long as the codec.
  [[nodiscard]] virtual std::string_view token_bytes(int32_t id) const = 0;
  [[nodiscard]] virtual bool is_control(int32_t id) const = 0;
  // Ascending.
  [[nodiscard]] virtual std::span<const int32_t> end_tokens() const = 0;
};

class ModelTextCodec final : public TextCodec {
 public:
  ModelTextCodec(Tokenizer tokenizer, std::optional<ChatTemplate> chat)
      : tokenizer_(std::move(tokenizer)), chat_(std::move(chat)) {}

  [[nodiscard]] Expected<std::vector<int32_t>> encode(
      std::string_view text, SpecialTokens special, std::optional<int32_t> last_id) const override;
  [[nodiscard]] Expected<std::vector<int32_t>> encode_messages(
      std::span<const ChatMessage> messages, std::optional<int32_t> last_id) const override;
  [[nodiscard]] bool has_chat_form() const override { return chat_.has_value(); }
  [[nodiscard]] std::string_view token_bytes(int32_t id) const override {
    return tokenizer_.token_bytes(id);
  }
  [[nodiscard]] bool is_control(int32_t id) const override { return tokenizer_.is_control(id); }
  [[nodiscard]] std::span<const int32_t> end_tokens() const override {
    return chat_ ? chat_->end_tokens() : tokenizer_.end_tokens();
  }

 private:
  Tokenizer tokenizer_;
  std::optional<ChatTemplate> chat_;
};

}  // namespace ifr
