// SPDX-License-Identifier: Apache-2.0
// A model on disk: its header parsed and checked, its weights read by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "interframe_kernels/data_type.h"
#include "model/byte_source.h"
#include "model/model_config.h"
#include "model/tokenizer_data.h"

namespace ifr {

enum class FileFormat { kHuggingFace, kGguf };

struct TensorInfo {
  std::string name;
  kernels::DataType type = kernels::DataType::kF32;
  std::vector<int64_t> shape;  // outermost first (GGUF's order reversed); every extent >= 1 but in
                               // safetensors files, where tensors that no model needs may hold 0
  uint64_t size_bytes = 0;     // tensor_bytes(type, num_elements())
  uint32_t file_idx = 0;       // into ModelFile's files
  uint64_t offset = 0;         // of the first byte, in that file

  [[nodiscard]] int64_t num_elements() const;
};

// What open() gives has passed every check: all tensors that the configuration needs are there,
// with the right shapes and types, inside their files, none overlapping another. Immutable; every
// function may be called from any thread.
class ModelFile {
 public:
  // `path`: a folder with config.json and safetensors (or one of those files), or a GGUF file.
  // Reads headers only. Errors: kNotFound, kIo, kInvalidFile (names field and file offset),
  // kUnsupported (names the feature and what is supported).
  [[nodiscard]] static Expected<std::unique_ptr<ModelFile>> open(const std::string& path);
  // A GGUF file from any source; what open() does for a path.
  [[nodiscard]] static Expected<std::unique_ptr<ModelFile>> open_gguf(
      std::unique_ptr<ByteSource> source);

  [[nodiscard]] FileFormat format() const { return format_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const ModelConfig& config() const { return config_; }
  // Absent for Hugging Face folders: prompts are token ids there.
  [[nodiscard]] const std::optional<TokenizerData>& tokenizer() const { return tokenizer_; }

  // In the order of the files; those that the model does not need (a vision tower) included.
  [[nodiscard]] std::span<const TensorInfo> tensors() const { return tensors_; }
  // Null when there is none. Constant time. The name is the file's own.
  [[nodiscard]] const TensorInfo* find(std::string_view name) const;
  // Hugging Face: what stands before `embed_tokens`, `layers` ("model." or
  // "model.language_model."); GGUF: "".
  [[nodiscard]] const std::string& tensor_prefix() const { return tensor_prefix_; }

  // Fills all of `out` from the tensor's byte `offset`; a file that was cut meanwhile is kIo.
  [[nodiscard]] Status read(const TensorInfo& tensor, uint64_t offset,
                            std::span<std::byte> out) const;

  [[nodiscard]] uint64_t weight_bytes() const { return weight_bytes_; }     // of needed tensors
  [[nodiscard]] int64_t num_parameters() const { return num_parameters_; }  // of needed tensors
  [[nodiscard]] uint64_t file_bytes() const;                                // all files together
  [[nodiscard]] size_t num_unused_tensors() const { return num_unused_tensors_; }
  // Names this content: sizes, configuration, tensor table and a sample of the weights are hashed
  // (up to 4,096 reads of 64 bytes; not a guard against forgery). The path does not matter.
  [[nodiscard]] Expected<uint64_t> identity() const;

 private:
  friend class ModelFileBuilder;
  ModelFile() = default;

  FileFormat format_ = FileFormat::kGguf;
  std::string path_;
  std::string tensor_prefix_;
  ModelConfig config_;
  std::optional<TokenizerData> tokenizer_;
  std::vector<std::unique_ptr<ByteSource>> files_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t> index_;  // keys point into tensors_
  std::vector<uint64_t> header_bytes_;                  // of each of files_
  uint64_t config_hash_ = 0;                            // of config.json's text
  uint64_t weight_bytes_ = 0;
  int64_t num_parameters_ = 0;
  size_t num_unused_tensors_ = 0;
};

}  // namespace ifr
