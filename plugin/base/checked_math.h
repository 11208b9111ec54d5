// SPDX-License-Identifier: Apache-2.0
// Size arithmetic on values that come from outside: the result, or nothing when it does not fit.
#pragma once

#include <concepts>
#include <limits>
#include <optional>

namespace ifr {

template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  if (b > std::numeric_limits<T>::max() - a) {
    return std::nullopt;
  }
  return static_cast<T>(a + b);
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) {
  if (a != 0 && b > std::numeric_limits<T>::max() / a) {
    return std::nullopt;
  }
  return static_cast<T>(a * b);
}

// Rounds up to a multiple of `step` (not 0).
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_round_up(T value, T step) {
  const T rest = static_cast<T>(value % step);
  return rest == 0 ? std::optional<T>(value) : checked_add(value, static_cast<T>(step - rest));
}

// True when [offset, offset + length) lies inside [0, size), without wrapping.
[[nodiscard]] constexpr bool range_inside(unsigned long long offset, unsigned long long length,
                                          unsigned long long size) {
  return offset <= size && length <= size - offset;
}

}  // namespace ifr
