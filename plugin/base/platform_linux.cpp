// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <pthread.h>

#include "base/checked_math.h"
#include "base/platform.h"

namespace ifr {

namespace {

std::string errno_text(int error) {
  char buffer[128];
  return strerror_r(error, buffer, sizeof buffer);
}

uint64_t system_page_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Expected<File> File::open(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return make_error(Code::kInvalidArgument, Part::kBase,
                      "a file path is empty or has a NUL byte in it");
  }
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    return make_error(error == ENOENT || error == ENOTDIR ? Code::kNotFound : Code::kIo,
                      Part::kBase, "cannot open '%s': %s", path.c_str(), errno_text(error).c_str());
  }
  File file;
  file.handle_ = descriptor;
  file.path_ = path;
  struct stat info {};
  if (fstat(descriptor, &info) != 0) {
    return make_error(Code::kIo, Part::kBase, "cannot ask the size of '%s': %s", path.c_str(),
                      errno_text(errno).c_str());
  }
  if (!S_ISREG(info.st_mode)) {
    return make_error(Code::kInvalidArgument, Part::kBase, "'%s' is not a regular file",
                      path.c_str());
  }
  file.size_bytes_ = static_cast<uint64_t>(info.st_size);
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
  if (handle_ >= 0) {
    ::close(static_cast<int>(handle_));
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
    const ssize_t got =
        ::pread(static_cast<int>(handle_), out.data() + done, std::min(out.size() - done, kMaxRead),
                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return make_error(Code::kIo, Part::kBase, "reading '%s' at byte %llu failed: %s",
                        path_.c_str(), static_cast<unsigned long long>(offset + done),
                        errno_text(errno).c_str());
    }
    if (got == 0) {
      return make_error(Code::kIo, Part::kBase,
                        "'%s' ended at byte %llu while bytes up to %llu were asked for: it was cut "
                        "after it was opened",
                        path_.c_str(), static_cast<unsigned long long>(offset + done),
                        static_cast<unsigned long long>(offset + out.size()));
    }
    done += static_cast<size_t>(got);
  }
  return {};
}

Expected<AddressRange> AddressRange::reserve(uint64_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return make_error(Code::kOutOfMemory, Part::kBase,
                      "the system has no %llu bytes of address space: %s",
                      static_cast<unsigned long long>(bytes), errno_text(errno).c_str());
  }
  return AddressRange(static_cast<std::byte*>(data), bytes);
}

AddressRange::~AddressRange() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
  }
}

// Linux gives the memory itself at the first touch.
bool AddressRange::commit(uint64_t offset, uint64_t bytes) {
  if (!range_inside(offset, bytes, bytes_)) {
    return false;
  }
  const uint64_t begin = offset / system_page_bytes() * system_page_bytes();
  return mprotect(data_ + begin, offset + bytes - begin, PROT_READ | PROT_WRITE) == 0;
}

void AddressRange::decommit(uint64_t offset, uint64_t bytes) {
  const uint64_t page = system_page_bytes();
  const uint64_t begin = (offset + page - 1) / page * page;
  const uint64_t end = (offset + bytes) / page * page;
  if (begin < end) {
    (void)madvise(data_ + begin, end - begin, MADV_DONTNEED);
  }
}

Expected<SharedLibrary> SharedLibrary::open(const char* name) {
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return make_error(Code::kNotFound, Part::kBase, "%s", why != nullptr ? why : name);
  }
  return SharedLibrary(handle);
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) {
    dlclose(handle_);
  }
}

void* SharedLibrary::symbol(const char* name) const {
  return dlsym(handle_, name);
}

bool set_current_thread_priority(ThreadPriority priority) {
  constexpr int kNice[] = {0, 5, 15};
  // Linux keeps a nice value for each thread; 0 as `who` is the calling one.
  return setpriority(PRIO_PROCESS, 0, kNice[static_cast<int>(priority)]) == 0;
}

void set_current_thread_name(const char* name) {
  char kept[16] = {};
  std::strncpy(kept, name, sizeof kept - 1);
  pthread_setname_np(pthread_self(), kept);
}

uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<uint64_t>(now.tv_nsec);
}

int32_t num_usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return std::max(1, static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
}

uint64_t physical_memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t current_process_id() {
  return static_cast<uint64_t>(getpid());
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

uint64_t random_seed() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
    value = monotonic_ns() * 0x9E3779B97F4A7C15ULL;
  }
  return value;
}

}  // namespace ifr
