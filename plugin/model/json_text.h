// SPDX-License-Identifier: Apache-2.0
// JSON from a file. Private to the readers: the library's exceptions end in json_text.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"

namespace ifr {

// Refuses a key that stands twice in one object and nesting deeper than 64. Uses no recursion.
[[nodiscard]] Expected<nlohmann::json> parse_json(const std::string& text, const std::string& path);

}  // namespace ifr
