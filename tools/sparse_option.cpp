// SPDX-License-Identifier: Apache-2.0
#include "tools/sparse_option.h"

#include <charconv>
#include <string_view>

namespace ifr::tools {

Expected<int32_t> parse_sparse(const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  constexpr std::string_view kName = "budget=";
  int32_t budget = 0;
  if (text.starts_with(kName)) {
    const char* begin = text.data() + kName.size();
    const char* end = text.data() + text.size();
    const std::from_chars_result result = std::from_chars(begin, end, budget);
    if (result.ec == std::errc() && result.ptr == end) {
      return budget;
    }
  }
  return make_error(Code::kInvalidArgument, Part::kNone,
                    "--sparse %s: give budget=N with a whole number of tokens, such as "
                    "--sparse budget=256",
                    text.c_str());
}

}  // namespace ifr::tools
