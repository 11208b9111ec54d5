// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GGUF file: refused, or a model of which every tensor can be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "model/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto model = ifr::ModelFile::open_gguf(std::make_unique<ifr::MemorySource>("fuzz", bytes));
  if (!model.is_ok()) {
    return 0;
  }
  std::vector<std::byte> content;
  for (const ifr::TensorInfo& tensor : (*model)->tensors()) {
    content.resize(tensor.size_bytes);
    if (tensor.size_bytes > size || !(*model)->read(tensor, 0, content).is_ok()) {
      std::abort();
    }
  }
  if (!(*model)->identity().is_ok()) {
    std::abort();
  }
  return 0;
}
