// SPDX-License-Identifier: Apache-2.0
// Numbers of tensor types in GGUF files.
#pragma once

#include <cstdint>
#include <optional>

#include "interframe_kernels/data_type.h"

namespace ifr {

// nullopt: not a type that is read.
[[nodiscard]] std::optional<kernels::DataType> gguf_data_type(uint32_t type);

// Of every type the format defines, those not read included; null for numbers it does not define
// (any more).
[[nodiscard]] const char* gguf_tensor_type_name(uint32_t type);

}  // namespace ifr
