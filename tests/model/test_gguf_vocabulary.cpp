// SPDX-License-Identifier: Apache-2.0
// The vocabulary in a GGUF file: case G07, as far as reading goes.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/open_bytes.h"

namespace ifr::test {
namespace {

using Change = std::function<void(GgufBuilder&)>;

std::string changed_s(const Change& change) {
  GgufBuilder file = make_gguf_s();
  change(file);
  return file.build();
}

std::string changed_b(const Change& change) {
  GgufBuilder file = make_gguf_b();
  change(file);
  return file.build();
}

// S's texts with one of them changed.
Change with_token(size_t id, const std::string& text) {
  return [=](GgufBuilder& file) {
    const auto original = open_gguf_bytes(make_gguf_s().build());
    std::vector<std::string> tokens = (*original)->tokenizer()->tokens;
    tokens[id] = text;
    file.set_texts("tokenizer.ggml.tokens", tokens);
  };
}

TEST(GgufVocabulary, ReadsFileB) {
  const auto model = open_gguf_bytes(make_gguf_b().build());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  ASSERT_TRUE((*model)->tokenizer().has_value());
  const TokenizerData& data = *(*model)->tokenizer();
  EXPECT_EQ(data.model, "gpt2");
  EXPECT_EQ(data.pre, "smollm");
  EXPECT_EQ(data.num_tokens(), 300);
  EXPECT_EQ(data.tokens[1], "<|im_start|>");
  EXPECT_EQ(data.types[1], TokenType::kControl);
  EXPECT_EQ(data.types[3], TokenType::kNormal);
  EXPECT_EQ(data.types.size(), 300U);
  EXPECT_TRUE(data.scores.empty());
  EXPECT_EQ(data.merges[0], "t h");
  EXPECT_EQ(data.bos_id, 1);
  EXPECT_EQ(data.eos_id, 2);
  EXPECT_EQ(data.unk_id, 0);
  EXPECT_EQ(data.pad_id, 2);
  EXPECT_FALSE(data.eot_id.has_value());
  EXPECT_FALSE(data.add_bos);
  EXPECT_FALSE(data.add_space_prefix);
  EXPECT_NE(data.chat_template.find("<|im_start|>"), std::string::npos);
}

TEST(GgufVocabulary, ReadsFileS) {
  const auto model = open_gguf_bytes(make_gguf_s().build());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const TokenizerData& data = *(*model)->tokenizer();
  EXPECT_EQ(data.model, "llama");
  EXPECT_EQ(data.scores.size(), 300U);
  EXPECT_EQ(data.types[3], TokenType::kByte);
  EXPECT_TRUE(data.add_bos);
  EXPECT_TRUE(data.add_space_prefix);
  EXPECT_TRUE(data.merges.empty());
}

TEST(GgufVocabulary, IsOptional) {
  const auto model =
      open_gguf_bytes(changed_b([](GgufBuilder& file) { file.remove("tokenizer.ggml.tokens"); }));
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_FALSE((*model)->tokenizer().has_value());
}

TEST(GgufVocabulary, RefusesWrongArrays) {
  const std::string scores = "tokenizer.ggml.scores";
  const std::string types = "tokenizer.ggml.token_type";
  expect_gguf_refused(changed_s([&](GgufBuilder& file) {
                        file.set_array(scores, 0, std::vector<uint8_t>(300, 1));
                      }),
                      {scores, "u8", "f32"}, "scores as u8");
  expect_gguf_refused(
      changed_s([&](GgufBuilder& file) { file.set_array(types, 0, std::vector<uint8_t>(300, 1)); }),
      {types, "u8", "i32"}, "types as u8");
  expect_gguf_refused(changed_s([&](GgufBuilder& file) {
                        file.set_array(scores, 6, std::vector<float>(299, 1.0F));
                      }),
                      {scores, "299", "300"}, "a score too few");
  expect_gguf_refused(
      changed_s([&](GgufBuilder& file) { file.set_array(types, 5, std::vector<int32_t>(301, 1)); }),
      {types, "301", "300"}, "a type too many");
  expect_gguf_refused(
      changed_s([&](GgufBuilder& file) { file.set_array(types, 5, std::vector<int32_t>(300, 7)); }),
      {types, "7"}, "type 7");
  expect_gguf_refused(changed_s([&](GgufBuilder& file) {
                        file.set_array(types, 5, std::vector<int32_t>(300, -1));
                      }),
                      {types, "-1"}, "type -1");
  expect_gguf_refused(
      changed_s([&](GgufBuilder& file) {
        file.set_array(scores, 6, std::vector<float>(300, std::numeric_limits<float>::quiet_NaN()));
      }),
      {scores, "finite"}, "NaN scores");
  expect_gguf_refused(changed_s([&](GgufBuilder& file) { file.set_text(scores, "1"); }),
                      {scores, "string"}, "scores as text");
  expect_gguf_refused(
      changed_s([](GgufBuilder& file) { file.set_texts("tokenizer.ggml.tokens", {}); }),
      {"tokenizer.ggml.tokens", "empty"}, "no tokens");
}

TEST(GgufVocabulary, RefusesIdsOutside) {
  for (const char* name : {"bos", "eos", "eot", "unknown", "padding"}) {
    const std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
    for (const uint32_t id : {300U, ~0U}) {
      expect_gguf_refused(changed_s([&](GgufBuilder& file) { file.set_u32(key, id); }),
                          {key, std::to_string(id), "300"}, key);
    }
  }
}

TEST(GgufVocabulary, RefusesWrongByteTokens) {
  for (const char* text : {"<0x-1>", "<0xZZ>", "<0x1>", "<0x100>", "a", ""}) {
    expect_gguf_refused(changed_s(with_token(10, text)), {"token 10", "byte"}, text);
  }
}

TEST(GgufVocabulary, TakesRepeatedAndEmptyTexts) {  // decided; see TokenizerData
  expect_gguf_loads(changed_s(with_token(299, "a")), "\"a\" twice");
  expect_gguf_loads(changed_s(with_token(299, "")), "an empty text");
}

TEST(GgufVocabulary, RefusesTextsThatAreNotUtf8) {
  expect_gguf_refused(changed_s(with_token(299, "a\xFF")), {"entry 299", "UTF-8"}, "token");
  expect_gguf_refused(
      changed_b([](GgufBuilder& file) { file.set_text("tokenizer.chat_template", "\xC3("); }),
      {"chat_template", "UTF-8"}, "template");
}

TEST(GgufVocabulary, RefusesWrongMerges) {
  for (const char* merge : {"th", "t  h", " th", "th ", "t h e"}) {
    expect_gguf_refused(
        changed_b([&](GgufBuilder& file) { file.set_texts("tokenizer.ggml.merges", {merge}); }),
        {"tokenizer.ggml.merges", "entry 0", "one space"}, merge);
  }
  for (const char* merge : {"t zz", "zz t", "z q"}) {
    expect_gguf_refused(
        changed_b([&](GgufBuilder& file) { file.set_texts("tokenizer.ggml.merges", {merge}); }),
        {"tokenizer.ggml.merges", "entry 0", "no token"}, merge);
  }
}

TEST(GgufVocabulary, MayBeSmallerThanTheEmbedding) {
  LlamaFileOptions options;
  options.embedding_rows = 298;
  expect_gguf_refused(make_gguf_b(options).build(), {"tokenizer.ggml.tokens", "300", "298"},
                      "298 rows");
  options.embedding_rows = 320;
  const auto model = open_gguf_bytes(make_gguf_b(options).build());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ((*model)->config().vocab_size(), 320);
  EXPECT_EQ((*model)->tokenizer()->num_tokens(), 300);
}

}  // namespace
}  // namespace ifr::test
