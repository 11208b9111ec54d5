// SPDX-License-Identifier: Apache-2.0
// Makes a ModelFile from what the readers give. Private to model/.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "model/model_file.h"

namespace ifr {

class ModelFileBuilder {
 public:
  // Has config.json and model.safetensors, or shards with an index.
  [[nodiscard]] static Expected<std::unique_ptr<ModelFile>> from_folder(const std::string& folder);
  [[nodiscard]] static Expected<std::unique_ptr<ModelFile>> from_gguf(
      std::unique_ptr<ByteSource> source);

 private:
  // Name index, then the check against the configuration.
  [[nodiscard]] static Status complete(ModelFile& model);
  [[nodiscard]] static Status read_shards(ModelFile& model, const std::string& folder);
  [[nodiscard]] static Status add_shard(ModelFile& model, const std::string& path);
  [[nodiscard]] static Status index_names(ModelFile& model);
};

// 64-bit FNV-1a, continued from `hash`.
inline constexpr uint64_t kHashStart = 0xCBF29CE484222325ULL;
[[nodiscard]] uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t hash);

}  // namespace ifr
