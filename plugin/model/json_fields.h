// SPDX-License-Identifier: Apache-2.0
// Typed and checked reading of one JSON object's fields. Private to the readers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/status.h"

namespace ifr {

// JSON null counts as absent. Every error names file, field and value. The object and the path
// outlive this.
class JsonFields {
 public:
  // `where` stands before field names in messages: "" or "text_config.".
  JsonFields(const nlohmann::json& object, const std::string& path, std::string where)
      : object_(object), path_(path), where_(std::move(where)) {}

  [[nodiscard]] const nlohmann::json* find(const char* key) const;  // null when absent

  // In [min, max]; absent: `fallback`, or an error when that is not given.
  [[nodiscard]] Status integer(const char* key, int64_t min, int64_t max, int32_t& out,
                               std::optional<int32_t> fallback = std::nullopt) const;
  // `value` is the field's or one of its array's.
  [[nodiscard]] Status integer_in(const char* key, const nlohmann::json& value, int64_t min,
                                  int64_t max, int64_t& out) const;
  // Finite, above 0, at most `max`; absent as above.
  [[nodiscard]] Status positive_real(const char* key, double max, double& out,
                                     std::optional<double> fallback = std::nullopt) const;
  [[nodiscard]] Status boolean(const char* key, bool& out, bool fallback) const;
  [[nodiscard]] Status text(const char* key, std::string& out, const char* fallback) const;

  // "'path': field text"
  [[nodiscard]] Status error(const char* key, Code code, const std::string& text) const;
  [[nodiscard]] Status wrong(const char* key, const std::string& text) const {
    return error(key, Code::kInvalidFile, text);
  }
  // A value as a message shows it.
  [[nodiscard]] static std::string shown(const nlohmann::json& value);

 private:
  const nlohmann::json& object_;
  const std::string& path_;
  std::string where_;
};

}  // namespace ifr
