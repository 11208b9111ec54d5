// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ifr::host {

/// Where Vulkan runs on the CPU, its threads share the cores with the frame thread: this puts them
/// below it, so that a call of the frame thread is seldom interrupted. Linux with Mesa's lavapipe;
/// elsewhere nothing. Call after the device was made. Returns how many threads were lowered.
int lower_rasterizer_threads();

}  // namespace ifr::host
