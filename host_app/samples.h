// SPDX-License-Identifier: Apache-2.0
// Measurements of a run, kept whole up to a bound, and their percentiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ifr::host {

/// The newest kCapacity values. One thread. Adding allocates nothing.
class Samples {
 public:
  static constexpr size_t kCapacity = 65536;
  Samples() { values_.reserve(kCapacity); }

  void add(double value) {
    if (values_.size() < kCapacity) {
      values_.push_back(static_cast<float>(value));
    } else {
      values_[next_] = static_cast<float>(value);
      next_ = (next_ + 1) % kCapacity;
    }
    max_ = std::max(max_, value);
    ++count_;
  }
  [[nodiscard]] size_t count() const { return count_; }
  /// Of all values ever added; 0 when there are none.
  [[nodiscard]] double max() const { return max_; }
  /// Nearest rank, `share` in 0..1; 0 when there are no values. Sorts a copy: not for the frame
  /// loop.
  [[nodiscard]] double percentile(double share) const {
    if (values_.empty()) {
      return 0.0;
    }
    std::vector<float> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return static_cast<double>(sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1]);
  }

 private:
  std::vector<float> values_;
  size_t next_ = 0;
  size_t count_ = 0;
  double max_ = 0.0;
};

}  // namespace ifr::host
