// SPDX-License-Identifier: Apache-2.0
#include "panels/widgets.h"

#include <algorithm>
#include <cmath>

#include "panels/palette.h"

namespace ifr::overlay {

float scaled(float pixels) {
  return pixels * ImGui::GetStyle().FontScaleDpi;
}

void draw_stat(const char* caption, const char* value, const char* unit, ImU32 color, float width) {
  const float base = ImGui::GetStyle().FontSizeBase;
  ImGui::BeginGroup();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(scaled(3.0F), 0.0F));
  ImGui::PushFont(nullptr, base * 0.82F);
  text_dim(caption);
  ImGui::PopFont();
  const float left = ImGui::GetCursorPosX();
  ImGui::PushFont(nullptr, base * 1.5F);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(value);
  ImGui::PopStyleColor();
  ImGui::PopFont();
  ImGui::SameLine();
  ImGui::PushFont(nullptr, base * 0.82F);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + base * 0.52F * ImGui::GetStyle().FontScaleDpi);
  text_dim(unit);
  ImGui::PopFont();
  ImGui::SetCursorPosX(left);
  ImGui::Dummy(ImVec2(std::max(width, 1.0F), 0.0F));
  ImGui::PopStyleVar();
  ImGui::EndGroup();
}

void draw_bar(std::span<const BarPart> parts, float total, float height) {
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float rounding = height * 0.4F;
  list->AddRectFilled(begin, ImVec2(begin.x + width, begin.y + height), theme::kTrack, rounding);
  float x = begin.x;
  for (const BarPart& part : parts) {
    if (!(part.value > 0.0F) || !(total > 0.0F)) {
      continue;
    }
    const float end = std::min(x + width * std::min(part.value / total, 1.0F), begin.x + width);
    // A part too thin for its rounding still shows as one pixel.
    const ImVec2 corner(std::max(end, x + 1.0F), begin.y + height);
    ImDrawFlags corners =
        x <= begin.x ? ImDrawFlags_RoundCornersLeft : ImDrawFlags_RoundCornersNone;
    if (end >= begin.x + width - 0.5F) {
      corners = x <= begin.x ? ImDrawFlags_RoundCornersAll : ImDrawFlags_RoundCornersRight;
    }
    list->AddRectFilled(ImVec2(x, begin.y), corner, part.color, rounding, corners);
    x = end;
  }
  ImGui::Dummy(ImVec2(width, height));
}

void draw_key(ImU32 color, const char* text) {
  const float size = std::floor(ImGui::GetFontSize() * 0.62F);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float y = std::floor(begin.y + (ImGui::GetTextLineHeight() - size) * 0.55F);
  ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(begin.x, y), ImVec2(begin.x + size, y + size),
                                            color, size * 0.25F);
  // A dark square on a dark panel shows by its edge.
  ImGui::GetWindowDrawList()->AddRect(ImVec2(begin.x, y), ImVec2(begin.x + size, y + size),
                                      IM_COL32(255, 255, 255, 60), size * 0.25F);
  ImGui::Dummy(ImVec2(size, ImGui::GetTextLineHeight()));
  ImGui::SameLine(0.0F, scaled(4.0F));
  text_dim(text);
}

void draw_line(const char* caption, const char* text) {
  text_dim(caption);
  ImGui::SameLine();
  text_right(text, theme::kText);
}

void text_dim(const char* text) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme::kTextDim);
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
}

void text_right(const char* text, ImU32 color) {
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(room, 0.0F));
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
}

void draw_notice(const char* text) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme::kTextDim);
  ImGui::PushTextWrapPos(0.0F);
  ImGui::TextUnformatted(text);
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

}  // namespace ifr::overlay
