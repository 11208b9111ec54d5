// SPDX-License-Identifier: Apache-2.0
// Whole models: the ones that must open, and folders whose parts do not fit together.
#include "model/model_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "model/huggingface_files.h"
#include "support/safetensors_builder.h"

namespace ifr::test {
namespace {

using nlohmann::json;

std::unique_ptr<ModelFile> open_or_fail(const std::string& path) {
  auto model = ModelFile::open(path);
  EXPECT_TRUE(model.is_ok()) << model.status().message();
  return model.is_ok() ? std::move(model).value() : nullptr;
}

void expect_folder_refused(const std::string& folder, std::initializer_list<std::string_view> parts,
                           const std::string& what) {
  expect_refusal(ModelFile::open(folder).status(), parts, what);
}

// One tensor of the micro model's file.
struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string data;
};

std::map<std::string, StoredTensor> micro_tensors() {
  const std::string bytes = read_file(micro_folder() + "/model.safetensors");
  uint64_t len = 0;
  std::memcpy(&len, bytes.data(), 8);
  const json header = json::parse(bytes.substr(8, len));
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      const uint64_t begin = entry["data_offsets"][0];
      const uint64_t end = entry["data_offsets"][1];
      tensors[name] = {entry["dtype"], entry["shape"], bytes.substr(8 + len + begin, end - begin)};
    }
  }
  return tensors;
}

std::string build(const std::map<std::string, StoredTensor>& tensors) {
  SafetensorsBuilder file;
  for (const auto& [name, tensor] : tensors) {
    file.add(name, tensor.dtype, tensor.shape, tensor.data);
  }
  return file.build();
}

std::string new_folder(const std::string& name) {
  const std::string folder = scratch_folder() + "/" + name;
  std::filesystem::create_directories(folder);
  return folder;
}

std::string folder_of_tensors(const std::string& name,
                              const std::map<std::string, StoredTensor>& tensors,
                              const json& config) {
  const std::string folder = new_folder(name);
  write_file(folder + "/config.json", config.dump());
  write_file(folder + "/model.safetensors", build(tensors));
  return folder;
}

TEST(ModelFile, OpensMicro) {  // also how the class is used
  const auto model = open_or_fail(micro_folder());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->format(), FileFormat::kHuggingFace);
  EXPECT_EQ(model->tensor_prefix(), "model.");
  EXPECT_FALSE(model->tokenizer().has_value());
  EXPECT_EQ(model->num_unused_tensors(), 0U);
  const TensorInfo* head = model->find("lm_head.weight");
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->type, kernels::DataType::kBf16);
  EXPECT_EQ(head->shape, (std::vector<int64_t>{256, 64}));
  std::string data(head->size_bytes, '\0');
  ASSERT_TRUE(model->read(*head, 0, std::as_writable_bytes(std::span(data))).is_ok());
  EXPECT_EQ(data, micro_tensors()["lm_head.weight"].data);
  EXPECT_NE(open_or_fail(micro_folder() + "/model.safetensors"), nullptr);
  EXPECT_NE(open_or_fail(micro_folder() + "/config.json"), nullptr);
}

TEST(ModelFile, IdentityNamesTheContent) {
  const auto original = open_or_fail(micro_folder());
  const uint64_t identity = original->identity().value();
  const auto copy = open_or_fail(folder_with_config(read_file(micro_folder() + "/config.json")));
  EXPECT_EQ(copy->identity().value(), identity);
  auto tensors = micro_tensors();
  std::string& head = tensors["lm_head.weight"].data;
  head[head.size() / 2] = static_cast<char>(head[head.size() / 2] ^ 1);
  const auto other = open_or_fail(folder_of_tensors("other_weights", tensors, micro_config()));
  EXPECT_NE(other->identity().value(), identity);
}

TEST(ModelFile, OpensReferenceModels) {
  const char* root = std::getenv("IFR_REFERENCE_DIR");
  if (root == nullptr) {
    GTEST_SKIP() << "set IFR_REFERENCE_DIR to the folder that holds tiny/ and geometry/";
  }
  const auto tiny = open_or_fail(std::string(root) + "/tiny");
  ASSERT_NE(tiny, nullptr);
  EXPECT_EQ(tiny->config().qwen4_exp()->ple.layers, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(tiny->config().num_layers(), 8);
  const auto geometry = open_or_fail(std::string(root) + "/geometry");
  ASSERT_NE(geometry, nullptr);
  EXPECT_EQ(geometry->config().qwen4_exp()->rotary_dim, 64);
  EXPECT_EQ(geometry->config().qwen4_exp()->rope_theta, 1e7);
  EXPECT_GT(geometry->tensors().back().file_idx, 0U);
}

TEST(ModelFile, OpensSmolLm2) {
  const char* path = std::getenv("IFR_SMOLLM2");
  if (path == nullptr) {
    GTEST_SKIP() << "set IFR_SMOLLM2 to the path of SmolLM2-135M-Instruct.Q4_1.gguf";
  }
  const auto model = open_or_fail(path);
  ASSERT_NE(model, nullptr);
  const LlamaConfig& config = *model->config().llama();
  EXPECT_EQ(config.vocab_size, 49152);
  EXPECT_EQ(config.num_layers, 30);
  EXPECT_EQ(config.hidden_size, 576);
  EXPECT_EQ(config.num_heads, 9);
  EXPECT_EQ(config.num_kv_heads, 3);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.rope_theta, 100000.0);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(model->num_parameters(), 134515008);
  EXPECT_EQ(model->tokenizer()->merges.size(), 48900U);
  EXPECT_EQ(model->tokenizer()->eos_id, 2);
}

TEST(ModelFile, RefusesPathsThatAreNoModel) {
  EXPECT_EQ(ModelFile::open("").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ModelFile::open("/no/such/file.gguf").status().code(), Code::kNotFound);
  EXPECT_EQ(ModelFile::open(std::string("a\0b", 3)).status().code(), Code::kInvalidArgument);
  expect_folder_refused(new_folder("empty"), {"no config.json"}, "empty folder");
  const std::string folder = new_folder("no_weights");
  write_file(folder + "/config.json", micro_config().dump());
  expect_folder_refused(folder, {"model.safetensors", "index.json"}, "no weights");
  expect_folder_refused(std::string(IFR_SOURCE_DIR) + "/CMakeLists.txt", {"magic"}, "a text");
}

TEST(ModelFile, RefusesMissingAndMisshapenTensors) {
  const auto all = micro_tensors();
  for (const char* name :
       {"model.embed_tokens.weight", "lm_head.weight",
        "model.hyper_connection_mixer.hc_norm.weight", "model.layers.2.linear_attn.A_log",
        "model.layers.3.self_attn.indexer.index_qk_proj.weight",
        "model.layers.1.mlp.experts.7.up_proj.weight",
        "model.layers.0.ple.ple_embedding.layer_multipliers",
        "model.layers.0.ple.ple_embedding.ngram_embedding.shard_7.weight"}) {
    auto tensors = all;
    ASSERT_EQ(tensors.erase(name), 1U) << name;
    expect_folder_refused(folder_of_tensors("missing", tensors, micro_config()), {name, "missing"},
                          name);
    tensors = all;
    tensors[name].shape.insert(tensors[name].shape.begin(), 1);
    expect_folder_refused(folder_of_tensors("misshapen", tensors, micro_config()),
                          {name, "has shape [1, "}, name);
  }
  auto tensors = all;
  tensors["lm_head.weight"].dtype = "I64";
  tensors["lm_head.weight"].data.resize(size_t{256} * 64 * 8);
  expect_folder_refused(folder_of_tensors("type", tensors, micro_config()),
                        {"lm_head.weight", "I64"}, "type");
  tensors = all;
  tensors["model.layers.0.linear_attn.in_proj_a.bias"] = {"BF16", {4}, std::string(8, '\0')};
  expect_folder_refused(folder_of_tensors("bias", tensors, micro_config()), {"in_proj_a.bias"},
                        "bias");
}

TEST(ModelFile, ChecksNgramBuffers) {
  auto tensors = micro_tensors();
  std::string& primes = tensors["model.layers.0.ple.ple_embedding.ngram_heads_vocab_sizes"].data;
  primes[8] = static_cast<char>(primes[8] + 2);
  expect_folder_refused(folder_of_tensors("primes", tensors, micro_config()),
                        {"ngram_heads_vocab_sizes", "index 1"}, "another prime");
  json config = micro_config();
  config["seed"] = 1235;
  expect_folder_refused(folder_with_config(config.dump()), {"layer_multipliers", "index 0"},
                        "another seed");
}

TEST(ModelFile, TakesTiedHeadsAndIgnoresTheRest) {
  auto tensors = micro_tensors();
  tensors.erase("lm_head.weight");
  tensors["model.visual.blocks.0.norm.bias"] = {"F32", {1}, "abcd"};
  tensors["mtp.layers.0.x.weight"] = {"U8", {1}, "a"};
  json config = micro_config();
  config["tie_word_embeddings"] = true;
  const auto model = open_or_fail(folder_of_tensors("tied", tensors, config));
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->num_unused_tensors(), 2U);
  EXPECT_EQ(model->find("lm_head.weight"), nullptr);
}

TEST(ModelFile, OpensTheTextModelOfALargerOne) {
  std::map<std::string, StoredTensor> tensors;
  for (auto& [name, tensor] : micro_tensors()) {
    const bool is_inner = name.starts_with("model.");
    tensors[is_inner ? "model.language_model." + name.substr(6) : name] = tensor;
  }
  const json config = {{"model_type", "qwen4_exp"}, {"text_config", micro_config()}};
  const auto model = open_or_fail(folder_of_tensors("nested", tensors, config));
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->tensor_prefix(), "model.language_model.");
}

// The micro model in two files, layers 0 and 1 in the first.
struct Shards {
  std::map<std::string, StoredTensor> first, second;
  json weight_map;
};

Shards make_shards() {
  Shards shards;
  for (const auto& [name, tensor] : micro_tensors()) {
    const bool is_first =
        name.starts_with("model.layers.0.") || name.starts_with("model.layers.1.");
    (is_first ? shards.first : shards.second)[name] = tensor;
    shards.weight_map[name] =
        is_first ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
  }
  return shards;
}

std::string write_shards(const std::string& name, const Shards& shards) {
  const std::string folder = new_folder(name);
  write_file(folder + "/config.json", micro_config().dump());
  write_file(folder + "/model-00001-of-00002.safetensors", build(shards.first));
  write_file(folder + "/model-00002-of-00002.safetensors", build(shards.second));
  write_file(folder + "/model.safetensors.index.json",
             json{{"metadata", {{"total_size", 1}}}, {"weight_map", shards.weight_map}}.dump());
  return folder;
}

TEST(ModelFile, OpensShards) {
  const auto model = open_or_fail(write_shards("shards", make_shards()));
  ASSERT_NE(model, nullptr);
  for (const auto& [name, tensor] : micro_tensors()) {
    const TensorInfo* info = model->find(name);
    ASSERT_NE(info, nullptr) << name;
    std::string data(info->size_bytes, '\0');
    ASSERT_TRUE(model->read(*info, 0, std::as_writable_bytes(std::span(data))).is_ok());
    EXPECT_EQ(data, tensor.data) << name;
  }
}

TEST(ModelFile, RefusesWrongIndexes) {
  const std::string name = "model.layers.0.mlp.gate.weight";
  for (const char* shard :
       {"../x.safetensors", "/etc/x.safetensors", "a/b.safetensors", "..", "a\\b.safetensors",
        ".safetensors", "model.bin", "", ".hidden.safetensors", "c:x.safetensors"}) {
    Shards shards = make_shards();
    shards.weight_map[name] = shard;
    expect_folder_refused(write_shards("escape", shards), {"weight_map", name, "of this folder"},
                          shard);
  }
  Shards shards = make_shards();
  shards.weight_map[name] = 5;
  expect_folder_refused(write_shards("number", shards), {"weight_map", name}, "number");
  shards.weight_map = json::object();
  expect_folder_refused(write_shards("no_entries", shards), {"weight_map", "empty"}, "empty map");
  shards.weight_map = 5;
  expect_folder_refused(write_shards("no_map", shards), {"weight_map"}, "no map");
}

TEST(ModelFile, RefusesShardsThatDoNotFitTheIndex) {
  const std::string name = "model.layers.0.mlp.gate.weight";
  Shards shards = make_shards();
  shards.weight_map[name] = "model-00003-of-00003.safetensors";
  expect_folder_refused(write_shards("no_shard", shards), {"model-00003-of-00003"}, "no shard");
  shards.weight_map[name] = "model-00002-of-00002.safetensors";
  expect_folder_refused(write_shards("other_shard", shards), {name, "does not have it"}, "moved");
  shards = make_shards();
  shards.weight_map["model.absent"] = "model-00001-of-00002.safetensors";
  expect_folder_refused(write_shards("absent", shards), {"model.absent", "does not have it"},
                        "absent");
  shards = make_shards();
  shards.second[name] = shards.first[name];
  expect_folder_refused(write_shards("twice", shards), {name, "two files"}, "in both");
}

TEST(ModelFile, RefusesTruncatedWeights) {
  const std::string bytes = read_file(micro_folder() + "/model.safetensors");
  const std::string folder = folder_with_config(micro_config().dump());
  for (const size_t len :
       {size_t{0}, size_t{7}, size_t{8}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    write_file(folder + "/model.safetensors", std::string_view(bytes).substr(0, len));
    expect_folder_refused(folder, {"model.safetensors", "byte"}, std::to_string(len));
  }
}

}  // namespace
}  // namespace ifr::test
