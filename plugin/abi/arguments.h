// SPDX-License-Identifier: Apache-2.0
// Checks of what a host passes. Every error names the argument.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/status.h"
#include "interframe/interframe.h"

namespace ifr::abi {

// A struct_size above this is garbage, not a later version.
inline constexpr uint32_t kMaxStructBytes = 4096;
inline constexpr uint64_t kMaxPathBytes = 32767;
inline constexpr uint64_t kMaxTextBytes = uint64_t{1} << 26;
inline constexpr uint32_t kMaxMessages = 65536;

[[nodiscard]] Status require_pointer(const void* pointer, const char* name);
// A buffer of `count` elements: null only when count is 0.
[[nodiscard]] Status require_buffer(const void* pointer, uint64_t count, const char* name);
[[nodiscard]] Status require_range(int64_t value, int64_t first, int64_t last, const char* name);
// A stride must hold the record of this version.
[[nodiscard]] Status require_stride(uint32_t stride, size_t record_bytes, const char* name);

// Reads struct_size, checks it, copies what is there to `out` (whose rest stays zero) and refuses a
// tail that this version does not know and that is not zero.
[[nodiscard]] Status read_struct_bytes(const void* in, void* out, size_t known_bytes,
                                       const char* name);
template <typename T>
[[nodiscard]] Status read_struct(const T* in, T& out, const char* name) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  return read_struct_bytes(in, &out, sizeof(T), name);
}

// A struct that a call fills: its pointer and size, checked before the call does anything.
[[nodiscard]] Status check_out_struct(const void* out, const char* name);
// Fills what fits, struct_size aside.
template <typename T>
void write_struct(T* out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  uint32_t size = 0;
  std::memcpy(&size, out, sizeof size);
  const size_t count = std::min<size_t>(size, sizeof(T));
  std::memcpy(reinterpret_cast<unsigned char*>(out) + sizeof size,
              reinterpret_cast<const unsigned char*>(&value) + sizeof size, count - sizeof size);
}

// Record `idx` of an array that a call fills: struct_size becomes what was written.
template <typename T>
void write_record(T* records, uint32_t stride, size_t idx, T value) {
  value.struct_size = static_cast<uint32_t>(sizeof(T));
  std::memcpy(reinterpret_cast<unsigned char*>(records) + idx * stride, &value, sizeof(T));
}

// Length, pointer and encoding; the bytes stay the host's.
[[nodiscard]] Expected<std::string_view> read_string(const ifr_string& string, uint64_t max_bytes,
                                                     const char* name);

// NUL-terminated, cut at a character's border.
void copy_text(char* out, size_t capacity, std::string_view text);
template <size_t kCapacity>
void copy_text(char (&out)[kCapacity], std::string_view text) {
  copy_text(out, kCapacity, text);
}

// The end of a two-call query: whether `count` elements fit `capacity`. Nothing is written when
// the caller only asks for the count (capacity 0).
[[nodiscard]] Status check_capacity(uint64_t count, uint64_t capacity, const char* what);

}  // namespace ifr::abi
