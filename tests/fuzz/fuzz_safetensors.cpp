// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file: refused, or tensors that lie inside it and apart.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/checked_math.h"
#include "model/safetensors_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ifr::MemorySource source("fuzz", std::as_bytes(std::span(data, size)));
  const auto header = ifr::read_safetensors_header(source, 0);
  if (!header.is_ok()) {
    return 0;
  }
  uint64_t end = header->header_bytes;
  for (const ifr::TensorInfo& tensor : header->tensors) {
    const int64_t num_bytes = ifr::kernels::tensor_bytes(tensor.type, tensor.num_elements());
    if (tensor.offset < end || !ifr::range_inside(tensor.offset, tensor.size_bytes, size) ||
        static_cast<uint64_t>(num_bytes) != tensor.size_bytes) {
      std::abort();
    }
    end = tensor.offset + tensor.size_bytes;
  }
  return 0;
}
