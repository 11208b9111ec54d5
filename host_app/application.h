// SPDX-License-Identifier: Apache-2.0
// The program: window or none, the frame loop, what is written at the end.
#pragma once

#include "options.h"

namespace ifr::host {

/// Runs to the end and gives the exit code. Messages go to stderr, the answer to stdout.
[[nodiscard]] int run_application(const Options& options);

}  // namespace ifr::host
