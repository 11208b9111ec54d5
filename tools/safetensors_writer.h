// SPDX-License-Identifier: Apache-2.0
// Writes one safetensors file whose tensors are handed over whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace ifr::tools {

struct OutputTensor {
  std::string name;
  const char* dtype = "F32";  // as safetensors names it
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // owned by the caller until write returns
};

// Writes `path` whole or not at all (a temporary file beside it is renamed).
[[nodiscard]] Status write_safetensors(const std::string& path,
                                       std::span<const OutputTensor> tensors);

}  // namespace ifr::tools
