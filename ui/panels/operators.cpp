// SPDX-License-Identifier: Apache-2.0
// Operators: where the time goes, and how near it comes to what the machine can move.
#include <algorithm>
#include <iterator>

#include "interframe_overlay/overlay.h"
#include "panels/format.h"
#include "panels/operator_metrics.h"
#include "panels/palette.h"
#include "panels/widgets.h"

namespace ifr::overlay {
namespace {

struct Column {
  const char* title;
  OperatorColumn id;
  float width;  // unscaled pixels; 0: the rest
  ImGuiTableColumnFlags flags;
  const char* explanation;
};

constexpr ImGuiTableColumnFlags kNumber = ImGuiTableColumnFlags_PreferSortDescending;
constexpr Column kColumns[] = {
    {"operator", OperatorColumn::kName, 0.0F, ImGuiTableColumnFlags_NoHide,
     "Operator of the model"},
    {"calls", OperatorColumn::kCalls, 38.0F, kNumber, "Calls since the runtime began"},
    {"total", OperatorColumn::kTotal, 46.0F, kNumber, "Time of all calls"},
    {"mean", OperatorColumn::kMean, 44.0F, kNumber, "Time of one call, on average"},
    {"share", OperatorColumn::kShare, 54.0F, kNumber | ImGuiTableColumnFlags_DefaultSort,
     "Part of the time of all operators"},
    {"last", OperatorColumn::kLast, 50.0F, kNumber | ImGuiTableColumnFlags_DefaultHide,
     "Time of the last call"},
    {"GB/s", OperatorColumn::kBytes, 32.0F, kNumber,
     "Bytes that had to move at least, over the time taken"},
    {"GF/s", OperatorColumn::kFlops, 32.0F, kNumber,
     "Arithmetic operations over the time taken, in 1e9 a second"},
};

void draw_header_row() {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  int index = 0;
  for (const Column& column : kColumns) {
    if (ImGui::TableSetColumnIndex(index++)) {
      ImGui::PushStyleColor(ImGuiCol_Text, theme::kTextDim);
      ImGui::TableHeader(column.title);
      ImGui::PopStyleColor();
      ImGui::SetItemTooltip("%s", column.explanation);
    }
  }
}

void draw_share(double share) {
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = ImGui::GetTextLineHeight();
  const float bar = std::max(static_cast<float>(share) * width, 1.0F);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float inset = scaled(1.0F);
  list->AddRectFilled(ImVec2(begin.x, begin.y + inset),
                      ImVec2(begin.x + width, begin.y + height - inset), theme::kTrack,
                      scaled(2.0F));
  list->AddRectFilled(ImVec2(begin.x, begin.y + inset),
                      ImVec2(begin.x + bar, begin.y + height - inset), theme::kAccentDim,
                      scaled(2.0F));
  text_right(format_text("%.1f%%", share * 100.0).c_str(), theme::kText);
}

void draw_row(const ifr_operator_record& record, int32_t index, uint64_t all_ns) {
  const OperatorMetrics metrics = metrics_of(record, all_ns);
  const auto cell = [](OperatorColumn column, const ShortText& text) {
    if (ImGui::TableSetColumnIndex(static_cast<int>(column))) {
      text_right(text.c_str(), theme::kText);
    }
  };
  const auto rate = [](double value) {
    return value > 0.0 ? format_number(value) : format_text("-");
  };
  ImGui::TableNextRow();
  if (ImGui::TableSetColumnIndex(static_cast<int>(OperatorColumn::kName))) {
    ImGui::PushID(index);
    ImGui::Selectable(record.name, false,
                      ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap);
    ImGui::PopID();
    if (ImGui::BeginItemTooltip()) {
      const ShortText last = format_duration_ns(metrics.last_ns);
      const ShortText most = format_duration_ns(static_cast<double>(record.max_ns));
      const ShortText moved = format_bytes(record.bytes);
      ImGui::TextUnformatted(record.name);
      ImGui::Text("last %s, longest %s", last.c_str(), most.c_str());
      ImGui::Text("%s moved, %s floating-point operations", moved.c_str(),
                  format_count(record.flops).c_str());
      ImGui::EndTooltip();
    }
  }
  cell(OperatorColumn::kCalls, format_count(record.calls));
  cell(OperatorColumn::kTotal, format_duration_ns(metrics.total_ns));
  cell(OperatorColumn::kMean, format_duration_ns(metrics.mean_ns));
  if (ImGui::TableSetColumnIndex(static_cast<int>(OperatorColumn::kShare))) {
    draw_share(metrics.share);
  }
  cell(OperatorColumn::kLast, format_duration_ns(metrics.last_ns));
  cell(OperatorColumn::kBytes, rate(metrics.gigabytes_per_second));
  cell(OperatorColumn::kFlops, rate(metrics.gigaflops_per_second));
}

void draw_table(const Snapshot& snapshot, OverlayState& state, uint64_t all_ns) {
  const ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY |
                                ImGuiTableFlags_RowBg | ImGuiTableFlags_Hideable |
                                ImGuiTableFlags_Resizable | ImGuiTableFlags_NoSavedSettings |
                                ImGuiTableFlags_PadOuterX | ImGuiTableFlags_NoBordersInBody;
  if (!ImGui::BeginTable("operators", static_cast<int>(std::size(kColumns)), flags,
                         ImVec2(0.0F, std::max(ImGui::GetContentRegionAvail().y, 1.0F)))) {
    return;
  }
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const Column& column : kColumns) {
    const bool fixed = column.width > 0.0F;
    ImGui::TableSetupColumn(column.title,
                            column.flags | (fixed ? ImGuiTableColumnFlags_WidthFixed
                                                  : ImGuiTableColumnFlags_WidthStretch),
                            fixed ? scaled(column.width) : 1.0F, static_cast<ImGuiID>(column.id));
  }
  draw_header_row();
  OperatorColumn by = OperatorColumn::kShare;
  Direction direction = Direction::kDescending;
  if (const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
      specs != nullptr && specs->SpecsCount > 0) {
    by = static_cast<OperatorColumn>(specs->Specs[0].ColumnUserID);
    direction = specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending
                    ? Direction::kAscending
                    : Direction::kDescending;
  }
  order_operators(snapshot.operators, state.operator_filter, by, direction, state.operator_order);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(state.operator_order.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const int32_t record = state.operator_order[static_cast<size_t>(i)];
      draw_row(snapshot.operators[static_cast<size_t>(record)], record, all_ns);
    }
  }
  ImGui::EndTable();
}

}  // namespace

void draw_operators_panel(const Snapshot& snapshot, OverlayState& state) {
  const uint64_t all_ns = total_ns_of(snapshot.operators);
  if (all_ns == 0) {
    draw_notice(snapshot.connected ? "No operator has run yet."
                                   : "Not connected: no runtime has been read yet.");
    return;
  }
  const char* const button = "Copy as CSV";
  const ImGuiStyle& style = ImGui::GetStyle();
  ImGui::PushFont(nullptr, style.FontSizeBase * 0.88F);
  const float button_width = ImGui::CalcTextSize(button).x + 2.0F * style.FramePadding.x;
  ImGui::SetNextItemWidth(
      std::max(ImGui::GetContentRegionAvail().x - button_width - style.ItemSpacing.x, 1.0F));
  ImGui::InputTextWithHint("##filter", "Search operators", state.operator_filter,
                           sizeof(state.operator_filter));
  ImGui::SameLine();
  if (ImGui::Button(button)) {
    ImGui::SetClipboardText(operators_csv(snapshot.operators).c_str());
  }
  draw_table(snapshot, state, all_ns);
  ImGui::PopFont();
}

}  // namespace ifr::overlay
