// SPDX-License-Identifier: Apache-2.0
#include "interframe_overlay/overlay.h"

#include <algorithm>
#include <string_view>

#include "panels/format.h"
#include "panels/layout.h"

namespace ifr::overlay {
namespace {

using DrawPanel = void (*)(const Snapshot&, OverlayState&);

struct Panel {
  const char* title;
  bool* shown;
  PanelRect rect;
  DrawPanel draw;
};

/// `place`: the layout changed, so the window goes to its place; else it stays where the user left
/// it.
void draw_panel(const Panel& panel, bool place, const Snapshot& snapshot, OverlayState& state) {
  if (!*panel.shown) {
    return;
  }
  const ImGuiCond condition = place ? ImGuiCond_Always : ImGuiCond_Appearing;
  ImGui::SetNextWindowPos(ImVec2(panel.rect.x, panel.rect.y), condition);
  ImGui::SetNextWindowSize(ImVec2(panel.rect.width, panel.rect.height), condition);
  const ImGuiWindowFlags flags = ImGuiWindowFlags_NoSavedSettings |
                                 ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoScrollbar;
  if (ImGui::Begin(panel.title, panel.shown, flags)) {
    panel.draw(snapshot, state);
  }
  ImGui::End();
}

}  // namespace

DrawResult draw(const Snapshot& snapshot, OverlayState& state) {
  const ImGuiContext* const context = ImGui::GetCurrentContext();
  if (context == nullptr || ImGui::GetFrameCount() == 0) {
    return DrawResult::kNoContext;
  }
  if (ImGui::IsKeyPressed(ImGuiKey_F1, false)) {
    state.visible = !state.visible;
  }
  if (!state.visible) {
    return DrawResult::kHidden;
  }
  const ImGuiIO& io = ImGui::GetIO();
  const float scale = std::max(ImGui::GetStyle().FontScaleDpi, 0.1F);
  const bool has_map = !snapshot.layers.empty();
  const PanelLayout layout = plan_layout({.display_width = io.DisplaySize.x,
                                          .display_height = io.DisplaySize.y,
                                          .scale = scale,
                                          .show_generation = state.show_generation,
                                          .show_operators = state.show_operators,
                                          .show_selection = state.show_selection,
                                          .selection_has_map = has_map});
  const int shown = (state.show_generation ? 1 : 0) + (state.show_operators ? 2 : 0) +
                    (state.show_selection ? 4 : 0);
  const std::array<float, 5> key = {io.DisplaySize.x, io.DisplaySize.y, scale,
                                    static_cast<float>(shown), has_map ? 1.0F : 0.0F};
  const bool place = key != state.layout_key;
  state.layout_key = key;
  state.wanted_block = {};
  state.wanted_query = {};
  const std::array<Panel, 3> panels = {{
      {"Generation###ifr_generation", &state.show_generation, layout.generation,
       draw_generation_panel},
      {"Operators###ifr_operators", &state.show_operators, layout.operators, draw_operators_panel},
      {"Selection###ifr_selection", &state.show_selection, layout.selection, draw_selection_panel},
  }};
  for (const Panel& panel : panels) {
    draw_panel(panel, place, snapshot, state);
  }
  return DrawResult::kDrawn;
}

void Overlay::update(const ifr_api* api, ifr_runtime* runtime) {
  if (api == nullptr) {
    snapshot.live = false;
    snapshot.error_code = IFR_ERROR_INVALID_STATE;
    return;
  }
  collection.wanted_block = view.wanted_block;
  collection.wanted_query = view.wanted_query;
  collect(*api, runtime, snapshot, collection);
}

DrawResult Overlay::draw() {
  return overlay::draw(snapshot, view);
}

bool overlay_matches_imgui(const ImGuiBuild& host) {
  const ImGuiBuild mine = imgui_build_here();
  return host.version != nullptr && std::string_view(host.version) == mine.version &&
         host.io_bytes == mine.io_bytes && host.style_bytes == mine.style_bytes &&
         host.vec2_bytes == mine.vec2_bytes && host.vec4_bytes == mine.vec4_bytes &&
         host.vertex_bytes == mine.vertex_bytes && host.index_bytes == mine.index_bytes;
}

}  // namespace ifr::overlay
