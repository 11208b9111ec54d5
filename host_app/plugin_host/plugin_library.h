// SPDX-License-Identifier: Apache-2.0
// Finds and opens the Interframe library at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gfx/result.h"
#include "interframe/interframe.h"

namespace ifr::host {

/// The open library and its table. Everything made with the table must be gone before this is.
class PluginLibrary {
 public:
  /// `path` empty: beside the program, in ../lib, in the install tree's library folder, then where
  /// the loader looks. Errors: kPlugin with every place tried and the reason, or when it speaks
  /// another ABI version.
  [[nodiscard]] static Result<PluginLibrary> open(const std::string& path);
  PluginLibrary(PluginLibrary&& other) noexcept;
  PluginLibrary& operator=(PluginLibrary&&) = delete;
  ~PluginLibrary();

  [[nodiscard]] const ifr_api& api() const { return *api_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  PluginLibrary() = default;
  void* handle_ = nullptr;
  std::unique_ptr<ifr_api> api_;  // its address stays when this object is moved
  std::string path_;
};

/// Places that open("") tries, in order.
[[nodiscard]] std::vector<std::string> plugin_candidates();

}  // namespace ifr::host
