// SPDX-License-Identifier: Apache-2.0
// A table of embedding rows too large to copy: it stays where it is and rows are read by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace ifr {

// The shards of one table, 0, 1, 2, ... Safe from several threads.
class ShardReader {
 public:
  ShardReader() = default;
  ShardReader(const ShardReader&) = delete;
  ShardReader& operator=(const ShardReader&) = delete;
  virtual ~ShardReader() = default;
  // Fills all of `out` from the shard's byte `offset`, or says why not.
  [[nodiscard]] virtual Status read(int64_t shard_idx, uint64_t offset,
                                    std::span<std::byte> out) const = 0;
};

struct EmbeddingStoreShape {
  int64_t num_rows = 0;
  int64_t rows_per_shard = 0;  // the last shard may be shorter
  int64_t row_bytes = 0;
};

// Immutable; safe from several threads; reading allocates nothing unless it fails.
class EmbeddingStore {
 public:
  EmbeddingStore(const EmbeddingStoreShape& shape, std::unique_ptr<ShardReader> reader)
      : shape_(shape), reader_(std::move(reader)) {}

  [[nodiscard]] const EmbeddingStoreShape& shape() const { return shape_; }
  // out: [row_ids.size(), row_bytes]. Errors: the reader's; kInternal for a row outside the table.
  // After an error `out` is undefined.
  [[nodiscard]] Status read_rows(std::span<const int64_t> row_ids, std::span<std::byte> out) const;

 private:
  EmbeddingStoreShape shape_;
  std::unique_ptr<ShardReader> reader_;
};

}  // namespace ifr
