// SPDX-License-Identifier: Apache-2.0
#include "memory/embedding_store.h"

#include <cassert>

namespace ifr {

Status EmbeddingStore::read_rows(std::span<const int64_t> row_ids, std::span<std::byte> out) const {
  const size_t row_bytes = static_cast<size_t>(shape_.row_bytes);
  assert(out.size() == row_ids.size() * row_bytes);
  for (size_t i = 0; i < row_ids.size(); ++i) {
    const int64_t row = row_ids[i];
    if (row < 0 || row >= shape_.num_rows) {
      return make_error(Code::kInternal, Part::kMemory,
                        "row %lld of an embedding table of %lld rows", static_cast<long long>(row),
                        static_cast<long long>(shape_.num_rows));
    }
    const uint64_t offset =
        static_cast<uint64_t>(row % shape_.rows_per_shard) * static_cast<uint64_t>(row_bytes);
    IFR_TRY(
        reader_->read(row / shape_.rows_per_shard, offset, out.subspan(i * row_bytes, row_bytes)));
  }
  return {};
}

}  // namespace ifr
