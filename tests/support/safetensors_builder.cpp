// SPDX-License-Identifier: Apache-2.0
#include "support/safetensors_builder.h"

#include "support/gguf_builder.h"

namespace ifr::test {

void SafetensorsBuilder::add(const std::string& name, std::string_view dtype,
                             const std::vector<int64_t>& shape, std::string_view data) {
  std::string extents;
  for (const int64_t extent : shape) {
    extents.append(extents.empty() ? "" : ",").append(std::to_string(extent));
  }
  const size_t begin = data_.size();
  data_ += data;
  // Appended piece by piece: GCC 12 warns falsely of concatenations with a literal in front.
  if (!entries_.empty()) {
    entries_ += ',';
  }
  entries_.append("\"").append(name).append(R"(":{"dtype":")").append(dtype);
  entries_.append(R"(","shape":[)").append(extents).append(R"(],"data_offsets":[)");
  entries_.append(std::to_string(begin)).append(",").append(std::to_string(data_.size()));
  entries_.append("]}");
}

std::string SafetensorsBuilder::build() const {
  std::string header;
  header.append("{").append(entries_).append("}");
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return assemble(header, data_);
}

std::string SafetensorsBuilder::assemble(std::string_view header, std::string_view data) {
  return little_endian(uint64_t{header.size()}) + std::string(header) + std::string(data);
}

}  // namespace ifr::test
