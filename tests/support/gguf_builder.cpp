// SPDX-License-Identifier: Apache-2.0
#include "support/gguf_builder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace ifr::test {

namespace {

constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ80 = 8;

std::string utf8(uint32_t code_point) {  // below U+0800
  if (code_point < 0x80) {
    return {static_cast<char>(code_point)};
  }
  return {static_cast<char>(0xC0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 63))};
}

// The printable stand-in of each byte in byte-level vocabularies.
std::vector<std::string> byte_spellings() {
  std::vector<std::string> spellings;
  uint32_t next = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool is_itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    spellings.push_back(utf8(is_itself ? byte : next++));
  }
  return spellings;
}

void set_byte_level_vocabulary(GgufBuilder& file) {
  std::vector<std::string> tokens = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  for (const std::string& spelling : byte_spellings()) {
    tokens.push_back(spelling);
  }
  const std::string space = utf8(0x120);  // stands for ' '
  const std::vector<std::pair<std::string, std::string>> merges = {
      {"t", "h"},     {"th", "e"},   {space, "t"},   {space + "t", "he"}, {"h", "e"},
      {"i", "n"},     {"e", "r"},    {"a", "n"},     {"o", "n"},          {"r", "e"},
      {"a", "t"},     {"e", "n"},    {"o", "r"},     {"i", "s"},          {"e", "s"},
      {"i", "t"},     {"a", "r"},    {"t", "e"},     {"s", "t"},          {"o", "u"},
      {"in", "g"},    {"an", "d"},   {space, "a"},   {space, "s"},        {space, "w"},
      {space, "o"},   {space, "in"}, {space, "and"}, {"l", "l"},          {"he", "ll"},
      {"hell", "o"},  {space, "w"},  {"or", "l"},    {"orl", "d"},        {space + "w", "orld"},
      {"u", "s"},     {"us", "er"},  {"s", "y"},     {"sy", "st"},        {"e", "m"},
      {"syst", "em"}, {"1", "2"}};
  std::vector<std::string> texts;
  for (const auto& [left, right] : merges) {
    const std::string joined = left + right;
    if (std::find(tokens.begin(), tokens.end(), joined) == tokens.end()) {
      tokens.push_back(joined);
    }
    std::string merge = left;
    merge.append(" ").append(right);
    if (std::find(texts.begin(), texts.end(), merge) == texts.end()) {
      texts.push_back(merge);
    }
  }
  std::vector<int32_t> types(tokens.size(), 1);
  std::fill_n(types.begin(), 3, 3);
  if (tokens.size() != 300) {
    std::fprintf(stderr, "the vocabulary of file B has %zu tokens, not 300\n", tokens.size());
    std::abort();
  }
  file.set_text("tokenizer.ggml.model", "gpt2");
  file.set_text("tokenizer.ggml.pre", "smollm");
  file.set_texts("tokenizer.ggml.tokens", tokens);
  file.set_array("tokenizer.ggml.token_type", 5, types);
  file.set_texts("tokenizer.ggml.merges", texts);
  file.set_u32("tokenizer.ggml.bos_token_id", 1);
  file.set_u32("tokenizer.ggml.eos_token_id", 2);
  file.set_u32("tokenizer.ggml.unknown_token_id", 0);
  file.set_u32("tokenizer.ggml.padding_token_id", 2);
  file.set_bool("tokenizer.ggml.add_bos_token", false);
  file.set_bool("tokenizer.ggml.add_space_prefix", false);
  file.set_text("tokenizer.chat_template",
                "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + "
                "message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
                "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}");
}

class WeightWriter {
 public:
  WeightWriter(GgufBuilder& file, uint32_t seed) : file_(file), random_(seed) {}

  // Rows of Q8_0 blocks with the scale 2^-9: about 1/8 deviation, right for 64 inputs.
  void matrix(const std::string& name, uint64_t num_columns, uint64_t num_rows) {
    std::string data;
    for (uint64_t block = 0; block < num_columns / 32 * num_rows; ++block) {
      data += little_endian(uint16_t{0x1800});
      for (int32_t code = 0; code < 32; ++code) {
        data += static_cast<char>(static_cast<int32_t>(random_() % 255) - 127);
      }
    }
    file_.tensors.push_back({name, {num_columns, num_rows}, kQ80, std::move(data), {}, {}});
  }

  void norm(const std::string& name, uint64_t len) {
    std::string data;
    for (uint64_t idx = 0; idx < len; ++idx) {
      data += little_endian(0.75F + static_cast<float>(random_() % 512) / 1024.0F);
    }
    file_.tensors.push_back({name, {len}, kF32, std::move(data), {}, {}});
  }

 private:
  GgufBuilder& file_;
  std::mt19937 random_;
};

}  // namespace

void GgufBuilder::set(const std::string& key, uint32_t type, std::string payload) {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const GgufKey& entry) { return entry.key == key; });
  if (found != keys.end()) {
    *found = {key, type, std::move(payload)};
  } else {
    keys.push_back({key, type, std::move(payload)});
  }
}

void GgufBuilder::set_texts(const std::string& key, const std::vector<std::string>& texts) {
  std::string payload = little_endian(uint32_t{8}) + little_endian(uint64_t{texts.size()});
  for (const std::string& text : texts) {
    payload += text_bytes(text);
  }
  set(key, 9, std::move(payload));
}

void GgufBuilder::remove(const std::string& key) {
  std::erase_if(keys, [&](const GgufKey& entry) { return entry.key == key; });
}

GgufTensor& GgufBuilder::tensor(const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const GgufTensor& entry) { return entry.name == name; });
  if (found == tensors.end()) {
    std::fprintf(stderr, "no tensor '%s' in the test file\n", name.c_str());
    std::abort();
  }
  return *found;
}

void GgufBuilder::remove_tensor(const std::string& name) {
  std::erase_if(tensors, [&](const GgufTensor& entry) { return entry.name == name; });
}

std::string GgufBuilder::text_bytes(std::string_view text) {
  return little_endian(uint64_t{text.size()}) + std::string(text);
}

std::string GgufBuilder::build(uint64_t* data_offset) const {
  std::string out = "GGUF" + little_endian(version);
  out += little_endian(num_tensors.value_or(tensors.size()));
  out += little_endian(num_keys.value_or(keys.size()));
  for (const GgufKey& entry : keys) {
    out += text_bytes(entry.key) + little_endian(entry.type) + entry.payload;
  }
  const auto aligned = [&](uint64_t at) { return (at + alignment - 1) / alignment * alignment; };
  uint64_t place = 0;
  std::string data;
  for (const GgufTensor& entry : tensors) {
    place = aligned(place);
    out += text_bytes(entry.name) +
           little_endian(entry.num_dims.value_or(static_cast<uint32_t>(entry.dims.size())));
    for (const uint64_t extent : entry.dims) {
      out += little_endian(extent);
    }
    out += little_endian(entry.type) + little_endian(entry.offset.value_or(place));
    data.resize(place);
    data += entry.data;
    place += entry.data.size();
  }
  if (!tensors.empty()) {
    out.resize(aligned(out.size()));
  }
  if (data_offset != nullptr) {
    *data_offset = out.size();
  }
  return out + data;
}

GgufBuilder make_gguf_b(const LlamaFileOptions& options) {
  GgufBuilder file;
  file.set_text("general.architecture", "llama");
  file.set_text("general.name", "B");
  file.set_u32("llama.block_count", options.num_layers);
  file.set_u32("llama.context_length", options.context_length);
  file.set_u32("llama.embedding_length", options.embedding);
  file.set_u32("llama.feed_forward_length", options.feed_forward);
  file.set_u32("llama.attention.head_count", options.num_heads);
  file.set_u32("llama.attention.head_count_kv", options.num_kv_heads);
  if (options.write_key_length) {
    file.set_u32("llama.attention.key_length", options.head_dim);
    file.set_u32("llama.attention.value_length", options.head_dim);
  }
  file.set_u32("llama.rope.dimension_count", options.head_dim);
  file.set_f32("llama.rope.freq_base", 10000.0F);
  file.set_f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  set_byte_level_vocabulary(file);

  WeightWriter weights(file, options.seed);
  const uint64_t embedding = options.embedding;
  const uint64_t query_len = uint64_t{options.num_heads} * options.head_dim;
  const uint64_t key_len = uint64_t{options.num_kv_heads} * options.head_dim;
  weights.matrix("token_embd.weight", embedding, options.embedding_rows);
  for (uint32_t layer = 0; layer < options.num_layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    weights.norm(block + "attn_norm.weight", embedding);
    weights.matrix(block + "attn_q.weight", embedding, query_len);
    weights.matrix(block + "attn_k.weight", embedding, key_len);
    weights.matrix(block + "attn_v.weight", embedding, key_len);
    weights.matrix(block + "attn_output.weight", query_len, embedding);
    weights.norm(block + "ffn_norm.weight", embedding);
    weights.matrix(block + "ffn_gate.weight", embedding, options.feed_forward);
    weights.matrix(block + "ffn_up.weight", embedding, options.feed_forward);
    weights.matrix(block + "ffn_down.weight", options.feed_forward, embedding);
  }
  weights.norm("output_norm.weight", embedding);
  if (!options.tied) {
    weights.matrix("output.weight", embedding, options.embedding_rows);
  }
  return file;
}

GgufBuilder make_gguf_s() {
  GgufBuilder file = make_gguf_b();
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {2, 3, 3};
  std::vector<float> scores = {0.0F, 0.0F, 0.0F};
  for (int32_t byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    tokens.emplace_back(text);
    types.push_back(6);
    scores.push_back(0.0F);
  }
  const std::string space = "\xE2\x96\x81";  // stands for ' '
  for (const char* piece :
       {"a", "b", "c",  "d",  "e",    "f",     "g",  "h",  "i",     "j",  "k",   "l", "m",
        "n", "o", "p",  "q",  "r",    "s",     "t",  "u",  "v",     "w",  "x",   "y", "z",
        ".", ",", "he", "ll", "hell", "hello", "or", "ld", "world", "th", "the", "in"}) {
    tokens.emplace_back(piece);
  }
  for (const char* piece : {"", "t", "the"}) {
    tokens.push_back(space + piece);
  }
  while (types.size() < tokens.size()) {
    types.push_back(1);
    scores.push_back(-static_cast<float>(types.size()));
  }
  file.set_text("tokenizer.ggml.model", "llama");
  file.remove("tokenizer.ggml.pre");
  file.remove("tokenizer.ggml.merges");
  file.remove("tokenizer.chat_template");
  file.remove("tokenizer.ggml.padding_token_id");
  file.set_texts("tokenizer.ggml.tokens", tokens);
  file.set_array("tokenizer.ggml.token_type", 5, types);
  file.set_array("tokenizer.ggml.scores", 6, scores);
  file.set_bool("tokenizer.ggml.add_bos_token", true);
  file.set_bool("tokenizer.ggml.add_space_prefix", true);
  return file;
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string make_temporary_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(IFR_BINARY_DIR) / "test_files" / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

}  // namespace ifr::test
