// SPDX-License-Identifier: Apache-2.0
#include "abi/arguments.h"

#include <optional>

#include "model/utf8.h"

namespace ifr::abi {

Status require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) {
    return make_error(Code::kInvalidArgument, Part::kAbi, "%s is null", name);
  }
  return {};
}

Status require_buffer(const void* pointer, uint64_t count, const char* name) {
  if (pointer == nullptr && count != 0) {
    return make_error(Code::kInvalidArgument, Part::kAbi, "%s is null, its size is %llu", name,
                      static_cast<unsigned long long>(count));
  }
  return {};
}

Status require_range(int64_t value, int64_t first, int64_t last, const char* name) {
  if (value < first || value > last) {
    return make_error(Code::kInvalidArgument, Part::kAbi, "%s is %lld, %lld..%lld is allowed", name,
                      static_cast<long long>(value), static_cast<long long>(first),
                      static_cast<long long>(last));
  }
  return {};
}

Status require_stride(uint32_t stride, size_t record_bytes, const char* name) {
  if (stride < record_bytes || stride > kMaxStructBytes) {
    return make_error(Code::kInvalidArgument, Part::kAbi,
                      "%s is %u: it is the sizeof of the record, %zu..%u bytes", name, stride,
                      record_bytes, kMaxStructBytes);
  }
  return {};
}

Status check_out_struct(const void* out, const char* name) {
  IFR_TRY(require_pointer(out, name));
  uint32_t size = 0;
  std::memcpy(&size, out, sizeof size);
  if (size < sizeof size || size > kMaxStructBytes) {
    return make_error(Code::kInvalidArgument, Part::kAbi,
                      "%s: struct_size is %u, set it to the sizeof of the struct", name, size);
  }
  return {};
}

Status read_struct_bytes(const void* in, void* out, size_t known_bytes, const char* name) {
  IFR_TRY(check_out_struct(in, name));
  uint32_t size = 0;
  std::memcpy(&size, in, sizeof size);
  const auto* bytes = static_cast<const unsigned char*>(in);
  for (size_t i = known_bytes; i < size; ++i) {
    if (bytes[i] != 0) {
      return make_error(Code::kInvalidArgument, Part::kAbi,
                        "%s: byte %zu is not zero and belongs to a field that this version does "
                        "not know",
                        name, i);
    }
  }
  std::memcpy(out, in, std::min<size_t>(size, known_bytes));
  return {};
}

Expected<std::string_view> read_string(const ifr_string& string, uint64_t max_bytes,
                                       const char* name) {
  IFR_TRY(require_buffer(string.data, string.size_bytes, name));
  if (string.size_bytes > max_bytes) {
    return make_error(Code::kInvalidArgument, Part::kAbi, "%s has %llu bytes, %llu are allowed",
                      name, static_cast<unsigned long long>(string.size_bytes),
                      static_cast<unsigned long long>(max_bytes));
  }
  if (string.size_bytes == 0) {
    return std::string_view();
  }
  const std::string_view text(string.data, static_cast<size_t>(string.size_bytes));
  const std::optional<size_t> invalid = find_invalid_utf8(text);
  if (invalid) {
    return make_error(Code::kInvalidArgument, Part::kAbi, "%s is not UTF-8 at byte %zu", name,
                      *invalid);
  }
  return text;
}

void copy_text(char* out, size_t capacity, std::string_view text) {
  size_t length = std::min(text.size(), capacity - 1);
  while (length < text.size() && length > 0 &&
         (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

Status check_capacity(uint64_t count, uint64_t capacity, const char* what) {
  if (capacity != 0 && count > capacity) {
    return make_error(Code::kInvalidArgument, Part::kAbi, "capacity is %llu, there are %llu %s",
                      static_cast<unsigned long long>(capacity),
                      static_cast<unsigned long long>(count), what);
  }
  return {};
}

}  // namespace ifr::abi
