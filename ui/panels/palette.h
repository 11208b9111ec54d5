// SPDX-License-Identifier: Apache-2.0
// Colours. The scales rise evenly in lightness, so they read with any colour vision and in print.
#ifndef INTERFRAME_PANELS_PALETTE_H
#define INTERFRAME_PANELS_PALETTE_H

#include <imgui.h>

#include "interframe_overlay/overlay.h"

namespace ifr::overlay {

/// `t` in 0..1 (clamped; NaN counts as 0): dark to bright.
ImU32 palette_color(Palette palette, float t);
const char* palette_name(Palette palette);

namespace theme {
inline constexpr ImU32 kText = IM_COL32(232, 237, 244, 255);
inline constexpr ImU32 kTextDim = IM_COL32(146, 157, 174, 255);
inline constexpr ImU32 kAccent = IM_COL32(77, 208, 190, 255);
inline constexpr ImU32 kAccentDim = IM_COL32(77, 208, 190, 70);
inline constexpr ImU32 kWarm = IM_COL32(246, 184, 84, 255);
inline constexpr ImU32 kCool = IM_COL32(112, 158, 255, 255);
inline constexpr ImU32 kWarning = IM_COL32(255, 140, 92, 255);
inline constexpr ImU32 kTrack = IM_COL32(255, 255, 255, 20);
inline constexpr ImU32 kMapBack = IM_COL32(8, 10, 14, 255);        // not yet visible
inline constexpr ImU32 kMapNotChosen = IM_COL32(44, 50, 62, 255);  // visible, not chosen
inline constexpr ImU32 kHighlight = IM_COL32(255, 255, 255, 235);
}  // namespace theme

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_PALETTE_H
