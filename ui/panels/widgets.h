// SPDX-License-Identifier: Apache-2.0
// Small pieces that several panels draw. All sizes follow the current font size.
#ifndef INTERFRAME_PANELS_WIDGETS_H
#define INTERFRAME_PANELS_WIDGETS_H

#include <span>

#include <imgui.h>

namespace ifr::overlay {

/// Unscaled pixels -> pixels of the current style.
float scaled(float pixels);

/// A caption over a large value with its unit, in a box `width` wide.
void draw_stat(const char* caption, const char* value, const char* unit, ImU32 color, float width);

struct BarPart {
  float value = 0.0F;
  ImU32 color = 0;
};

/// One bar over the width of the window: parts side by side out of `total`, the rest as track.
void draw_bar(std::span<const BarPart> parts, float total, float height);

/// A coloured square and its text, on the current line.
void draw_key(ImU32 color, const char* text);

/// Caption at the left and text at the right edge of one line.
void draw_line(const char* caption, const char* text);

void text_dim(const char* text);
void text_right(const char* text, ImU32 color);
/// Wrapped, dim: what to say when there is nothing to show.
void draw_notice(const char* text);

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_WIDGETS_H
