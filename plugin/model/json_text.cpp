// SPDX-License-Identifier: Apache-2.0
#include "model/json_text.h"

#include <unordered_set>
#include <vector>

#include "model/text_check.h"

namespace ifr {

namespace {

constexpr int kMaxDepth = 64;

// Thrown by the callback, caught below: the library has no other way to stop.
struct Refusal {
  std::string why;
};

}  // namespace

Expected<nlohmann::json> parse_json(const std::string& text, const std::string& path) {
  using nlohmann::json;
  std::vector<std::unordered_set<std::string>> keys;  // of each open object, by depth
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) {
      throw Refusal{"it is nested deeper than " + std::to_string(kMaxDepth)};
    }
    const auto level = static_cast<size_t>(depth);
    if (event == json::parse_event_t::object_start) {
      if (keys.size() <= level + 1) {
        keys.resize(level + 2);
      }
      keys[level + 1].clear();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys[level].insert(key).second) {
        throw Refusal{"the key '" + printable(key) + "' stands twice in one object"};
      }
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const Refusal& refusal) {
    return make_error(Code::kInvalidFile, Part::kModel, "'%s': %s", path.c_str(),
                      refusal.why.c_str());
  } catch (const json::parse_error& error) {
    return make_error(Code::kInvalidFile, Part::kModel, "'%s', byte %zu: not valid JSON (%s)",
                      path.c_str(), error.byte, printable(error.what(), 300).c_str());
  } catch (const json::exception& error) {
    return make_error(Code::kInvalidFile, Part::kModel, "'%s': not valid JSON (%s)", path.c_str(),
                      printable(error.what(), 300).c_str());
  }
}

}  // namespace ifr
