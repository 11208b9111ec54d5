// SPDX-License-Identifier: Apache-2.0
// The configuration in a GGUF file: case G06, and features that are refused.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/open_bytes.h"

namespace ifr::test {
namespace {

using Change = std::function<void(GgufBuilder&)>;

std::string changed(const Change& change) {
  GgufBuilder file = make_gguf_b();
  change(file);
  return file.build();
}

void expect_u32_refused(const std::string& key, uint32_t value) {
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_u32(key, value); }),
                      {key, std::to_string(value)}, key + " = " + std::to_string(value));
}

void expect_f32_refused(const std::string& key, float value, const char* shown) {
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_f32(key, value); }),
                      {key, shown, "byte"}, key);
}

TEST(GgufConfig, ReadsFileB) {
  const auto model = open_gguf_bytes(make_gguf_b().build());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const ModelConfig& config = (*model)->config();
  EXPECT_STREQ(config.arch_name(), "llama");
  EXPECT_EQ(config.name, "B");
  const LlamaConfig* llama = config.llama();
  ASSERT_NE(llama, nullptr);
  EXPECT_EQ(llama->vocab_size, 300);
  EXPECT_EQ(llama->context_length, 256);
  EXPECT_EQ(llama->hidden_size, 64);
  EXPECT_EQ(llama->num_layers, 2);
  EXPECT_EQ(llama->num_heads, 4);
  EXPECT_EQ(llama->num_kv_heads, 2);
  EXPECT_EQ(llama->head_dim, 16);
  EXPECT_EQ(llama->rotary_dim, 16);
  EXPECT_EQ(llama->intermediate_size, 128);
  EXPECT_EQ(llama->rope_theta, 10000.0);
  EXPECT_EQ(llama->rms_norm_eps, 1e-5F);
  EXPECT_TRUE(llama->tie_word_embeddings);
}

TEST(GgufConfig, ReadsOtherHeadSizes) {  // G06: 32, not 64 / 4
  LlamaFileOptions options;
  options.head_dim = 32;
  options.write_key_length = true;
  options.tied = false;
  GgufBuilder file = make_gguf_b(options);
  for (const bool with_value_length : {true, false}) {
    if (!with_value_length) {
      file.remove("llama.attention.value_length");
    }
    const auto model = open_gguf_bytes(file.build());
    ASSERT_TRUE(model.is_ok()) << model.status().message();
    EXPECT_EQ((*model)->config().llama()->head_dim, 32);
    EXPECT_FALSE((*model)->config().llama()->tie_word_embeddings);
  }
}

TEST(GgufConfig, TakesDefaults) {
  const auto model = open_gguf_bytes(changed([](GgufBuilder& file) {
    file.remove("llama.rope.dimension_count");
    file.remove("llama.rope.freq_base");
    file.remove("general.name");
    file.set_u64("llama.block_count", 2);
    file.set_f64("llama.attention.layer_norm_rms_epsilon", 1e-6);
  }));
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ((*model)->config().llama()->rotary_dim, 16);
  EXPECT_EQ((*model)->config().llama()->rope_theta, 10000.0);
  EXPECT_EQ((*model)->config().llama()->rms_norm_eps, 1e-6F);
}

TEST(GgufConfig, RefusesCounts) {
  for (const uint32_t value : {0U, 7U}) {
    expect_u32_refused("llama.attention.head_count", value);
  }
  for (const uint32_t value : {0U, 3U, 8U}) {
    expect_u32_refused("llama.attention.head_count_kv", value);
  }
  for (const uint32_t value : {0U, 513U, ~0U}) {
    expect_u32_refused("llama.block_count", value);
  }
  for (const uint32_t value : {0U, ~0U}) {  // 2^32-1 could load; positions are 32-bit here
    expect_u32_refused("llama.context_length", value);
  }
  expect_u32_refused("llama.embedding_length", 0);
  expect_u32_refused("llama.feed_forward_length", 0);
  for (const uint32_t value : {0U, 15U, 128U}) {
    expect_u32_refused("llama.rope.dimension_count", value);
  }
  expect_u32_refused("llama.attention.key_length", 0);
  expect_u32_refused("llama.attention.value_length", 8);
  expect_u32_refused("llama.vocab_size", 301);
  expect_u32_refused("llama.vocab_size", 299);
}

TEST(GgufConfig, RefusesReals) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string eps = "llama.attention.layer_norm_rms_epsilon";
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.remove(eps); }), {eps, "missing"}, eps);
  expect_f32_refused(eps, 0.0F, "is 0;");
  expect_f32_refused(eps, -1.0F, "is -1;");
  expect_f32_refused(eps, nan, "nan");
  expect_f32_refused(eps, std::numeric_limits<float>::infinity(), "inf");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_f64(eps, 1e-300); }), {eps},
                      "an eps that is 0 as float");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_u32(eps, 1); }), {eps, "u32"},
                      "an integer eps");
  expect_f32_refused("llama.rope.freq_base", 0.0F, "is 0;");
  expect_f32_refused("llama.rope.freq_base", nan, "nan");
}

TEST(GgufConfig, RefusesExperts) {
  const auto experts = [](uint32_t count, uint32_t used) {
    return changed([&](GgufBuilder& file) {
      file.set_u32("llama.expert_count", count);
      file.set_u32("llama.expert_used_count", used);
    });
  };
  expect_gguf_refused(experts(8, 9), {"llama.expert_used_count", "9", "8"}, "9 of 8");
  expect_gguf_refused(experts(8, 0), {"llama.expert_used_count", "0", "8"}, "0 of 8");
  expect_gguf_refused(experts(8, 2), {"llama.expert_count", "8", "not supported"}, "2 of 8");
  expect_gguf_loads(experts(0, 0), "no experts, said so");
}

TEST(GgufConfig, RefusesMistypedKeys) {
  const std::string key = "llama.block_count";
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_text(key, "2"); }),
                      {key, "string", "integer"}, "text");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_f64(key, 2.5); }), {key, "f64"},
                      "f64");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_array<uint32_t>(key, 4, {2}); }),
                      {key, "array"}, "array");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_i32(key, -2); }), {key, "-2"},
                      "negative");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_u64(key, ~uint64_t{0}); }),
                      {key, "18446744073709551615"}, "2^64-1");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.remove(key); }), {key, "missing"},
                      "missing");
}

TEST(GgufConfig, RefusesArchitectures) {
  const std::string key = "general.architecture";
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.remove(key); }), {key, "missing"},
                      "missing");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_text(key, "llamaa"); }),
                      {key, "'llamaa'", "'llama'"}, "another");
  expect_gguf_refused(
      changed([&](GgufBuilder& file) { file.set_text(key, std::string(10 << 20, 'l')); }),
      {key, "10485760"}, "10 MB");
  expect_gguf_refused(changed([&](GgufBuilder& file) { file.set_u32(key, 1); }), {key, "u32"},
                      "a number");
}

TEST(GgufConfig, RefusesFeaturesByName) {
  const std::vector<std::pair<std::string, Change>> features = {
      {"llama.rope.scaling.type",
       [](GgufBuilder& file) { file.set_text("llama.rope.scaling.type", "yarn"); }},
      {"llama.rope.scaling.factor",
       [](GgufBuilder& file) { file.set_f32("llama.rope.scaling.factor", 4.0F); }},
      {"llama.rope.scale_linear",
       [](GgufBuilder& file) { file.set_f32("llama.rope.scale_linear", 2.0F); }},
      {"llama.attention.kv_lora_rank",
       [](GgufBuilder& file) { file.set_u32("llama.attention.kv_lora_rank", 512); }},
      {"llama.attention.sliding_window",
       [](GgufBuilder& file) { file.set_u32("llama.attention.sliding_window", 128); }},
      {"llama.logit_scale", [](GgufBuilder& file) { file.set_f32("llama.logit_scale", 0.5F); }},
      {"split.count", [](GgufBuilder& file) { file.set_u32("split.count", 2); }},
      {"blk.0.attn_q.bias",
       [](GgufBuilder& file) {
         file.tensors.push_back({"blk.0.attn_q.bias", {64}, 0, std::string(256, '\0'), {}, {}});
       }},
      {"rope_freqs.weight", [](GgufBuilder& file) {
         file.tensors.push_back({"rope_freqs.weight", {8}, 0, std::string(32, '\0'), {}, {}});
       }}};
  for (const auto& [name, change] : features) {
    const Status status = open_gguf_bytes(changed(change)).status();
    expect_refusal(status, {name}, name);
    EXPECT_EQ(status.code(), Code::kUnsupported) << name;
  }
  expect_gguf_loads(changed([](GgufBuilder& file) {
                      file.set_text("llama.rope.scaling.type", "none");
                      file.set_f32("llama.rope.scaling.factor", 1.0F);
                      file.set_f32("llama.logit_scale", 1.0F);
                      file.set_u32("split.count", 0);
                    }),
                    "neutral values");
}

}  // namespace
}  // namespace ifr::test
