// SPDX-License-Identifier: Apache-2.0
// The sentence of the last failure of a runtime.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>

namespace ifr {

// Thread-safe; allocates nothing.
class LastError {
 public:
  // Longer messages are cut (those of make_error are not).
  void set(std::string_view message) {
    const std::lock_guard lock(mutex_);
    length_ = std::min(message.size(), text_.size());
    std::memcpy(text_.data(), message.data(), length_);
  }
  // Copies as much as fits with a NUL behind it (nothing into an empty span); the full length.
  size_t copy(std::span<char> out) const {
    const std::lock_guard lock(mutex_);
    if (!out.empty()) {
      const size_t count = std::min(length_, out.size() - 1);
      std::memcpy(out.data(), text_.data(), count);
      out[count] = '\0';
    }
    return length_;
  }

 private:
  mutable std::mutex mutex_;
  std::array<char, 1024> text_ = {};
  size_t length_ = 0;
};

}  // namespace ifr
