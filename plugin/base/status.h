// SPDX-License-Identifier: Apache-2.0
// Errors as values: a code, the part it came from, and one sentence that says what, why and what to
// do.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace ifr {

// Values equal those of ifr_code in interframe.h (a test of abi/ holds them together).
enum class Code : int32_t {
  kOk = 0,
  kInvalidArgument = 1,  // an argument of the call is wrong
  kInvalidState = 2,     // the call came at the wrong time
  kNotFound = 3,         // file, tensor, key or object is missing
  kInvalidFile = 4,      // file contents are wrong
  kUnsupported = 5,      // right, but not something this build or machine does
  kOutOfMemory = 6,      // the system refused memory
  kOverBudget = 7,       // does not fit the budget the host gave
  kContextFull = 8,      // prompt and answer do not fit the session's context
  kCancelled = 9,
  kIo = 10,  // reading failed or came short
  kDeviceLost = 11,
  kInternal = 12,       // a fault of the plugin
  kInvalidHandle = 13,  // closed, of another kind, or of another runtime
};

enum class Part : int32_t {
  kNone = 0,
  kAbi = 1,
  kBase = 2,
  kModel = 3,
  kTokenizer = 4,
  kEngine = 5,
  kSchedule = 6,
  kMemory = 7,
  kInterop = 8,
  kTelemetry = 9,
  kKernels = 10,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, Part part, std::string message)
      : code_(code), part_(part), message_(std::move(message)) {}

  [[nodiscard]] bool is_ok() const { return code_ == Code::kOk; }
  [[nodiscard]] Code code() const { return code_; }
  [[nodiscard]] Part part() const { return part_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  Code code_ = Code::kOk;
  Part part_ = Part::kNone;
  std::string message_;
};

// printf-style; the message is cut at 1023 bytes, at a UTF-8 character's border.
[[nodiscard]] Status make_error(Code code, Part part, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// A T or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Expected(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.is_ok());
  }

  [[nodiscard]] bool is_ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace ifr

#define IFR_CONCAT_INNER(a, b) a##b
#define IFR_CONCAT(a, b) IFR_CONCAT_INNER(a, b)

// Returns the Status of `expression` to the caller unless it is ok.
#define IFR_TRY(expression)                      \
  do {                                           \
    ::ifr::Status ifr_try_status = (expression); \
    if (!ifr_try_status.is_ok()) {               \
      return ifr_try_status;                     \
    }                                            \
  } while (0)

// IFR_ASSIGN_OR_RETURN(auto x, make_x()): the value, or the error goes to the caller.
#define IFR_ASSIGN_OR_RETURN(declaration, expression) \
  IFR_ASSIGN_OR_RETURN_INNER(IFR_CONCAT(ifr_expected_, __LINE__), declaration, expression)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses
#define IFR_ASSIGN_OR_RETURN_INNER(name, declaration, expression) \
  auto name = (expression);                                       \
  if (!name.is_ok()) {                                            \
    return name.status();                                         \
  }                                                               \
  declaration = std::move(name).value()
// NOLINTEND(bugprone-macro-parentheses)
