// SPDX-License-Identifier: Apache-2.0
#include "model/byte_cursor.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "model/text_check.h"

namespace ifr {

namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

}  // namespace

Status error_at(const ByteSource& source, uint64_t offset, Code code, const char* format, ...) {
  char detail[768];
  va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): false from a run's second file on.
  std::vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  return make_error(code, Part::kModel, "'%s', byte %llu: %s",
                    printable(source.name(), 200).c_str(), static_cast<unsigned long long>(offset),
                    detail);
}

ByteCursor::ByteCursor(const ByteSource& source, uint64_t offset)
    : source_(&source),
      offset_(std::min(offset, source.size_bytes())),
      buffer_(static_cast<size_t>(std::min<uint64_t>(kBufferBytes, source.size_bytes()))) {}

Status ByteCursor::need(uint64_t num_bytes, const char* field) const {
  if (num_bytes > remaining_bytes()) {
    return error_at(*source_, offset_, Code::kInvalidFile,
                    "%s needs %llu bytes, but the file ends at byte %llu: it is damaged or was cut",
                    field, static_cast<unsigned long long>(num_bytes),
                    static_cast<unsigned long long>(source_->size_bytes()));
  }
  return {};
}

Status ByteCursor::read(std::span<std::byte> out, const char* field) {
  IFR_TRY(need(out.size(), field));
  while (!out.empty()) {
    const bool buffered = offset_ >= buffer_offset_ && offset_ - buffer_offset_ < buffer_len_;
    if (!buffered) {
      buffer_len_ = 0;
      const auto len = static_cast<size_t>(std::min<uint64_t>(buffer_.size(), remaining_bytes()));
      IFR_TRY(source_->read(offset_, std::span(buffer_).first(len)));
      buffer_offset_ = offset_;
      buffer_len_ = len;
    }
    const auto at = static_cast<size_t>(offset_ - buffer_offset_);
    const size_t taken = std::min(out.size(), buffer_len_ - at);
    std::memcpy(out.data(), buffer_.data() + at, taken);
    out = out.subspan(taken);
    offset_ += taken;
  }
  return {};
}

Status ByteCursor::skip(uint64_t num_bytes, const char* field) {
  IFR_TRY(need(num_bytes, field));
  offset_ += num_bytes;
  return {};
}

template <typename T>
Status ByteCursor::read_little_endian(T& out, const char* field) {
  std::byte bytes[sizeof(T)];
  IFR_TRY(read(bytes, field));
  uint64_t value = 0;
  for (size_t idx = 0; idx < sizeof(T); ++idx) {
    value |= std::to_integer<uint64_t>(bytes[idx]) << (8 * idx);
  }
  out = static_cast<T>(value);
  return {};
}

Status ByteCursor::read_u8(uint8_t& out, const char* field) {
  return read_little_endian(out, field);
}

Status ByteCursor::read_u32(uint32_t& out, const char* field) {
  return read_little_endian(out, field);
}

Status ByteCursor::read_u64(uint64_t& out, const char* field) {
  return read_little_endian(out, field);
}

}  // namespace ifr
