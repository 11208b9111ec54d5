// SPDX-License-Identifier: Apache-2.0
// Small maps of all selecting layers, to compare and to choose from.
#ifndef INTERFRAME_PANELS_LAYER_PICKER_H
#define INTERFRAME_PANELS_LAYER_PICKER_H

#include "interframe_overlay/overlay.h"

namespace ifr::overlay {

/// A young context is not stretched over the whole width.
inline constexpr int32_t kLeastMapBlocks = 8;

/// snapshot.layers is not empty, state.layer_choice is one of them. A click, or Space on the
/// focused one, chooses.
void draw_layer_picker(const Snapshot& snapshot, OverlayState& state);

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_LAYER_PICKER_H
