// SPDX-License-Identifier: Apache-2.0
// The walk over a GGUF header: keys and values in gguf_parser.cpp, the tensor table in
// gguf_tensor_table.cpp. Counts are held against the bytes that are left before anything is
// allocated for them; nothing recurses. Private to the GGUF reader.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/byte_cursor.h"
#include "model/gguf_header.h"

namespace ifr {

class GgufParser {
 public:
  explicit GgufParser(const ByteSource& source) : source_(source), cursor_(source) {
    header_.source_ = &source;
  }

  Expected<GgufHeader> run() {
    IFR_TRY(read_start());
    for (uint64_t idx = 0; idx < num_values_; ++idx) {
      IFR_TRY(read_value());
    }
    IFR_TRY(read_alignment());
    header_.tensors_.reserve(num_tensors_);
    for (uint64_t idx = 0; idx < num_tensors_; ++idx) {
      IFR_TRY(read_tensor());
    }
    IFR_TRY(place_tensors());
    return std::move(header_);
  }

 private:
  Status error(uint64_t offset, const std::string& text) const {
    return error_at(source_, offset, Code::kInvalidFile, "%s", text.c_str());
  }

  Status read_start();
  Status read_version();
  Status read_count(uint64_t& out, uint64_t limit, uint64_t min_bytes, const char* field);
  Status read_text(std::string& out, uint64_t max_bytes, const char* field);
  Status read_value();
  Status read_type(GgufType& out, const char* field);
  Status read_scalar(GgufValue& value);
  Status read_array(GgufValue& value);
  Status read_alignment();
  Status read_tensor();
  Status read_shape(TensorInfo& tensor);
  Status read_tensor_type(TensorInfo& tensor);
  Status place_tensors();
  Status check_overlap() const;

  const ByteSource& source_;
  ByteCursor cursor_;
  GgufHeader header_;
  uint64_t num_values_ = 0;
  uint64_t num_tensors_ = 0;
  std::string context_;  // the key or tensor being read, for messages
  std::unordered_set<std::string> tensor_names_;
  std::vector<uint64_t> offset_positions_;  // where each tensor's offset stands in the file
};

}  // namespace ifr
