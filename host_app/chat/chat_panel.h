// SPDX-License-Identifier: Apache-2.0
// The conversation on screen: a panel with the dialogue and the input line, and a bubble at the
// guide's head.
#pragma once

#include <string>

#include "passes/daylight.h"
#include "plugin_host/assistant.h"

namespace ifr::host {

struct ChatPanelState {
  char input[1024] = {};
  bool is_following = true;  // the dialogue scrolls with the answer
};

struct ChatPanelInput {
  float width = 0.0f;   // pixels that the overlay leaves free at the left
  float height = 0.0f;  // of the display
  float scale = 1.0f;
  ScreenPoint speaker;  // where the bubble's tail points
  double time_s = 0.0;
  bool accepts_input = true;  // false headless
};

/// Between ImGui's NewFrame and Render.
void draw_chat_panel(Assistant& assistant, ChatPanelState& state, const ChatPanelInput& input);
void draw_speech_bubble(const Assistant& assistant, const ChatPanelInput& input);

/// Length in bytes of the part of `answer` that is shown: up to the last whole word while it grows.
[[nodiscard]] size_t shown_length(const std::string& answer, bool is_finished);
/// Start of the last `max_bytes` of text[0, length), moved on to a character's and, where near, a
/// word's begin.
[[nodiscard]] size_t tail_start(const std::string& text, size_t length, size_t max_bytes);
/// One line: model, and what it is doing.
[[nodiscard]] std::string status_line(const Assistant& assistant);

}  // namespace ifr::host
