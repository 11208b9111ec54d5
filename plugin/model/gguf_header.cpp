// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_header.h"

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "model/byte_cursor.h"

namespace ifr {

const char* gguf_type_name(GgufType type) {
  static constexpr const char* kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<uint32_t>(type)];
}

const GgufValue* GgufHeader::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const TensorInfo* GgufHeader::find_tensor(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const TensorInfo& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

Status GgufHeader::value_error(const std::string& key, Code code, const char* format, ...) const {
  char detail[512];
  va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): false from a run's second file on.
  std::vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  const GgufValue* value = find(key);
  return error_at(*source_, value == nullptr ? 0 : value->offset, code, "%s %s", key.c_str(),
                  detail);
}

Expected<std::optional<int64_t>> GgufHeader::integer(const std::string& key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) {
    return std::optional<int64_t>();
  }
  switch (value->type) {
    case GgufType::kU8:
    case GgufType::kU16:
    case GgufType::kU32:
      return std::optional(static_cast<int64_t>(value->bits));
    case GgufType::kI8:
      return std::optional<int64_t>(static_cast<int8_t>(value->bits));
    case GgufType::kI16:
      return std::optional<int64_t>(static_cast<int16_t>(value->bits));
    case GgufType::kI32:
      return std::optional<int64_t>(static_cast<int32_t>(value->bits));
    case GgufType::kI64:
      return std::optional(static_cast<int64_t>(value->bits));
    case GgufType::kU64:
      if (value->bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return value_error(key, Code::kInvalidFile, "is %llu, which is too large",
                           static_cast<unsigned long long>(value->bits));
      }
      return std::optional(static_cast<int64_t>(value->bits));
    default:
      return value_error(key, Code::kInvalidFile, "is of type %s; an integer is needed",
                         gguf_type_name(value->type));
  }
}

Expected<std::optional<double>> GgufHeader::real(const std::string& key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) {
    return std::optional<double>();
  }
  if (value->type == GgufType::kF32) {
    return std::optional<double>(std::bit_cast<float>(static_cast<uint32_t>(value->bits)));
  }
  if (value->type == GgufType::kF64) {
    return std::optional(std::bit_cast<double>(value->bits));
  }
  return value_error(key, Code::kInvalidFile, "is of type %s; f32 or f64 is needed",
                     gguf_type_name(value->type));
}

Expected<std::optional<bool>> GgufHeader::boolean(const std::string& key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) {
    return std::optional<bool>();
  }
  if (value->type != GgufType::kBool) {
    return value_error(key, Code::kInvalidFile, "is of type %s; bool is needed",
                       gguf_type_name(value->type));
  }
  return std::optional(value->bits != 0);
}

Expected<std::optional<std::string>> GgufHeader::text(const std::string& key,
                                                      uint64_t max_bytes) const {
  const GgufValue* value = find(key);
  if (value == nullptr) {
    return std::optional<std::string>();
  }
  if (value->type != GgufType::kString) {
    return value_error(key, Code::kInvalidFile, "is of type %s; a string is needed",
                       gguf_type_name(value->type));
  }
  if (value->count > max_bytes) {
    return value_error(key, Code::kInvalidFile, "is %llu bytes long; at most %llu are read",
                       static_cast<unsigned long long>(value->count),
                       static_cast<unsigned long long>(max_bytes));
  }
  std::string out(value->count, '\0');
  IFR_TRY(source_->read(value->offset, std::as_writable_bytes(std::span(out))));
  return std::optional(std::move(out));
}

}  // namespace ifr
