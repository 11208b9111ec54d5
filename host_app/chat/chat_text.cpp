// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "chat/chat_panel.h"

namespace ifr::host {

size_t shown_length(const std::string& answer, bool is_finished) {
  if (is_finished) {
    return answer.size();
  }
  const size_t space = answer.find_last_of(" \n\t");
  // Scripts without spaces, and very long words, are shown as they come.
  constexpr size_t kLongestWordBytes = 24;
  if (space == std::string::npos || answer.size() - space > kLongestWordBytes) {
    return answer.size() > kLongestWordBytes || space == std::string::npos ? answer.size() : space;
  }
  return space;
}

size_t tail_start(const std::string& text, size_t length, size_t max_bytes) {
  if (length <= max_bytes) {
    return 0;
  }
  size_t start = length - max_bytes;
  while (start < length && (static_cast<unsigned char>(text[start]) & 0xC0u) == 0x80u) {
    ++start;
  }
  const size_t space = text.find(' ', start);
  return space != std::string::npos && space < std::min(start + 24, length) ? space + 1 : start;
}

std::string status_line(const Assistant& assistant) {
  const auto& model = assistant.model();
  const std::string file = std::filesystem::path(assistant.model_path()).filename().string();
  const std::string name = model.name[0] != '\0' ? std::string(model.name) : file;
  char text[160] = {};
  switch (assistant.state()) {
    case AssistantState::kNoModel:
      return "No model: start with --model PATH to talk";
    case AssistantState::kLoading:
      (void)std::snprintf(text, sizeof(text), "loading %.0f %%", assistant.load_share() * 100.0);
      break;
    case AssistantState::kReady:
      (void)std::snprintf(text, sizeof(text), "ready");
      break;
    case AssistantState::kGenerating: {
      const Turn& turn = assistant.turns().back();
      if (turn.num_tokens == 0) {
        (void)std::snprintf(text, sizeof(text), "reading the prompt");
      } else {
        (void)std::snprintf(text, sizeof(text), "generating, %.1f tokens/s",
                            turn.tokens_per_second);
      }
      break;
    }
    case AssistantState::kFailed:
      (void)std::snprintf(text, sizeof(text), "not available");
      break;
  }
  const bool is_tokenless = model.struct_size != 0 && model.has_tokenizer == 0;
  return name + "  ·  " + text + (is_tokenless ? "  ·  no tokenizer: bytes in, token ids out" : "");
}

}  // namespace ifr::host
