// SPDX-License-Identifier: Apache-2.0
// Written against the documented Win32 calls; not built or tested by us (README, limits).
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// bcrypt.h needs windows.h before it.
#include <bcrypt.h>

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "base/platform.h"

namespace ifr {

namespace {

std::wstring widen(const std::string& text) {
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(),
                                         static_cast<int>(text.size()), nullptr, 0);
  std::wstring wide(static_cast<size_t>(std::max(length, 0)), L'\0');
  if (length > 0) {
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), static_cast<int>(text.size()),
                        wide.data(), length);
  }
  return wide;
}

}  // namespace

Expected<File> File::open(const std::string& path) {
  const std::wstring wide = widen(path);
  if (wide.empty() || path.find('\0') != std::string::npos) {
    return make_error(Code::kInvalidArgument, Part::kBase,
                      "a file path is empty, not UTF-8, or has a NUL in it");
  }
  const HANDLE handle = CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                    nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    const DWORD error = GetLastError();
    return make_error(error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND
                          ? Code::kNotFound
                          : Code::kIo,
                      Part::kBase, "cannot open '%s': Windows error %lu", path.c_str(), error);
  }
  File file;
  file.handle_ = reinterpret_cast<intptr_t>(handle);
  file.path_ = path;
  LARGE_INTEGER size{};
  if (GetFileType(handle) != FILE_TYPE_DISK || GetFileSizeEx(handle, &size) == 0) {
    return make_error(Code::kInvalidArgument, Part::kBase, "'%s' is not a regular file",
                      path.c_str());
  }
  file.size_bytes_ = static_cast<uint64_t>(size.QuadPart);
  return file;
}

File::File(File&& other) noexcept
    : handle_(std::exchange(other.handle_, -1)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (handle_ != -1) {
    CloseHandle(reinterpret_cast<HANDLE>(handle_));
  }
}

Status File::read(uint64_t offset, std::span<std::byte> out) const {
  if (!range_inside(offset, out.size(), size_bytes_)) {
    return make_error(Code::kIo, Part::kBase, "'%s': bytes %llu..+%zu lie past its end at %llu",
                      path_.c_str(), static_cast<unsigned long long>(offset), out.size(),
                      static_cast<unsigned long long>(size_bytes_));
  }
  size_t done = 0;
  while (done < out.size()) {
    constexpr size_t kMaxRead = size_t{1} << 30;
    const uint64_t at = offset + done;
    OVERLAPPED position{};
    position.Offset = static_cast<DWORD>(at);
    position.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD got = 0;
    if (ReadFile(reinterpret_cast<HANDLE>(handle_), out.data() + done,
                 static_cast<DWORD>(std::min(out.size() - done, kMaxRead)), &got, &position) == 0 ||
        got == 0) {
      return make_error(Code::kIo, Part::kBase,
                        "reading '%s' at byte %llu failed: Windows error %lu", path_.c_str(),
                        static_cast<unsigned long long>(at), GetLastError());
    }
    done += got;
  }
  return {};
}

Expected<AddressRange> AddressRange::reserve(uint64_t bytes) {
  void* data = VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_READWRITE);
  if (data == nullptr) {
    return make_error(Code::kOutOfMemory, Part::kBase,
                      "the system has no %llu bytes of address space: Windows error %lu",
                      static_cast<unsigned long long>(bytes), GetLastError());
  }
  return AddressRange(static_cast<std::byte*>(data), bytes);
}

AddressRange::~AddressRange() {
  if (data_ != nullptr) {
    VirtualFree(data_, 0, MEM_RELEASE);
  }
}

bool AddressRange::commit(uint64_t offset, uint64_t bytes) {
  return range_inside(offset, bytes, bytes_) &&
         VirtualAlloc(data_ + offset, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void AddressRange::decommit(uint64_t offset, uint64_t bytes) {
  SYSTEM_INFO info{};
  GetSystemInfo(&info);
  const uint64_t page = info.dwPageSize;
  const uint64_t begin = (offset + page - 1) / page * page;
  const uint64_t end = (offset + bytes) / page * page;
  if (begin < end) {
    VirtualFree(data_ + begin, end - begin, MEM_DECOMMIT);
  }
}

Expected<SharedLibrary> SharedLibrary::open(const char* name) {
  const HMODULE module = LoadLibraryExA(name, nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (module == nullptr) {
    return make_error(Code::kNotFound, Part::kBase, "cannot load '%s': Windows error %lu", name,
                      GetLastError());
  }
  return SharedLibrary(module);
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) {
    FreeLibrary(static_cast<HMODULE>(handle_));
  }
}

void* SharedLibrary::symbol(const char* name) const {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

bool set_current_thread_priority(ThreadPriority priority) {
  constexpr int kPriority[] = {THREAD_PRIORITY_NORMAL, THREAD_PRIORITY_BELOW_NORMAL,
                               THREAD_PRIORITY_LOWEST};
  return SetThreadPriority(GetCurrentThread(), kPriority[static_cast<int>(priority)]) != 0;
}

void set_current_thread_name(const char* name) {
  (void)SetThreadDescription(GetCurrentThread(), widen(name).c_str());
}

uint64_t monotonic_ns() {
  LARGE_INTEGER frequency{};
  LARGE_INTEGER count{};
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&count);
  const uint64_t ticks = static_cast<uint64_t>(count.QuadPart);
  const uint64_t rate = static_cast<uint64_t>(frequency.QuadPart);
  return ticks / rate * 1'000'000'000ULL + ticks % rate * 1'000'000'000ULL / rate;
}

int32_t num_usable_cores() {
  return std::max(1, static_cast<int32_t>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)));
}

uint64_t physical_memory_bytes() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  GlobalMemoryStatusEx(&status);
  return status.ullTotalPhys;
}

uint64_t current_process_id() {
  return GetCurrentProcessId();
}

bool is_directory(const std::string& path) {
  const DWORD attributes = GetFileAttributesW(widen(path).c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

bool is_regular_file(const std::string& path) {
  const DWORD attributes = GetFileAttributesW(widen(path).c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

uint64_t random_seed() {
  uint64_t value = 0;
  if (BCryptGenRandom(nullptr, reinterpret_cast<PUCHAR>(&value), sizeof value,
                      BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0) {
    value = monotonic_ns() * 0x9E3779B97F4A7C15ULL;
  }
  return value;
}

}  // namespace ifr
