// SPDX-License-Identifier: Apache-2.0
// The one way vulkan.hpp comes into the host, and the fence that turns its exceptions into values.
#pragma once

// The entry point is passed in: a test can put counting and failing functions in its place.
#ifndef VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL
#define VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL 0
#endif
#ifndef VULKAN_HPP_NO_STRUCT_CONSTRUCTORS
#define VULKAN_HPP_NO_STRUCT_CONSTRUCTORS
#endif
#include <new>
#include <type_traits>
#include <vulkan/vulkan_raii.hpp>

#include "gfx/result.h"

namespace ifr::host {

/// Error for a Vulkan result code; `what` names the operation that returned it.
[[nodiscard]] Error vulkan_error(vk::Result result, const char* what);

template <class T>
inline constexpr bool kIsResult = false;
template <class T>
inline constexpr bool kIsResult<Result<T>> = true;

/// Runs `body`, which may use vulkan.hpp's throwing calls, and gives its value or its error. `body`
/// may itself return a Result.
template <class Body>
auto guard(const char* what, Body&& body) {
  using Value = std::invoke_result_t<Body>;
  if constexpr (kIsResult<Value>) {
    try {
      return body();
    } catch (const vk::SystemError& error) {
      return Value(vulkan_error(static_cast<vk::Result>(error.code().value()), what));
    } catch (const std::bad_alloc&) {
      return Value(vulkan_error(vk::Result::eErrorOutOfHostMemory, what));
    }
  } else {
    return guard(what, [&]() -> Result<Value> {
      if constexpr (std::is_void_v<Value>) {
        body();
        return {};
      } else {
        return body();
      }
    });
  }
}

}  // namespace ifr::host
