// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/plugin_library.h"

#include <filesystem>
#include <system_error>
#include <utility>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace ifr::host {
namespace {

#if defined(_WIN32)
constexpr const char* kLibraryName = "interframe.dll";
void* open_library(const std::string& path, std::string& reason) {
  HMODULE handle = LoadLibraryA(path.c_str());
  if (handle == nullptr) {
    reason = "error " + std::to_string(GetLastError());
  }
  return handle;
}
void close_library(void* handle) {
  FreeLibrary(static_cast<HMODULE>(handle));
}
ifr_get_api_function find_entry(void* handle) {
  return reinterpret_cast<ifr_get_api_function>(
      GetProcAddress(static_cast<HMODULE>(handle), "ifr_get_api"));
}
std::filesystem::path program_folder() {
  char path[MAX_PATH];
  const DWORD length = GetModuleFileNameA(nullptr, path, MAX_PATH);
  return std::filesystem::path(std::string(path, length)).parent_path();
}
#else
constexpr const char* kLibraryName = "libinterframe.so";
void* open_library(const std::string& path, std::string& reason) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = dlerror();
    reason = text != nullptr ? text : "no reason given";
  }
  return handle;
}
void close_library(void* handle) {
  (void)dlclose(handle);
}
ifr_get_api_function find_entry(void* handle) {
  return reinterpret_cast<ifr_get_api_function>(dlsym(handle, "ifr_get_api"));
}
std::filesystem::path program_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(".") : program.parent_path();
}
#endif

}  // namespace

std::vector<std::string> plugin_candidates() {
  const std::filesystem::path folder = program_folder();
  return {(folder / kLibraryName).string(), (folder / ".." / "lib" / kLibraryName).string(),
          (folder / ".." / IFR_INSTALL_LIBDIR / kLibraryName).string(), kLibraryName};
}

Result<PluginLibrary> PluginLibrary::open(const std::string& path) {
  const std::vector<std::string> candidates =
      path.empty() ? plugin_candidates() : std::vector<std::string>{path};
  PluginLibrary library;
  std::string reasons;
  for (const std::string& candidate : candidates) {
    std::error_code error;
    const bool is_path = candidate.find_first_of("/\\") != std::string::npos;
    if (is_path && !std::filesystem::exists(candidate, error)) {
      reasons.append("\n  ").append(candidate).append(": not there");
      continue;
    }
    std::string reason;
    library.handle_ = open_library(candidate, reason);
    if (library.handle_ != nullptr) {
      library.path_ = candidate;
      break;
    }
    reasons.append("\n  ").append(candidate).append(": ").append(reason);
  }
  if (library.handle_ == nullptr) {
    return Error{ErrorCode::kPlugin,
                 "cannot open the Interframe library (--plugin PATH names it); tried:" + reasons};
  }
  const ifr_get_api_function get_api = find_entry(library.handle_);
  if (get_api == nullptr) {
    return Error{ErrorCode::kPlugin,
                 library.path_ + " has no ifr_get_api: it is not the Interframe library"};
  }
  library.api_ = std::make_unique<ifr_api>();
  library.api_->struct_size = sizeof(ifr_api);
  const ifr_result result = get_api(IFR_ABI_VERSION, library.api_.get());
  if (result.code != IFR_OK || library.api_->model_selecting_layers == nullptr) {
    return Error{ErrorCode::kPlugin,
                 library.path_ + " speaks another version of the interface than this program (" +
                     std::to_string(IFR_ABI_VERSION) + "): use the two of one release"};
  }
  return library;
}

PluginLibrary::PluginLibrary(PluginLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      api_(std::move(other.api_)),
      path_(std::move(other.path_)) {}

PluginLibrary::~PluginLibrary() {
  if (handle_ != nullptr) {
    close_library(handle_);
  }
}

}  // namespace ifr::host
