// SPDX-License-Identifier: Apache-2.0
// Where the panels stand: one column at the right edge that leaves the left to the host.
#ifndef INTERFRAME_PANELS_LAYOUT_H
#define INTERFRAME_PANELS_LAYOUT_H

namespace ifr::overlay {

struct PanelRect {
  float x = 0.0F;
  float y = 0.0F;
  float width = 0.0F;
  float height = 0.0F;
};

struct PanelLayout {
  PanelRect generation;
  PanelRect operators;
  PanelRect selection;
};

struct LayoutRequest {
  float display_width = 0.0F;   ///< pixels
  float display_height = 0.0F;  ///< pixels
  float scale = 1.0F;
  bool show_generation = true;
  bool show_operators = true;
  bool show_selection = true;
  bool selection_has_map = true;  ///< else its panel is one line
};

/// Panels that are shown do not overlap and stay inside the display (each side at least one pixel).
/// Those that are not shown have no size.
PanelLayout plan_layout(const LayoutRequest& request);

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_LAYOUT_H
