// SPDX-License-Identifier: Apache-2.0
// The form in which a model reads a chat: messages to token ids, control tokens by id.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/tokenizer.h"

namespace ifr {

struct ChatMessage {
  std::string_view role;     // "system", "user" or "assistant"
  std::string_view content;  // UTF-8; always text, whatever it spells
};

enum class GenerationPrompt {
  kNo,
  kAdd,  // the assistant's turn is opened at the end
};

// The ChatML form: <|im_start|>role\ncontent<|im_end|>\n for each message. A file's Jinja template
// is compared with the two known texts of that form (white space inside tags aside); templates are
// not run. Immutable: may be used from any thread. Each call takes the tokenizer that create() saw.
class ChatTemplate {
 public:
  // `jinja`: `tokenizer.chat_template`. kUnsupported: empty, any other template, or a vocabulary
  // where <|im_start|> or <|im_end|> is not a control token.
  [[nodiscard]] static Expected<ChatTemplate> create(const Tokenizer& tokenizer,
                                                     std::string_view jinja);

  // The ids of a conversation from its beginning. The file's default system message comes first
  // unless the first message is a system message; a beginning-of-sequence token if the file asks
  // for one. A control token stands only where the form has one, never inside a content.
  // kInvalidArgument: no messages, another role, or a content that the tokenizer refuses; names the
  // message.
  [[nodiscard]] Expected<std::vector<int32_t>> encode(const Tokenizer& tokenizer,
                                                      std::span<const ChatMessage> messages,
                                                      GenerationPrompt generation) const;

  // The ids that continue a conversation whose last token is `last_id`, mostly the last one of an
  // answer: closes the open turn if the answer did not, then the messages. encode() of the whole
  // conversation ends in the same ids.
  [[nodiscard]] Expected<std::vector<int32_t>> encode_next(const Tokenizer& tokenizer,
                                                           int32_t last_id,
                                                           std::span<const ChatMessage> messages,
                                                           GenerationPrompt generation) const;

  // Each ends the assistant's turn: <|im_end|> and the tokenizer's end tokens. Ascending.
  [[nodiscard]] std::span<const int32_t> end_tokens() const { return end_tokens_; }
  // The template's own system message; absent when it has none.
  [[nodiscard]] const std::optional<std::string>& default_system() const { return default_system_; }

 private:
  ChatTemplate() = default;

  [[nodiscard]] Status append_turn(const Tokenizer& tokenizer, const ChatMessage& message,
                                   std::vector<int32_t>& ids) const;
  [[nodiscard]] Status append_turns(const Tokenizer& tokenizer,
                                    std::span<const ChatMessage> messages,
                                    GenerationPrompt generation, std::vector<int32_t>& ids) const;

  int32_t start_id_ = 0;
  int32_t end_id_ = 0;
  std::vector<int32_t> end_of_line_;  // the ids of "\n" after a turn
  std::vector<int32_t> end_tokens_;
  std::optional<std::string> default_system_;
};

}  // namespace ifr
