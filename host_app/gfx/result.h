// SPDX-License-Identifier: Apache-2.0
// Errors of the host as values: a code that decides the program's exit status and one sentence for
// people.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ifr::host {

enum class ErrorCode {
  kBadArgument,  // what the user asked for cannot be done
  kNoDevice,     // no Vulkan 1.3 device, or no loader
  kNoWindow,     // no window system, or it lost our window
  kDeviceLost,   // the GPU or its driver stopped
  kOutOfMemory,  // host or device memory
  kVulkan,       // any other Vulkan failure
  kIo,           // a file could not be written
  kPlugin,       // the inference library refused or failed
};

struct Error {
  ErrorCode code = ErrorCode::kVulkan;
  std::string message;
};

/// A value or the reason why there is none. Move-only where T is.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  [[nodiscard]] T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  [[nodiscard]] Error& error() {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] Error& error() {
    assert(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace ifr::host

#define IFR_HOST_CONCAT_INNER(a, b) a##b
#define IFR_HOST_CONCAT(a, b) IFR_HOST_CONCAT_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses.
/// Returns the error of `expression` (a Result) from the enclosing function, if it has one.
#define IFR_HOST_TRY(expression)            \
  do {                                      \
    auto ifr_result = (expression);         \
    if (!ifr_result.ok())                   \
      return std::move(ifr_result.error()); \
  } while (0)

/// Assigns the value of `expression` to `target` (which may declare a variable), or returns its
/// error.
#define IFR_HOST_ASSIGN(target, expression) \
  IFR_HOST_ASSIGN_INNER(IFR_HOST_CONCAT(ifr_result_, __LINE__), target, expression)
#define IFR_HOST_ASSIGN_INNER(name, target, expression) \
  auto name = (expression);                             \
  if (!name.ok())                                       \
    return std::move(name.error());                     \
  target = std::move(name).value()
// NOLINTEND(bugprone-macro-parentheses)
