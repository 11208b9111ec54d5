// SPDX-License-Identifier: Apache-2.0
#include "schedule/text_codec.h"

namespace ifr {

Expected<std::vector<int32_t>> ModelTextCodec::encode(std::string_view text, SpecialTokens special,
                                                      std::optional<int32_t> last_id) const {
  return last_id ? tokenizer_.encode(text, special) : tokenizer_.encode_prompt(text, special);
}

Expected<std::vector<int32_t>> ModelTextCodec::encode_messages(
    std::span<const ChatMessage> messages, std::optional<int32_t> last_id) const {
  if (!chat_) {
    return make_error(Code::kUnsupported, Part::kSchedule,
                      "the model has no chat form that this version knows: submit text or token "
                      "ids");
  }
  return last_id ? chat_->encode_next(tokenizer_, *last_id, messages, GenerationPrompt::kAdd)
                 : chat_->encode(tokenizer_, messages, GenerationPrompt::kAdd);
}

}  // namespace ifr
