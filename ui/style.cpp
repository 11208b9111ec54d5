// SPDX-License-Identifier: Apache-2.0
// One dark, translucent theme for ImGui and ImPlot, and the embedded font.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include <implot.h>

#include "interframe_overlay/overlay.h"
#include "panels/palette.h"

namespace ifr::overlay {

std::span<const unsigned char> font_inter();  // embedded at build time

namespace {

constexpr float kFontPixels = 14.0F;
constexpr const char* kFontName = "Inter";

ImVec4 rgba(ImU32 color) {
  return ImGui::ColorConvertU32ToFloat4(color);
}

ImVec4 white(float alpha) {
  return {1.0F, 1.0F, 1.0F, alpha};
}

ImVec4 accent(float alpha) {
  ImVec4 color = rgba(theme::kAccent);
  color.w = alpha;
  return color;
}

void set_sizes(ImGuiStyle& style) {
  style.WindowPadding = {12.0F, 8.0F};
  style.FramePadding = {7.0F, 3.0F};
  style.CellPadding = {3.0F, 1.5F};
  style.ItemSpacing = {8.0F, 5.0F};
  style.ItemInnerSpacing = {6.0F, 4.0F};
  style.ScrollbarSize = 9.0F;
  style.GrabMinSize = 9.0F;
  style.WindowRounding = 7.0F;
  style.ChildRounding = 5.0F;
  style.FrameRounding = 4.0F;
  style.PopupRounding = 6.0F;
  style.ScrollbarRounding = 5.0F;
  style.GrabRounding = 4.0F;
  style.WindowBorderSize = 1.0F;
  style.PopupBorderSize = 1.0F;
  style.FrameBorderSize = 0.0F;
  style.WindowTitleAlign = {0.0F, 0.5F};
  style.WindowMenuButtonPosition = ImGuiDir_Right;
  style.DisabledAlpha = 0.45F;
}

void set_colors(ImGuiStyle& style) {
  const ImVec4 back = {0.043F, 0.052F, 0.070F, 0.86F};
  ImVec4* const colors = style.Colors;
  colors[ImGuiCol_Text] = rgba(theme::kText);
  colors[ImGuiCol_TextDisabled] = rgba(theme::kTextDim);
  colors[ImGuiCol_WindowBg] = back;
  colors[ImGuiCol_ChildBg] = white(0.0F);
  colors[ImGuiCol_PopupBg] = {0.062F, 0.074F, 0.098F, 0.97F};
  colors[ImGuiCol_Border] = white(0.09F);
  colors[ImGuiCol_FrameBg] = white(0.07F);
  colors[ImGuiCol_FrameBgHovered] = white(0.12F);
  colors[ImGuiCol_FrameBgActive] = white(0.16F);
  colors[ImGuiCol_TitleBg] = back;
  colors[ImGuiCol_TitleBgActive] = {0.060F, 0.075F, 0.102F, 0.94F};
  colors[ImGuiCol_TitleBgCollapsed] = back;
  colors[ImGuiCol_ScrollbarBg] = white(0.0F);
  colors[ImGuiCol_ScrollbarGrab] = white(0.14F);
  colors[ImGuiCol_ScrollbarGrabHovered] = white(0.22F);
  colors[ImGuiCol_ScrollbarGrabActive] = white(0.30F);
  colors[ImGuiCol_CheckMark] = accent(1.0F);
  colors[ImGuiCol_SliderGrab] = accent(0.75F);
  colors[ImGuiCol_SliderGrabActive] = accent(1.0F);
  colors[ImGuiCol_Button] = white(0.07F);
  colors[ImGuiCol_ButtonHovered] = accent(0.28F);
  colors[ImGuiCol_ButtonActive] = accent(0.45F);
  colors[ImGuiCol_Header] = accent(0.18F);
  colors[ImGuiCol_HeaderHovered] = accent(0.26F);
  colors[ImGuiCol_HeaderActive] = accent(0.36F);
  colors[ImGuiCol_Separator] = white(0.09F);
  colors[ImGuiCol_SeparatorHovered] = accent(0.5F);
  colors[ImGuiCol_SeparatorActive] = accent(0.8F);
  colors[ImGuiCol_ResizeGrip] = white(0.0F);
  colors[ImGuiCol_ResizeGripHovered] = accent(0.4F);
  colors[ImGuiCol_ResizeGripActive] = accent(0.7F);
  colors[ImGuiCol_TableHeaderBg] = white(0.04F);
  colors[ImGuiCol_TableBorderStrong] = white(0.08F);
  colors[ImGuiCol_TableBorderLight] = white(0.04F);
  colors[ImGuiCol_TableRowBg] = white(0.0F);
  colors[ImGuiCol_TableRowBgAlt] = white(0.022F);
  colors[ImGuiCol_TextSelectedBg] = accent(0.35F);
  colors[ImGuiCol_NavCursor] = accent(0.9F);
}

void set_plot_style() {
  if (ImPlot::GetCurrentContext() == nullptr) {
    return;
  }
  ImPlotStyle& style = ImPlot::GetStyle();
  style.PlotBorderSize = 0.0F;
  style.Colors[ImPlotCol_FrameBg] = white(0.0F);
  style.Colors[ImPlotCol_PlotBg] = white(0.025F);
  style.Colors[ImPlotCol_PlotBorder] = white(0.0F);
  style.Colors[ImPlotCol_AxisText] = rgba(theme::kTextDim);
  style.Colors[ImPlotCol_AxisGrid] = white(0.10F);
  style.Colors[ImPlotCol_AxisTick] = white(0.0F);
  style.Colors[ImPlotCol_AxisBg] = white(0.0F);
  style.Colors[ImPlotCol_AxisBgHovered] = white(0.04F);
  style.Colors[ImPlotCol_AxisBgActive] = white(0.06F);
}

/// Adds the font once; it stays in the atlas for any size.
void set_font(ImGuiIO& io) {
  for (const ImFont* font : io.Fonts->Fonts) {
    if (font == io.FontDefault && std::string_view(font->GetDebugName()).starts_with(kFontName)) {
      return;
    }
  }
  const std::span<const unsigned char> bytes = font_inter();
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;  // a constant of the program
  config.OversampleH = 2;
  config.PixelSnapH = false;
  std::snprintf(config.Name, sizeof(config.Name), "%s", kFontName);
  // The atlas takes a pointer to mutable bytes and does not write to them.
  void* const data = const_cast<unsigned char*>(bytes.data());
  io.FontDefault =
      io.Fonts->AddFontFromMemoryTTF(data, static_cast<int>(bytes.size()), kFontPixels, &config);
}

}  // namespace

void overlay_apply_style(float dpi_scale) {
  if (ImGui::GetCurrentContext() == nullptr) {
    return;
  }
  const float scale = std::isfinite(dpi_scale) ? std::clamp(dpi_scale, 0.5F, 4.0F) : 1.0F;
  ImGuiIO& io = ImGui::GetIO();
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();  // sizes are scaled in place: begin from the defaults each time
  set_sizes(style);
  set_colors(style);
  style.ScaleAllSizes(scale);
  style.WindowMinSize = {1.0F, 1.0F};  // scaled down it would be refused as 0
  style.FontSizeBase = kFontPixels;
  style.FontScaleDpi = scale;
  set_font(io);
  set_plot_style();
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
}

}  // namespace ifr::overlay
