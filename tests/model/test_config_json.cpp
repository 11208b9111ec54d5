// SPDX-License-Identifier: Apache-2.0
// config.json: case G06 for Hugging Face folders.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "model/huggingface_files.h"

namespace ifr::test {
namespace {

using nlohmann::json;

json geometry_config() {  // the keys of a real model's shape, without any optional one
  return json::parse(R"({"model_type": "qwen4_exp_text", "vocab_size": 512, "hidden_size": 128,
    "num_hidden_layers": 8, "num_attention_heads": 24, "num_key_value_heads": 2, "head_dim": 256,
    "rms_norm_eps": 1e-6, "num_experts": 20, "num_experts_per_tok": 10,
    "moe_intermediate_size": 80, "shared_expert_intermediate_size": 80,
    "indexer_n_heads": 4, "indexer_head_dim": 256, "indexer_budget": 512,
    "indexer_compress_ratio": 4})");
}

Expected<ModelConfig> parse(const json& config) {
  return parse_config_json(config.dump(), "config.json");
}

void expect_config_refused(const json& config, std::initializer_list<std::string_view> parts,
                           const std::string& what) {
  expect_refusal(parse(config).status(), parts, what);
}

void expect_value_refused(const std::string& key, const json& value) {
  json config = micro_config();
  config[key] = value;
  const std::string shown = value.is_string()                          ? value.get<std::string>()
                            : value.is_structured() || value.is_null() ? ""
                                                                       : value.dump();
  expect_config_refused(config, {key, shown, "config.json"}, key + " = " + shown);
}

TEST(ConfigJson, ReadsMicro) {
  const auto model = parse(micro_config());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_STREQ(model->arch_name(), "qwen4_exp");
  EXPECT_EQ(model->vocab_size(), 256);
  EXPECT_EQ(model->context_length(), 4096);
  const Qwen4ExpConfig& config = *model->qwen4_exp();
  EXPECT_EQ(config.hidden_size, 64);
  EXPECT_EQ(config.num_layers, 4);
  ASSERT_EQ(config.layer_kinds.size(), 4U);
  EXPECT_EQ(config.layer_kinds[2], LayerKind::kLinearAttention);
  EXPECT_EQ(config.layer_kinds[3], LayerKind::kSparseAttention);
  EXPECT_EQ(config.rms_norm_eps, 1e-6F);
  EXPECT_FALSE(config.tie_word_embeddings);
  EXPECT_EQ(config.bos_token_id, 1);
  EXPECT_EQ(config.eos_token_ids, (std::vector<int32_t>{2}));
  EXPECT_EQ(config.hc_count, 4);
  EXPECT_EQ(config.hc_lowrank, 16);
  EXPECT_EQ(config.num_heads, 4);
  EXPECT_EQ(config.num_kv_heads, 2);
  EXPECT_EQ(config.head_dim, 32);
  EXPECT_EQ(config.rotary_dim, 16);
  EXPECT_EQ(config.rope_theta, 10000.0);
  EXPECT_EQ(config.indexer_num_heads, 4);
  EXPECT_EQ(config.indexer_head_dim, 16);
  EXPECT_EQ(config.indexer_budget, 32);
  EXPECT_EQ(config.indexer_compress_ratio, 4);
  EXPECT_EQ(config.linear_num_key_heads, 2);
  EXPECT_EQ(config.linear_num_value_heads, 4);
  EXPECT_EQ(config.linear_conv_channels(), 128);
  EXPECT_EQ(config.output_gate, GateActivation::kSilu);  // null: hidden_act
  EXPECT_EQ(config.num_experts, 8);
  EXPECT_EQ(config.num_experts_per_token, 2);
  EXPECT_TRUE(config.normalize_expert_weights);
  EXPECT_EQ(config.ple.layers, (std::vector<int32_t>{0}));
  EXPECT_EQ(config.ple.num_heads(), 16);
  EXPECT_EQ(config.ple.head_channels(), 4);
  EXPECT_EQ(config.ple.split_parts, 8);
  EXPECT_EQ(config.ple.seed, 1234U);
  EXPECT_EQ(config.ple_index_of_layer(0), 0);
  EXPECT_EQ(config.ple_index_of_layer(1), -1);
}

TEST(ConfigJson, TakesDefaults) {
  const auto model = parse(geometry_config());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const Qwen4ExpConfig& config = *model->qwen4_exp();
  EXPECT_EQ(config.context_length, 32768);
  EXPECT_EQ(config.hc_count, 4);
  EXPECT_EQ(config.hc_lowrank, 320);
  EXPECT_EQ(config.rope_theta, 10000.0);
  EXPECT_EQ(config.rotary_dim, 256);
  EXPECT_EQ(config.linear_num_value_heads, 32);
  EXPECT_EQ(config.linear_conv_kernel, 4);
  EXPECT_EQ(config.output_gate, GateActivation::kSilu);
  EXPECT_TRUE(config.normalize_expert_weights);
  EXPECT_FALSE(config.tie_word_embeddings);
  EXPECT_TRUE(config.ple.layers.empty());
  EXPECT_EQ(config.ple.seed, 1234U);
  EXPECT_TRUE(config.eos_token_ids.empty());
  for (size_t layer = 0; layer < 8; ++layer) {
    EXPECT_EQ(config.layer_kinds[layer],
              layer % 4 == 3 ? LayerKind::kSparseAttention : LayerKind::kLinearAttention);
  }
}

TEST(ConfigJson, ReadsVariations) {
  json config = micro_config();
  config["layer_types"] = {"full_attention", "linear_attention", "qwen_sparse_attention",
                           "linear_attention"};
  config["output_gate_type"] = "sigmoid";
  config["eos_token_id"] = {5, 2};
  config["tie_word_embeddings"] = true;
  config["ple_layer_ids"] = {4, 2, 2};
  config["seed"] = 77;
  const auto model = parse(config);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const Qwen4ExpConfig& read = *model->qwen4_exp();
  EXPECT_EQ(read.layer_kinds[0], LayerKind::kSparseAttention);
  EXPECT_EQ(read.layer_kinds[2], LayerKind::kSparseAttention);
  EXPECT_EQ(read.output_gate, GateActivation::kSigmoid);
  EXPECT_EQ(read.eos_token_ids, (std::vector<int32_t>{5, 2}));
  EXPECT_TRUE(read.tie_word_embeddings);
  EXPECT_EQ(read.ple.layers, (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(read.ple.seed, 77U);
}

TEST(ConfigJson, ReadsOlderRopeKeys) {
  json config = micro_config();
  config.erase("rope_parameters");
  config["rope_theta"] = 1e7;
  config["partial_rotary_factor"] = 0.25;
  const auto model = parse(config);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(model->qwen4_exp()->rope_theta, 1e7);
  EXPECT_EQ(model->qwen4_exp()->rotary_dim, 8);
}

TEST(ConfigJson, ReadsNestedTextModel) {
  json inner = micro_config();
  inner.erase("eos_token_id");
  const json outer = {{"model_type", "qwen4_exp"},
                      {"text_config", inner},
                      {"vision_config", {{"depth", 27}}},
                      {"eos_token_id", 9},
                      {"tie_word_embeddings", true}};
  const auto model = parse(outer);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(model->qwen4_exp()->hidden_size, 64);
  EXPECT_EQ(model->qwen4_exp()->eos_token_ids, (std::vector<int32_t>{9}));
  EXPECT_TRUE(model->qwen4_exp()->tie_word_embeddings);
  json broken = outer;
  broken["text_config"]["hidden_size"] = 0;
  expect_config_refused(broken, {"text_config.hidden_size is 0"}, "inner key");
  broken["text_config"] = 5;
  expect_config_refused(broken, {"text_config"}, "no object");
}

TEST(ConfigJson, RefusesOtherModels) {
  json config = micro_config();
  config["model_type"] = "llama";
  expect_config_refused(config, {"model_type", "'llama'", "qwen4_exp_text"}, "llama");
  config.erase("model_type");
  expect_config_refused(config, {"model_type", "missing"}, "none");
  config["model_type"] = 5;
  expect_config_refused(config, {"model_type", "5", "string"}, "a number");
}

TEST(ConfigJson, RefusesCounts) {
  for (const char* key : {"vocab_size",
                          "hidden_size",
                          "num_hidden_layers",
                          "num_attention_heads",
                          "num_key_value_heads",
                          "head_dim",
                          "max_position_embeddings",
                          "hc_count",
                          "hc_lowrank",
                          "indexer_n_heads",
                          "indexer_kv_heads",
                          "indexer_head_dim",
                          "indexer_budget",
                          "indexer_compress_ratio",
                          "linear_num_key_heads",
                          "linear_num_value_heads",
                          "linear_key_head_dim",
                          "linear_value_head_dim",
                          "linear_conv_kernel_dim",
                          "num_experts",
                          "num_experts_per_tok",
                          "moe_intermediate_size",
                          "shared_expert_intermediate_size",
                          "ple_embed_dim",
                          "ple_conv_kernel_size",
                          "ngram_size",
                          "heads_per_ngram",
                          "ngram_vocab_size_base",
                          "make_ngram_vocab_size_divisible_by",
                          "split_ngram_parts"}) {
    for (const json& value : {json(0), json(-1), json(4294967295U), json(~uint64_t{0}), json(2.5),
                              json("2"), json(true), json::array({2}), json::object()}) {
      expect_value_refused(key, value);
    }
  }
  expect_value_refused("num_hidden_layers", 513);
  expect_value_refused("hc_count", 1);
  expect_value_refused("ngram_size", 1);
  expect_value_refused("seed", 1.5);
}

TEST(ConfigJson, RefusesContradictions) {
  expect_value_refused("num_key_value_heads", 3);  // of 4
  expect_value_refused("num_key_value_heads", 8);
  expect_value_refused("num_experts_per_tok", 9);     // of 8
  expect_value_refused("linear_num_value_heads", 3);  // 2 key heads
  expect_value_refused("indexer_budget", 30);         // ratio 4
  expect_value_refused("indexer_head_dim", 8);        // 16 rotary channels
  expect_value_refused("indexer_kv_heads", 2);
  expect_value_refused("ple_embed_dim", 60);  // 16 n-gram heads
  expect_value_refused("ple_layer_ids", json::array({0}));
  expect_value_refused("ple_layer_ids", json::array({5}));
  expect_value_refused("ple_layer_ids", "1");
  expect_value_refused("eos_token_id", 256);
  expect_value_refused("eos_token_id", -1);
  expect_value_refused("eos_token_id", json::array({2, 256}));
  expect_value_refused("eos_token_id", nullptr);  // n-grams need it
  expect_value_refused("bos_token_id", 256);
  expect_value_refused("layer_types", json::array({"linear_attention"}));
  expect_value_refused("layer_types", json::array({"a", "b", "c", "d"}));
  expect_value_refused("layer_types", json::array({1, 2, 3, 4}));
  expect_value_refused("hidden_act", "gelu");
  expect_value_refused("output_gate_type", "tanh");
  expect_value_refused("attention_bias", true);
  expect_value_refused("norm_topk_prob", 1);
  json many = micro_config();
  many["heads_per_ngram"] = 256;
  many["ngram_size"] = 16;
  many["ple_embed_dim"] = 3840;
  many["ple_layer_ids"] = {1, 2};
  expect_config_refused(many, {"heads_per_ngram", "7680"}, "too many n-gram heads");
}

TEST(ConfigJson, RefusesReals) {
  for (const json& value : {json(0), json(-1), json(0.0), json(1e-300), json("1e-6"), json(2.0)}) {
    expect_value_refused("rms_norm_eps", value);
  }
  json config = micro_config();
  config.erase("rms_norm_eps");
  expect_config_refused(config, {"rms_norm_eps", "missing"}, "no eps");
  std::string text = micro_config().dump();
  const std::string eps = R"("rms_norm_eps":)";
  for (const char* number : {"NaN", "Infinity", "1e999"}) {
    std::string changed = text;
    const size_t at = changed.find(eps) + eps.size();
    changed.replace(at, changed.find(',', at) - at, number);
    expect_refusal(parse_config_json(changed, "config.json").status(), {"not valid JSON"}, number);
  }
  for (const json& theta : {json(0), json(-5.0), json("x")}) {
    config = micro_config();
    config["rope_parameters"]["rope_theta"] = theta;
    expect_config_refused(config, {"rope_parameters.rope_theta", theta.dump()}, "theta");
  }
  for (const json& factor : {json(0), json(1.5), json(0.01), json(0.1)}) {  // 0.1 x 32: odd
    config = micro_config();
    config["rope_parameters"]["partial_rotary_factor"] = factor;
    expect_config_refused(config, {"rope_parameters.partial_rotary_factor"}, "factor");
  }
  config = micro_config();
  config["rope_parameters"]["rope_type"] = "yarn";
  expect_config_refused(config, {"rope_type", "'yarn'"}, "rope type");
  expect_value_refused("rope_parameters", 5);
}

TEST(ConfigJson, RequiresSizes) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "indexer_n_heads",
                          "indexer_head_dim", "indexer_budget", "indexer_compress_ratio"}) {
    json config = micro_config();
    config.erase(key);
    expect_config_refused(config, {key, "missing"}, key);
  }
  json config = micro_config();  // the indexer only where something is sparse
  config["layer_types"] = std::vector<std::string>(4, "linear_attention");
  for (const char* key : {"indexer_n_heads", "indexer_head_dim", "indexer_budget"}) {
    config.erase(key);
  }
  EXPECT_TRUE(parse(config).is_ok()) << parse(config).status().message();
}

TEST(ConfigJson, RefusesWrongText) {
  const auto refuse = [](const std::string& text, std::initializer_list<std::string_view> parts) {
    expect_refusal(parse_config_json(text, "config.json").status(), parts, text.substr(0, 40));
  };
  refuse("", {"config.json", "not valid JSON"});
  refuse("[]", {"object is needed"});
  refuse(R"({"a": {"b": 1, "b": 2}})", {"'b'", "twice"});
  refuse(R"({"a": {"b": 1}, "c": {"b": 1}, "a": 2})", {"'a'", "twice"});
  refuse(std::string(200'000, '['), {"nested deeper"});
  std::string deep;
  for (int32_t level = 0; level < 100'000; ++level) {
    deep += "{\"a\":";
  }
  refuse(deep, {"nested deeper"});
  refuse("{\"a\": \"\xFF\"}", {"not valid JSON"});
}

TEST(ConfigJson, RefusesEveryTruncation) {
  const std::string text = micro_config().dump();
  for (size_t len = 0; len < text.size(); ++len) {
    const auto config = parse_config_json(text.substr(0, len), "config.json");
    ASSERT_FALSE(config.is_ok()) << len;
  }
}

}  // namespace
}  // namespace ifr::test
