// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_panel.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace ifr::host {
namespace {

constexpr ImU32 kBubble = IM_COL32(252, 250, 245, 244);
constexpr ImU32 kBubbleEdge = IM_COL32(60, 50, 70, 70);
constexpr ImU32 kBubbleText = IM_COL32(38, 34, 48, 255);
constexpr ImU32 kQuestion = IM_COL32(246, 184, 84, 255);
constexpr ImU32 kTrouble = IM_COL32(255, 140, 92, 255);
constexpr ImU32 kStatus = IM_COL32(146, 157, 174, 255);
constexpr size_t kBubbleBytes = 230;

void colored_text(ImU32 color, const char* begin, const char* end) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::PushTextWrapPos(0.0f);
  ImGui::TextUnformatted(begin, end);
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

void colored_text(ImU32 color, const std::string& text) {
  colored_text(color, text.data(), text.data() + text.size());
}

void draw_turn(const Turn& turn, const Assistant& assistant) {
  colored_text(kQuestion, turn.question);
  const size_t length = shown_length(turn.answer, turn.is_finished);
  if (length > 0) {
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(turn.answer.data(), turn.answer.data() + length);
    ImGui::PopTextWrapPos();
  } else if (!turn.is_finished) {
    colored_text(kStatus,
                 assistant.state() == AssistantState::kLoading ? "(waits for the model)" : "...");
  }
  if (turn.is_finished && !turn.remark.empty()) {
    colored_text(turn.answer.empty() ? kTrouble : kStatus, "(" + turn.remark + ")");
  }
  ImGui::Spacing();
}

void draw_dialogue(const Assistant& assistant, ChatPanelState& state, float height) {
  if (!ImGui::BeginChild("dialogue", {0.0f, height})) {
    ImGui::EndChild();
    return;
  }
  if (assistant.state() == AssistantState::kFailed) {
    colored_text(kTrouble, assistant.error());
  } else if (assistant.model().struct_size != 0 && assistant.model().has_tokenizer == 0) {
    colored_text(
        kStatus,
        "This model has no tokenizer: the bytes of the prompt are its ids, and the answer is shown "
        "as token ids.");
  }
  for (const Turn& turn : assistant.turns()) {
    // A failure is told once, above.
    if (assistant.state() != AssistantState::kFailed || turn.remark != assistant.error()) {
      draw_turn(turn, assistant);
    } else {
      colored_text(kQuestion, turn.question);
    }
  }
  const float bottom = ImGui::GetScrollMaxY();
  if (state.is_following) {
    ImGui::SetScrollHereY(1.0f);
  }
  state.is_following = ImGui::GetScrollY() >= bottom - 2.0f || ImGui::GetIO().MouseWheel == 0.0f;
  ImGui::EndChild();
}

void draw_input(Assistant& assistant, ChatPanelState& state, float scale) {
  const bool busy = assistant.state() == AssistantState::kGenerating || assistant.is_waiting();
  const float button = 84.0f * scale;
  ImGui::SetNextItemWidth(-button - ImGui::GetStyle().ItemSpacing.x);
  const bool entered =
      ImGui::InputTextWithHint("##prompt", "Ask something, then press Enter", state.input,
                               sizeof(state.input), ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  if (busy) {
    if (ImGui::Button("Stop", {button, 0.0f})) {
      assistant.cancel();
    }
    return;
  }
  const bool pressed = ImGui::Button("Ask", {button, 0.0f});
  if ((entered || pressed) && assistant.ask(state.input)) {
    state.input[0] = '\0';
    state.is_following = true;
    ImGui::SetKeyboardFocusHere(-1);
  }
}

}  // namespace

void draw_chat_panel(Assistant& assistant, ChatPanelState& state, const ChatPanelInput& input) {
  const float margin = 12.0f * input.scale;
  const float width = std::max(std::min(input.width - 2.0f * margin, 820.0f * input.scale), 1.0f);
  const bool is_idle =
      !input.accepts_input && assistant.turns().empty() && assistant.error().empty();
  const float wanted = is_idle ? 40.0f : (input.accepts_input ? 158.0f : 116.0f);
  const float height = std::max(std::min(wanted * input.scale, 0.4f * input.height), 1.0f);
  ImGui::SetNextWindowPos(
      {margin + 0.5f * (input.width - 2.0f * margin - width), input.height - margin - height});
  ImGui::SetNextWindowSize({width, height});
  constexpr ImGuiWindowFlags kFlags =
      ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
      ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar;
  if (ImGui::Begin("Chat", nullptr, kFlags)) {
    colored_text(kStatus, status_line(assistant));
    if (assistant.state() == AssistantState::kLoading) {
      ImGui::ProgressBar(static_cast<float>(assistant.load_share()), {-1.0f, 5.0f * input.scale},
                         "");
    }
    const float input_height = input.accepts_input ? ImGui::GetFrameHeightWithSpacing() : 0.0f;
    draw_dialogue(assistant, state,
                  std::max(ImGui::GetContentRegionAvail().y - input_height, 1.0f));
    if (input.accepts_input) {
      draw_input(assistant, state, input.scale);
    }
  }
  ImGui::End();
}

void draw_speech_bubble(const Assistant& assistant, const ChatPanelInput& input) {
  if (!input.speaker.visible || assistant.turns().empty() ||
      assistant.state() == AssistantState::kFailed) {
    return;
  }
  const Turn& turn = assistant.turns().back();
  const size_t length = shown_length(turn.answer, turn.is_finished);
  std::string text;
  if (length > 0) {
    const size_t start = tail_start(turn.answer, length, kBubbleBytes);
    text = (start > 0 ? "… " : "") + turn.answer.substr(start, length - start);
  } else if (!turn.is_finished) {
    text.assign(1 + static_cast<size_t>(std::fmod(input.time_s * 3.0, 3.0)), '.');
  } else {
    return;
  }
  const float scale = input.scale;
  const float font_size = 17.0f * scale;
  const float wrap = std::min(400.0f * scale, 0.6f * input.width);
  ImFont* font = ImGui::GetFont();
  const ImVec2 size =
      font->CalcTextSizeA(font_size, wrap, wrap, text.data(), text.data() + text.size());
  const ImVec2 pad{16.0f * scale, 12.0f * scale};
  const ImVec2 box{std::max(size.x, 24.0f * scale) + 2.0f * pad.x, size.y + 2.0f * pad.y};
  const ImVec2 tip{input.speaker.x * ImGui::GetIO().DisplaySize.x,
                   input.speaker.y * ImGui::GetIO().DisplaySize.y};
  const float left = std::clamp(tip.x - 0.35f * box.x, 12.0f * scale,
                                std::max(input.width - box.x - 12.0f * scale, 12.0f * scale));
  const float top = std::max(tip.y - 20.0f * scale - box.y, 12.0f * scale);
  const ImVec2 low{left, top};
  const ImVec2 high{left + box.x, top + box.y};
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  const float root = std::clamp(tip.x, low.x + 24.0f * scale, high.x - 24.0f * scale);
  list->AddRectFilled({low.x, low.y + 3.0f * scale}, {high.x, high.y + 3.0f * scale},
                      IM_COL32(20, 14, 30, 60), 14.0f * scale);
  list->AddRectFilled(low, high, kBubble, 14.0f * scale);
  list->AddRect(low, high, kBubbleEdge, 14.0f * scale, 0, 1.0f * scale);
  list->AddTriangleFilled({root - 9.0f * scale, high.y - 1.0f},
                          {root + 9.0f * scale, high.y - 1.0f},
                          {tip.x, std::max(tip.y - 4.0f * scale, high.y + 6.0f * scale)}, kBubble);
  list->AddText(font, font_size, {low.x + pad.x, low.y + pad.y}, kBubbleText, text.data(),
                text.data() + text.size(), wrap);
}

}  // namespace ifr::host
