// SPDX-License-Identifier: Apache-2.0
// The value of --sparse, as every command takes it.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace ifr::tools {

inline constexpr const char* kSparseHelp =
    "budget=N: each query reads N tokens of the past at most in every layer and key head (a "
    "multiple of 16, at least 64; 0: all). For models that attend densely";

// The N of "budget=N"; 0 for an empty text. Errors: kInvalidArgument. What the model allows is
// checked where it is loaded.
[[nodiscard]] Expected<int32_t> parse_sparse(const std::string& text);

}  // namespace ifr::tools
