// SPDX-License-Identifier: Apache-2.0
#include "model/json_fields.h"

#include <cmath>

#include "model/text_check.h"

namespace ifr {

using nlohmann::json;

const json* JsonFields::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

Status JsonFields::error(const char* key, Code code, const std::string& text) const {
  return make_error(code, Part::kModel, "'%s': %s%s %s", printable(path_, 200).c_str(),
                    where_.c_str(), key, text.c_str());
}

std::string JsonFields::shown(const json& value) {
  if (value.is_structured()) {
    return value.is_array() ? "an array" : "an object";
  }
  return printable(value.dump(), 80);  // the parser let only valid UTF-8 in
}

Status JsonFields::integer(const char* key, int64_t min, int64_t max, int32_t& out,
                           std::optional<int32_t> fallback) const {
  const json* value = find(key);
  if (value == nullptr) {
    if (!fallback) {
      return wrong(key, "is missing: the model cannot be read without it");
    }
    out = *fallback;
    return {};
  }
  int64_t wide = 0;
  IFR_TRY(integer_in(key, *value, min, max, wide));
  out = static_cast<int32_t>(wide);
  return {};
}

Status JsonFields::integer_in(const char* key, const json& value, int64_t min, int64_t max,
                              int64_t& out) const {
  if (!value.is_number_integer()) {
    return wrong(key, "is " + shown(value) + "; an integer is needed");
  }
  const bool too_large =
      value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(max);
  if (too_large || value.get<int64_t>() < min || value.get<int64_t>() > max) {
    return wrong(key, "is " + shown(value) + "; " + std::to_string(min) + " to " +
                          std::to_string(max) + " is valid");
  }
  out = value.get<int64_t>();
  return {};
}

Status JsonFields::positive_real(const char* key, double max, double& out,
                                 std::optional<double> fallback) const {
  const json* value = find(key);
  if (value == nullptr) {
    if (!fallback) {
      return wrong(key, "is missing: the model cannot be read without it");
    }
    out = *fallback;
    return {};
  }
  const double number = value->is_number() ? value->get<double>() : 0.0;
  if (!std::isfinite(number) || number <= 0.0 || number > max) {
    return wrong(key, "is " + shown(*value) + "; a finite number above 0 and at most " +
                          shown(json(max)) + " is valid");
  }
  out = number;
  return {};
}

Status JsonFields::boolean(const char* key, bool& out, bool fallback) const {
  const json* value = find(key);
  if (value != nullptr && !value->is_boolean()) {
    return wrong(key, "is " + shown(*value) + "; true or false is needed");
  }
  out = value == nullptr ? fallback : value->get<bool>();
  return {};
}

Status JsonFields::text(const char* key, std::string& out, const char* fallback) const {
  const json* value = find(key);
  if (value != nullptr && !value->is_string()) {
    return wrong(key, "is " + shown(*value) + "; a string is needed");
  }
  out = value == nullptr ? fallback : value->get_ref<const std::string&>();
  return {};
}

}  // namespace ifr
