// SPDX-License-Identifier: Apache-2.0
// The header of a GGUF file (versions 2 and 3, little-endian): keys, values and the tensor table.
//
// Decisions where sources disagree: `general.alignment` must be a power of two from 8 to 65,536
// (24, which some readers take, is refused: shifted data is never read); tensors that share bytes
// are refused; arrays of arrays are refused; keys and tensor names are valid UTF-8 without NUL,
// names of 1 to 64 bytes; bytes between tensors and after the last are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "model/byte_source.h"
#include "model/model_file.h"

namespace ifr {

enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

[[nodiscard]] const char* gguf_type_name(GgufType type);

// Scalars are kept; text and arrays stay in the file until somebody asks for them.
struct GgufValue {
  GgufType type = GgufType::kU8;
  GgufType element_type = GgufType::kU8;  // of an array
  uint64_t count = 0;                     // elements of an array, bytes of a string
  uint64_t bits = 0;                      // a scalar's bytes, zero-extended
  uint64_t offset = 0;                    // in the file, of the payload: element 0, byte 0
};

// Getters: absent is nullopt (or the default), a wrong type or range an error that names key, value
// and file offset. Immutable; refers to `source`, which outlives it.
class GgufHeader {
 public:
  [[nodiscard]] static Expected<GgufHeader> read(const ByteSource& source);

  [[nodiscard]] const ByteSource& source() const { return *source_; }
  [[nodiscard]] uint32_t version() const { return version_; }
  [[nodiscard]] uint64_t alignment() const { return alignment_; }
  [[nodiscard]] uint64_t data_offset() const { return data_offset_; }  // of the first tensor
  [[nodiscard]] std::vector<TensorInfo>& tensors() { return tensors_; }
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return tensors_; }
  [[nodiscard]] const TensorInfo* find_tensor(std::string_view name) const;  // linear

  [[nodiscard]] const GgufValue* find(const std::string& key) const;
  [[nodiscard]] Expected<std::optional<int64_t>> integer(const std::string& key) const;
  [[nodiscard]] Expected<std::optional<double>> real(const std::string& key) const;
  [[nodiscard]] Expected<std::optional<bool>> boolean(const std::string& key) const;
  [[nodiscard]] Expected<std::optional<std::string>> text(const std::string& key,
                                                          uint64_t max_bytes) const;
  // "key at byte N" errors for callers with rules of their own.
  [[nodiscard]] Status value_error(const std::string& key, Code code, const char* format, ...) const
      __attribute__((format(printf, 4, 5)));

 private:
  friend class GgufParser;
  GgufHeader() = default;

  const ByteSource* source_ = nullptr;
  uint32_t version_ = 0;
  uint64_t alignment_ = 32;
  uint64_t data_offset_ = 0;
  std::unordered_map<std::string, GgufValue> values_;
  std::vector<TensorInfo> tensors_;
};

// `llama` only; other architectures and features that change the numbers are refused by name.
[[nodiscard]] Expected<ModelConfig> read_gguf_config(const GgufHeader& header);
// nullopt when the file has no vocabulary.
[[nodiscard]] Expected<std::optional<TokenizerData>> read_gguf_tokenizer(const GgufHeader& header);

}  // namespace ifr
