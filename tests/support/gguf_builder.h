// SPDX-License-Identifier: Apache-2.0
// Writes GGUF files for tests, right ones and, field by field, wrong ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ifr::test {

// Little-endian bytes of an integer or float.
template <typename T>
[[nodiscard]] std::string little_endian(T value) {
  static_assert(sizeof(T) <= 8);
  return {reinterpret_cast<const char*>(&value), sizeof(T)};  // tests run on little-endian machines
}

struct GgufKey {
  std::string key;
  uint32_t type = 0;
  std::string payload;  // as it stands in the file after the type
};

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> dims;  // the file's order, innermost first
  uint32_t type = 0;
  std::string data;
  std::optional<uint64_t> offset;    // instead of the place build() gives it
  std::optional<uint32_t> num_dims;  // instead of dims.size()
};

class GgufBuilder {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;              // of the data; the key is set apart
  std::optional<uint64_t> num_keys;     // instead of keys.size()
  std::optional<uint64_t> num_tensors;  // instead of tensors.size()
  std::vector<GgufKey> keys;
  std::vector<GgufTensor> tensors;

  // Replaces a key of that name or appends one.
  void set(const std::string& key, uint32_t type, std::string payload);
  void set_u32(const std::string& key, uint32_t value) { set(key, 4, little_endian(value)); }
  void set_i32(const std::string& key, int32_t value) { set(key, 5, little_endian(value)); }
  void set_u64(const std::string& key, uint64_t value) { set(key, 10, little_endian(value)); }
  void set_f32(const std::string& key, float value) { set(key, 6, little_endian(value)); }
  void set_f64(const std::string& key, double value) { set(key, 12, little_endian(value)); }
  void set_bool(const std::string& key, bool value) { set(key, 7, std::string(1, value ? 1 : 0)); }
  void set_text(const std::string& key, std::string_view text) { set(key, 8, text_bytes(text)); }
  void set_texts(const std::string& key, const std::vector<std::string>& texts);
  template <typename T>
  void set_array(const std::string& key, uint32_t element_type, const std::vector<T>& values) {
    std::string payload = little_endian(element_type) + little_endian(uint64_t{values.size()});
    for (const T value : values) {
      payload += little_endian(value);
    }
    set(key, 9, std::move(payload));
  }
  void remove(const std::string& key);
  [[nodiscard]] GgufTensor& tensor(const std::string& name);  // must be there
  void remove_tensor(const std::string& name);

  // The whole file; ends with the last tensor's last byte. `data_offset`: where the data starts.
  [[nodiscard]] std::string build(uint64_t* data_offset = nullptr) const;

  [[nodiscard]] static std::string text_bytes(std::string_view text);
};

struct LlamaFileOptions {
  uint32_t num_layers = 2;
  uint32_t embedding = 64;
  uint32_t num_heads = 4;
  uint32_t num_kv_heads = 2;
  uint32_t head_dim = 16;
  bool write_key_length = false;  // `llama.attention.key_length`; needed when not 64 / 4
  uint32_t feed_forward = 128;
  uint32_t context_length = 256;
  uint32_t embedding_rows = 300;
  bool tied = true;
  uint32_t seed = 1;
};

// File **B**: a small llama with F32 norms, Q8_0 weights and a byte-level vocabulary of 300 tokens:
// 0 <|endoftext|>, 1 <|im_start|>, 2 <|im_end|>, 3 + b for byte b, 41 merges.
[[nodiscard]] GgufBuilder make_gguf_b(const LlamaFileOptions& options = {});
// File **S**: the same model with a SentencePiece-style vocabulary of 300: 0 <unk>, 1 <s>, 2 </s>,
// 3 + b for byte b as "<0xHH>", 41 pieces with scores.
[[nodiscard]] GgufBuilder make_gguf_s();

void write_file(const std::string& path, std::string_view bytes);
[[nodiscard]] std::string read_file(const std::string& path);
// A new, empty folder under the build's; tests do not remove it.
[[nodiscard]] std::string make_temporary_folder(const std::string& name);

}  // namespace ifr::test
