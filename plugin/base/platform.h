// SPDX-License-Identifier: Apache-2.0
// All that differs between operating systems, in one place (platform_linux.cpp,
// platform_windows.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace ifr {

// A regular file read by position. Positional reads, not a mapping: a file that shrinks while it is
// mapped raises SIGBUS in the host; here it is an error value. Safe from several threads.
class File {
 public:
  [[nodiscard]] static Expected<File> open(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Fills all of `out` from `offset`; anything less is an error that names path, offset and what
  // came.
  [[nodiscard]] Status read(uint64_t offset, std::span<std::byte> out) const;

 private:
  File() = default;
  intptr_t handle_ = -1;
  uint64_t size_bytes_ = 0;
  std::string path_;
};

// Address space without memory: parts get memory when committed (zeros) and lose it when
// decommitted, so one base address serves a pool that grows. Offsets and lengths round outwards
// (commit) and inwards (decommit) to the system's pages: neighbours share one without losing data.
class AddressRange {
 public:
  [[nodiscard]] static Expected<AddressRange> reserve(uint64_t bytes);
  AddressRange(AddressRange&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  AddressRange& operator=(AddressRange&&) = delete;
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;
  ~AddressRange();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] uint64_t size_bytes() const { return bytes_; }
  // False when the system has no memory.
  [[nodiscard]] bool commit(uint64_t offset, uint64_t bytes);
  void decommit(uint64_t offset, uint64_t bytes);

 private:
  AddressRange(std::byte* data, uint64_t bytes) : data_(data), bytes_(bytes) {}
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// A shared library opened at run time; closed by the destructor.
class SharedLibrary {
 public:
  [[nodiscard]] static Expected<SharedLibrary> open(const char* name);
  SharedLibrary(SharedLibrary&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  [[nodiscard]] void* symbol(const char* name) const;  // null when it has none

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_ = nullptr;
};

enum class ThreadPriority : int32_t { kNormal = 0, kBelowNormal = 1, kLowest = 2 };

// Of the calling thread; false when the system refused (never fatal).
bool set_current_thread_priority(ThreadPriority priority);
void set_current_thread_name(const char* name);  // at most 15 bytes are kept

// Monotonic; the clock of every time stamp of the plugin.
[[nodiscard]] uint64_t monotonic_ns();
// Cores this process may run on, at least 1.
[[nodiscard]] int32_t num_usable_cores();
[[nodiscard]] uint64_t physical_memory_bytes();
[[nodiscard]] uint64_t current_process_id();
[[nodiscard]] bool is_directory(const std::string& path);
[[nodiscard]] bool is_regular_file(const std::string& path);
// 64 bits from the system's generator.
[[nodiscard]] uint64_t random_seed();

}  // namespace ifr
