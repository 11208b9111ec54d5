// SPDX-License-Identifier: Apache-2.0
// Generation: how fast text comes, how full context and memory are.
#include <algorithm>
#include <array>
#include <cmath>

#include <implot.h>

#include "interframe_overlay/overlay.h"
#include "panels/format.h"
#include "panels/palette.h"
#include "panels/widgets.h"

namespace ifr::overlay {
namespace {

/// The largest of 1, 2, 5 times a power of ten that is not above `value`.
double round_down(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double digit = value / power;
  return power * (digit >= 5.0 ? 5.0 : (digit >= 2.0 ? 2.0 : 1.0));
}

void draw_model_line(const Snapshot& snapshot) {
  if (!snapshot.has_model) {
    text_dim("no model has run yet");
  } else {
    const ifr_model_description& model = snapshot.model;
    const bool named = model.name[0] != '\0';
    ImGui::TextUnformatted(named ? model.name : model.architecture);
    ImGui::SameLine();
    const ShortText size = format_count(model.num_parameters);
    text_dim(format_text("%s%s%s parameters", named ? model.architecture : "", named ? ", " : "",
                         size.c_str())
                 .c_str());
  }
  const ifr_telemetry& telemetry = snapshot.telemetry;
  const char* state = "idle";
  ImU32 color = theme::kTextDim;
  if (!snapshot.live) {
    state = "not connected";
    color = theme::kWarning;
  } else if (telemetry.num_active_requests > 0) {
    state = "running";
    color = theme::kAccent;
  }
  ImGui::SameLine();
  text_right(state, color);
}

void draw_stats(const ifr_telemetry& telemetry) {
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float width = (ImGui::GetContentRegionAvail().x - 3.0F * gap) / 4.0F;
  const auto number = [](float value) {
    return value > 0.0F ? format_number(static_cast<double>(value)) : format_text("-");
  };
  draw_stat("decode", number(telemetry.decode_tokens_per_second).c_str(), "tok/s", theme::kAccent,
            width);
  ImGui::SameLine();
  draw_stat("first token", number(telemetry.first_token_ms).c_str(), "ms", theme::kText, width);
  ImGui::SameLine();
  draw_stat("prefill", number(telemetry.prefill_tokens_per_second).c_str(), "tok/s", theme::kText,
            width);
  ImGui::SameLine();
  draw_stat("last step", number(telemetry.step_ms).c_str(), "ms", theme::kText, width);
}

void draw_history(const History& history, float height) {
  if (ImPlot::GetCurrentContext() == nullptr || height < scaled(24.0F)) {
    return;
  }
  const float most = *std::max_element(history.decode_tokens_per_second.begin(),
                                       history.decode_tokens_per_second.end());
  const double top = most > 0.0F ? static_cast<double>(most) * 1.15 : 1.0;
  constexpr double kInterval = static_cast<double>(History::kIntervalNs) * 1e-9;
  constexpr double kSpan = kInterval * History::kCapacity;
  ImPlot::PushStyleVar(ImPlotStyleVar_PlotPadding, ImVec2(0.0F, scaled(2.0F)));
  ImPlot::PushStyleVar(ImPlotStyleVar_LabelPadding, ImVec2(scaled(4.0F), scaled(2.0F)));
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 0.78F);
  if (ImPlot::BeginPlot("##tokens_per_second", ImVec2(-1.0F, height),
                        ImPlotFlags_CanvasOnly | ImPlotFlags_NoInputs)) {
    const ImPlotAxisFlags flags = ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_NoSideSwitch |
                                  ImPlotAxisFlags_NoHighlight | ImPlotAxisFlags_NoMenus;
    ImPlot::SetupAxis(ImAxis_X1, nullptr, flags | ImPlotAxisFlags_NoGridLines);
    ImPlot::SetupAxis(ImAxis_Y1, nullptr, flags);
    ImPlot::SetupAxisLimits(ImAxis_X1, -kSpan, 0.0, ImPlotCond_Always);
    ImPlot::SetupAxisLimits(ImAxis_Y1, 0.0, top, ImPlotCond_Always);
    ImPlot::SetupAxisFormat(ImAxis_X1, "%g s");
    const std::array<double, 2> ticks = {0.0, round_down(top)};
    ImPlot::SetupAxisFormat(ImAxis_Y1, "%g");
    ImPlot::SetupAxisTicks(ImAxis_Y1, ticks.data(), static_cast<int>(ticks.size()));
    ImPlotSpec spec;
    spec.LineColor = ImGui::ColorConvertU32ToFloat4(theme::kAccent);
    spec.LineWeight = std::max(scaled(1.6F), 1.0F);
    spec.FillColor = ImGui::ColorConvertU32ToFloat4(theme::kAccent);
    spec.FillAlpha = 0.28F;
    spec.Flags = ImPlotLineFlags_Shaded;
    spec.Offset = history.begin;
    if (history.count > 1) {
      ImPlot::PlotLine("tok/s", history.decode_tokens_per_second.data(), history.count, kInterval,
                       -kInterval * (history.count - 1), spec);
    }
    ImPlot::EndPlot();
  }
  ImGui::PopFont();
  ImPlot::PopStyleVar(2);
}

void draw_context(const ifr_telemetry& telemetry) {
  const ShortText used = format_count(static_cast<uint64_t>(std::max(telemetry.used_tokens, 0)));
  const ShortText all = format_count(static_cast<uint64_t>(std::max(telemetry.context_tokens, 0)));
  draw_line("context", format_text("%s of %s tokens", used.c_str(), all.c_str()).c_str());
  const auto total = static_cast<float>(telemetry.context_tokens);
  const auto part = static_cast<float>(telemetry.used_tokens);
  const bool nearly_full = total > 0.0F && part > 0.9F * total;
  const std::array<BarPart, 1> parts = {{{part, nearly_full ? theme::kWarm : theme::kAccent}}};
  draw_bar(parts, total, scaled(6.0F));
}

void draw_memory(const ifr_telemetry& telemetry) {
  const ShortText used = format_bytes(telemetry.memory_used_bytes);
  const bool limited = telemetry.memory_budget_bytes > 0;
  const ShortText budget = format_bytes(telemetry.memory_budget_bytes);
  draw_line("memory", limited ? format_text("%s of %s budget", used.c_str(), budget.c_str()).c_str()
                              : format_text("%s, no limit", used.c_str()).c_str());
  const uint64_t known = telemetry.weight_bytes + telemetry.cache_bytes + telemetry.state_bytes;
  const uint64_t other =
      telemetry.memory_used_bytes > known ? telemetry.memory_used_bytes - known : 0;
  const std::array<BarPart, 4> parts = {{
      {static_cast<float>(telemetry.weight_bytes), theme::kCool},
      {static_cast<float>(telemetry.cache_bytes), theme::kAccent},
      {static_cast<float>(telemetry.state_bytes), theme::kWarm},
      {static_cast<float>(other), theme::kTextDim},
  }};
  const uint64_t total = limited ? telemetry.memory_budget_bytes : telemetry.memory_used_bytes;
  draw_bar(parts, static_cast<float>(total), scaled(6.0F));
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 0.86F);
  const float gap = scaled(12.0F);
  const auto key = [](ImU32 color, const char* name, uint64_t num_bytes) {
    const ShortText size = format_bytes(num_bytes);
    draw_key(color, format_text("%s %s", name, size.c_str()).c_str());
  };
  key(theme::kCool, "weights", telemetry.weight_bytes);
  ImGui::SameLine(0.0F, gap);
  key(theme::kAccent, "caches", telemetry.cache_bytes);
  ImGui::SameLine(0.0F, gap);
  key(theme::kWarm, "states", telemetry.state_bytes);
  ImGui::PopFont();
}

}  // namespace

void draw_generation_panel(const Snapshot& snapshot, OverlayState& /*state*/) {
  if (!snapshot.connected) {
    draw_notice("Not connected: no runtime has been read yet.");
    return;
  }
  const ifr_telemetry& telemetry = snapshot.telemetry;
  draw_model_line(snapshot);
  draw_stats(telemetry);
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float below = 4.0F * line + 2.0F * (scaled(6.0F) + ImGui::GetStyle().ItemSpacing.y);
  draw_history(snapshot.history, ImGui::GetContentRegionAvail().y - below);
  draw_context(telemetry);
  draw_memory(telemetry);
  const ShortText prompt = format_count(telemetry.prompt_tokens);
  const ShortText generated = format_count(telemetry.generated_tokens);
  draw_line(format_text("%d running, %d queued", telemetry.num_active_requests,
                        telemetry.num_queued_requests)
                .c_str(),
            format_text("%s tokens read, %s written", prompt.c_str(), generated.c_str()).c_str());
}

}  // namespace ifr::overlay
