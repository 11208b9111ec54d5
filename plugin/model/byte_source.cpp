// SPDX-License-Identifier: Apache-2.0
#include "model/byte_source.h"

#include <cstring>

#include "base/checked_math.h"

namespace ifr {

Status MemorySource::read(uint64_t offset, std::span<std::byte> out) const {
  if (!range_inside(offset, out.size(), bytes_.size())) {
    return make_error(Code::kIo, Part::kModel, "'%s': bytes %llu..+%zu lie past its end at %zu",
                      name_.c_str(), static_cast<unsigned long long>(offset), out.size(),
                      bytes_.size());
  }
  if (!out.empty()) {
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  return {};
}

}  // namespace ifr
