// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a model come from: a file today, memory in tests and fuzzing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/platform.h"
#include "base/status.h"

namespace ifr {

// Immutable bytes read by position; safe from several threads.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual uint64_t size_bytes() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;  // for messages: a path
  // Fills all of `out` from `offset`, or says why not (never less).
  [[nodiscard]] virtual Status read(uint64_t offset, std::span<std::byte> out) const = 0;
};

class FileSource final : public ByteSource {
 public:
  explicit FileSource(File file) : file_(std::move(file)) {}

  [[nodiscard]] uint64_t size_bytes() const override { return file_.size_bytes(); }
  [[nodiscard]] const std::string& name() const override { return file_.path(); }
  [[nodiscard]] Status read(uint64_t offset, std::span<std::byte> out) const override {
    return file_.read(offset, out);
  }

 private:
  File file_;
};

// The caller keeps `bytes` alive and unchanged.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::span<const std::byte> bytes)
      : name_(std::move(name)), bytes_(bytes) {}

  [[nodiscard]] uint64_t size_bytes() const override { return bytes_.size(); }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Status read(uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::string name_;
  std::span<const std::byte> bytes_;
};

}  // namespace ifr
