// SPDX-License-Identifier: Apache-2.0
// Reads a header forward through a small buffer; what is not there is an error with field and
// offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/byte_source.h"

namespace ifr {

// "'path', byte N: ..."
[[nodiscard]] Status error_at(const ByteSource& source, uint64_t offset, Code code,
                              const char* format, ...) __attribute__((format(printf, 4, 5)));

class ByteCursor {
 public:
  // `source` outlives the cursor.
  explicit ByteCursor(const ByteSource& source, uint64_t offset = 0);

  [[nodiscard]] const ByteSource& source() const { return *source_; }
  [[nodiscard]] uint64_t offset() const { return offset_; }
  [[nodiscard]] uint64_t remaining_bytes() const { return source_->size_bytes() - offset_; }

  // `field` is named in the error; nothing is consumed then.
  [[nodiscard]] Status read(std::span<std::byte> out, const char* field);
  [[nodiscard]] Status skip(uint64_t num_bytes, const char* field);
  [[nodiscard]] Status read_u8(uint8_t& out, const char* field);
  [[nodiscard]] Status read_u32(uint32_t& out, const char* field);
  [[nodiscard]] Status read_u64(uint64_t& out, const char* field);

 private:
  [[nodiscard]] Status need(uint64_t num_bytes, const char* field) const;
  template <typename T>
  [[nodiscard]] Status read_little_endian(T& out, const char* field);

  const ByteSource* source_;
  uint64_t offset_;
  std::vector<std::byte> buffer_;
  uint64_t buffer_offset_ = 0;  // file position of buffer_[0]
  size_t buffer_len_ = 0;
};

}  // namespace ifr
