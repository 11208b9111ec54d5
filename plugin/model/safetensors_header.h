// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file: 8 bytes of length, JSON, then data.
//
// Read are F32, F16, BF16, I64, I32, U8. Refused: tensors that share bytes, unknown keys of a
// tensor, keys that stand twice, a header longer than 100 MB. Bytes that no tensor names are
// ignored.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "model/byte_source.h"
#include "model/model_file.h"

namespace ifr {

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // by offset
  uint64_t header_bytes = 0;        // the data starts here
};

[[nodiscard]] Expected<SafetensorsHeader> read_safetensors_header(const ByteSource& source,
                                                                  uint32_t file_idx);

}  // namespace ifr
