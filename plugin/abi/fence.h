// SPDX-License-Identifier: Apache-2.0
// Around every entry: no exception leaves, every failure leaves a sentence behind.
#pragma once

#include <exception>
#include <new>

#include "abi/runtime_registry.h"
#include "base/status.h"
#include "interframe/interframe.h"

namespace ifr::abi {

inline constexpr ifr_result kOk = {IFR_OK, IFR_PART_NONE};

[[nodiscard]] constexpr ifr_result make_result(Code code, Part part) {
  return {static_cast<int32_t>(code), static_cast<int32_t>(part)};
}

[[nodiscard]] inline ifr_result result_of(const Status& status) {
  return make_result(status.code(), status.part());
}

[[nodiscard]] constexpr ifr_result pin_result(PinFault fault) {
  switch (fault) {
    case PinFault::kNone:
      return kOk;
    case PinFault::kForked:
      return make_result(Code::kInvalidState, Part::kAbi);
    case PinFault::kUnknown:
      break;
  }
  return make_result(Code::kInvalidHandle, Part::kAbi);
}

// Runs `body` (returns a Status); `on_error(code, part, message)` gets what went wrong.
template <typename Body, typename OnError>
[[nodiscard]] ifr_result fenced(Body&& body, OnError&& on_error) noexcept {
  Code code = Code::kInternal;
  try {
    const Status status = body();
    if (status.is_ok()) {
      return kOk;
    }
    on_error(status.message());
    return result_of(status);
  } catch (const std::bad_alloc&) {
    code = Code::kOutOfMemory;
  } catch (const std::exception& error) {
    on_error(error.what());
    return make_result(code, Part::kAbi);
  } catch (...) {
    code = Code::kInternal;
  }
  on_error(code == Code::kOutOfMemory ? "the system has not enough memory for the call"
                                      : "the call threw something unknown");
  return make_result(code, Part::kAbi);
}

// An entry of a runtime: `body(Runtime&)` returns a Status.
template <typename Body>
[[nodiscard]] ifr_result with_runtime(ifr_runtime* runtime, Body&& body) noexcept {
  if (runtime == nullptr) {
    return make_result(Code::kInvalidArgument, Part::kAbi);
  }
  const RuntimePin pin(runtime);
  if (pin.fault() != PinFault::kNone) {
    return pin_result(pin.fault());
  }
  return fenced([&] { return body(*pin); },
                [&](std::string_view message) { pin->last_error().set(message); });
}

}  // namespace ifr::abi
