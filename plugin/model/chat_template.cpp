// SPDX-License-Identifier: Apache-2.0
#include "model/chat_template.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ifr {
namespace {

constexpr std::string_view kStartName = "<|im_start|>";
constexpr std::string_view kEndName = "<|im_end|>";

// The known template in normal form (see normalise): what every turn becomes.
constexpr std::string_view kLoop = "{%formessageinmessages%}";
constexpr std::string_view kTurns =
    "{{'<|im_start|>'+message['role']+'\n'+message['content']+'<|im_end|>'+'\n'}}{%endfor%}"
    "{%ifadd_generation_prompt%}{{'<|im_start|>assistant\n'}}{%endif%}";
// SmolLM2's files have this between the two, around their default system message.
constexpr std::string_view kDefaultBegin =
    "{%ifloop.firstandmessages[0]['role']!='system'%}{{'<|im_start|>system\n";
constexpr std::string_view kDefaultEnd = "<|im_end|>\n'}}{%endif%}";

constexpr std::array<std::string_view, 3> kRoles = {"system", "user", "assistant"};

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Normal form of a Jinja text: inside of tags, white space goes (no two texts of the known form
// differ only there), and strings have real line ends for \n. What stands outside of tags is kept:
// it is output.
std::string normalise(std::string_view jinja) {
  std::string out;
  out.reserve(jinja.size());
  bool in_tag = false;
  char quote = '\0';  // the open string's
  for (size_t i = 0; i < jinja.size(); ++i) {
    const char c = jinja[i];
    const char next = i + 1 < jinja.size() ? jinja[i + 1] : '\0';
    if (quote != '\0') {
      const bool is_line_end = c == '\\' && next == 'n';
      out.push_back(is_line_end ? '\n' : c);
      i += is_line_end ? 1 : 0;
      quote = c == quote ? '\0' : quote;
      continue;
    }
    if (in_tag && is_space(c)) {
      continue;
    }
    out.push_back(c);
    if (in_tag && (c == '\'' || c == '"')) {
      quote = c;
    } else if (!in_tag && c == '{' && (next == '{' || next == '%')) {
      in_tag = true;
      out.push_back(next);
      ++i;
    } else if (in_tag && (c == '}' || c == '%') && next == '}') {
      in_tag = false;
      out.push_back(next);
      ++i;
    }
  }
  return out;
}

struct KnownForm {
  std::optional<std::string> default_system;
};

std::optional<KnownForm> recognise(std::string_view jinja) {
  const std::string normal = normalise(jinja);
  std::string_view rest = normal;
  if (!rest.starts_with(kLoop) || !rest.ends_with(kTurns) ||
      rest.size() < kLoop.size() + kTurns.size()) {
    return std::nullopt;
  }
  rest = rest.substr(kLoop.size(), rest.size() - kLoop.size() - kTurns.size());
  if (rest.empty()) {
    return KnownForm{};
  }
  if (!rest.starts_with(kDefaultBegin) || !rest.ends_with(kDefaultEnd) ||
      rest.size() < kDefaultBegin.size() + kDefaultEnd.size()) {
    return std::nullopt;
  }
  rest = rest.substr(kDefaultBegin.size(), rest.size() - kDefaultBegin.size() - kDefaultEnd.size());
  // One plain string: no end of the string, no escape, no name of a control token.
  if (rest.find_first_of("'\\") != std::string_view::npos ||
      rest.find("<|") != std::string_view::npos) {
    return std::nullopt;
  }
  return KnownForm{.default_system = std::string(rest)};
}

}  // namespace

Expected<ChatTemplate> ChatTemplate::create(const Tokenizer& tokenizer, std::string_view jinja) {
  if (jinja.empty()) {
    return make_error(Code::kUnsupported, Part::kTokenizer,
                      "the model file has no tokenizer.chat_template, so messages cannot be "
                      "submitted; submit text or token ids");
  }
  std::optional<KnownForm> form = recognise(jinja);
  if (!form.has_value()) {
    return make_error(Code::kUnsupported, Part::kTokenizer,
                      "tokenizer.chat_template (%zu bytes) is none of the known ChatML forms, and "
                      "general Jinja templates are not supported yet; submit text or token ids",
                      jinja.size());
  }
  const std::optional<int32_t> start_id = tokenizer.find_control(kStartName);
  const std::optional<int32_t> end_id = tokenizer.find_control(kEndName);
  if (!start_id.has_value() || !end_id.has_value()) {
    return make_error(Code::kUnsupported, Part::kTokenizer,
                      "tokenizer.chat_template is ChatML, but %s is not a control token of the "
                      "vocabulary, so contents could forge turns; submit text or token ids",
                      start_id.has_value() ? "<|im_end|>" : "<|im_start|>");
  }
  ChatTemplate chat;
  chat.start_id_ = *start_id;
  chat.end_id_ = *end_id;
  chat.default_system_ = std::move(form->default_system);
  IFR_ASSIGN_OR_RETURN(chat.end_of_line_, tokenizer.encode("\n", SpecialTokens::kPlain));
  chat.end_tokens_.assign(tokenizer.end_tokens().begin(), tokenizer.end_tokens().end());
  const auto place =
      std::lower_bound(chat.end_tokens_.begin(), chat.end_tokens_.end(), chat.end_id_);
  if (place == chat.end_tokens_.end() || *place != chat.end_id_) {
    chat.end_tokens_.insert(place, chat.end_id_);
  }
  return chat;
}

Expected<std::vector<int32_t>> ChatTemplate::encode(const Tokenizer& tokenizer,
                                                    std::span<const ChatMessage> messages,
                                                    GenerationPrompt generation) const {
  std::vector<int32_t> ids;
  if (tokenizer.prompt_bos().has_value()) {
    ids.push_back(*tokenizer.prompt_bos());
  }
  if (default_system_.has_value() && !messages.empty() && messages[0].role != "system") {
    IFR_TRY(append_turn(tokenizer, {.role = "system", .content = *default_system_}, ids));
  }
  IFR_TRY(append_turns(tokenizer, messages, generation, ids));
  return ids;
}

Expected<std::vector<int32_t>> ChatTemplate::encode_next(const Tokenizer& tokenizer,
                                                         int32_t last_id,
                                                         std::span<const ChatMessage> messages,
                                                         GenerationPrompt generation) const {
  std::vector<int32_t> ids;
  if (last_id != end_id_) {
    ids.push_back(end_id_);
  }
  ids.insert(ids.end(), end_of_line_.begin(), end_of_line_.end());
  IFR_TRY(append_turns(tokenizer, messages, generation, ids));
  return ids;
}

Status ChatTemplate::append_turn(const Tokenizer& tokenizer, const ChatMessage& message,
                                 std::vector<int32_t>& ids) const {
  // Role, line end and content are one text to the model's own template: white space at the front
  // of a content joins the line end there, so it has to here.
  std::string prefix(message.role);
  prefix.push_back('\n');
  IFR_ASSIGN_OR_RETURN(const std::vector<int32_t> text,
                       tokenizer.encode_joined(prefix, message.content));
  ids.push_back(start_id_);
  ids.insert(ids.end(), text.begin(), text.end());
  ids.push_back(end_id_);
  ids.insert(ids.end(), end_of_line_.begin(), end_of_line_.end());
  return {};
}

Status ChatTemplate::append_turns(const Tokenizer& tokenizer, std::span<const ChatMessage> messages,
                                  GenerationPrompt generation, std::vector<int32_t>& ids) const {
  if (messages.empty()) {
    return make_error(Code::kInvalidArgument, Part::kTokenizer, "the chat has no messages");
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (std::find(kRoles.begin(), kRoles.end(), message.role) == kRoles.end()) {
      return make_error(Code::kInvalidArgument, Part::kTokenizer,
                        "message %zu has the role \"%.*s\"; roles are \"system\", \"user\" and "
                        "\"assistant\"",
                        i, static_cast<int>(std::min<size_t>(message.role.size(), 100)),
                        message.role.data());
    }
    const Status status = append_turn(tokenizer, message, ids);
    if (!status.is_ok()) {
      return make_error(status.code(), status.part(), "message %zu (%.*s): %s", i,
                        static_cast<int>(message.role.size()), message.role.data(),
                        status.message().c_str());
    }
  }
  if (generation == GenerationPrompt::kAdd) {
    IFR_ASSIGN_OR_RETURN(const std::vector<int32_t> opening,
                         tokenizer.encode("assistant\n", SpecialTokens::kPlain));
    ids.push_back(start_id_);
    ids.insert(ids.end(), opening.begin(), opening.end());
  }
  return {};
}

}  // namespace ifr
