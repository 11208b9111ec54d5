// SPDX-License-Identifier: Apache-2.0
// Damaged and hostile GGUF headers: cases G01, G03 and G04.
#include "model/gguf_header.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/platform.h"
#include "model/open_bytes.h"

namespace ifr::test {
namespace {

std::string start(uint64_t num_tensors, uint64_t num_keys, uint32_t version = 3) {
  return "GGUF" + little_endian(version) + little_endian(num_tensors) + little_endian(num_keys);
}

std::string key(const std::string& name, uint32_t type, const std::string& payload) {
  return GgufBuilder::text_bytes(name) + little_endian(type) + payload;
}

std::string changed(const std::function<void(GgufBuilder&)>& change) {
  GgufBuilder file = make_gguf_b();
  change(file);
  return file.build();
}

TEST(GgufHeader, ReadsFileB) {
  const std::string bytes = make_gguf_b().build();
  const auto model = open_gguf_bytes(bytes);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const ModelFile& file = **model;
  EXPECT_EQ(file.format(), FileFormat::kGguf);
  EXPECT_EQ(file.tensors().size(), 20U);
  const TensorInfo* embedding = file.find("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->shape, (std::vector<int64_t>{300, 64}));
  EXPECT_EQ(embedding->type, kernels::DataType::kQ8_0);
  EXPECT_EQ(embedding->size_bytes, 300U * 2 * 34);
  EXPECT_EQ(file.find("token_embd"), nullptr);
  EXPECT_EQ(file.num_unused_tensors(), 0U);
  EXPECT_EQ(file.file_bytes(), bytes.size());
  std::vector<std::byte> block(34);
  ASSERT_TRUE(file.read(*embedding, embedding->size_bytes - 34, block).is_ok());
  EXPECT_EQ(block[1], std::byte{0x18});
  const GgufBuilder source = make_gguf_b();
  EXPECT_EQ(std::memcmp(block.data(),
                        source.tensors[0].data.data() + source.tensors[0].data.size() - 34, 34),
            0);
  EXPECT_EQ(file.read(*embedding, embedding->size_bytes - 33, block).code(),
            Code::kInvalidArgument);
}

TEST(GgufHeader, ReadsVersion2) {
  expect_gguf_loads(changed([](GgufBuilder& file) { file.version = 2; }), "version 2");
}

TEST(GgufHeader, RefusesWrongStarts) {  // G01 a-c
  expect_gguf_refused("", {"magic", "byte 0"}, "empty file");
  expect_gguf_refused("GGU", {"magic"}, "3 bytes");
  expect_gguf_refused("GGUF", {"version", "byte 4"}, "magic alone");
  expect_gguf_refused(std::string("GGUF\0\0\0\3", 8) + std::string(16, '\0'),
                      {"big-endian", "byte 4"}, "big-endian v3");
  expect_gguf_refused("FUGG" + std::string(20, '\0'), {"magic", "46 55 47 47"}, "swapped magic");
  for (const uint32_t version : {0U, 1U, 4U}) {
    expect_gguf_refused(start(0, 0, version), {"version " + std::to_string(version), "byte 4"},
                        "version");
  }
}

TEST(GgufHeader, RefusesImpossibleCounts) {  // G01 d-g
  expect_gguf_refused(start(uint64_t{1} << 61, 0),
                      {"tensor count is 2305843009213693952", "byte 8"}, "tensor count");
  expect_gguf_refused(start(0, std::numeric_limits<uint64_t>::max()),
                      {"key count is 18446744073709551615", "byte 16"}, "key count");
  expect_gguf_refused(start(0, 1) + std::string(8, '\xFF'), {"byte 16", "key count is 1"},
                      "32 bytes with a key length of 2^64-1");
  expect_gguf_refused(start(0, 1) + std::string(8, '\xFF') + std::string(64, 'x'),
                      {"byte 24", "key has length 18446744073709551615"}, "key length 2^64-1");
  expect_gguf_refused(start(0, 1) + key("", 4, little_endian(1U)), {"key has length 0", "byte 24"},
                      "key of length 0");
  const auto array = [](uint32_t type, uint64_t count) {
    return start(0, 1) + key("a", 9, little_endian(type) + little_endian(count)) +
           std::string(64, '\0');
  };
  expect_gguf_refused(array(10, uint64_t{1} << 61), {"'a' has 2305843009213693952", "byte 41"},
                      "u64 x 2^61");
  expect_gguf_refused(array(8, uint64_t{1} << 40), {"'a' has 1099511627776 elements", "byte 41"},
                      "strings x 2^40");
}

TEST(GgufHeader, RefusesUnknownValueTypes) {  // G01 i
  const std::string tail(32, '\0');
  expect_gguf_refused(start(0, 1) + key("a", 13, tail), {"value type of 'a' is 13", "byte 33"},
                      "type 13");
  expect_gguf_refused(start(0, 1) + key("a", 9, little_endian(255U) + tail),
                      {"element type of 'a' is 255", "byte 37"}, "element type 255");
  expect_gguf_refused(start(0, 1) + key("a", 7, "\2" + tail), {"bool 'a' is byte 2", "byte 37"},
                      "bool 2");
  expect_gguf_refused(
      start(0, 1) + key("a", 9, little_endian(7U) + little_endian(uint64_t{2}) + "\1\2" + tail),
      {"bool 'a' is byte 2"}, "bool array");
  expect_gguf_refused(start(0, 1) + key("a\xFF", 4, tail), {"UTF-8", "a\\xFF"}, "key not UTF-8");
}

struct StackCase {
  std::string bytes;
  Status status;
};

void* open_on_small_stack(void* argument) {
  auto* stack_case = static_cast<StackCase*>(argument);
  stack_case->status = open_gguf_bytes(stack_case->bytes).status();
  return nullptr;
}

TEST(GgufHeader, RefusesNestedArraysOnASmallStack) {  // G01 h
  StackCase nested;
  nested.bytes = start(0, 1) + key("a", 9, "");
  for (int32_t level = 0; level < 20000; ++level) {
    nested.bytes += little_endian(9U) + little_endian(uint64_t{1});
  }
  nested.bytes += std::string(4, '\0');
  EXPECT_EQ(nested.bytes.size(), 240'041U);
  scratch_folder();  // made on this thread
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{256} << 10), 0);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, open_on_small_stack, &nested), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  expect_refusal(nested.status, {"array of arrays", "byte 37"}, "nested arrays");
}

TEST(GgufHeader, RefusalsAreFastAndSmall) {
  std::vector<std::string> files = {
      start(uint64_t{1} << 61, 0), start(0, std::numeric_limits<uint64_t>::max()),
      start(0, 1) + key("a", 9, little_endian(8U) + little_endian(uint64_t{1} << 40)),
      changed([](GgufBuilder& file) { file.remove_tensor("output_norm.weight"); })};
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  for (const std::string& bytes : files) {
    const uint64_t begin_ns = monotonic_ns();
    EXPECT_FALSE(ModelFile::open_gguf(
                     std::make_unique<MemorySource>("memory", std::as_bytes(std::span(bytes))))
                     .is_ok());
    EXPECT_LT(monotonic_ns() - begin_ns, 100'000'000U);
  }
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10);  // KiB
}

TEST(GgufHeader, RefusesWrongShapes) {  // G03 a, b, d
  const auto with_dims = [](std::vector<uint64_t> dims) {
    return changed([&](GgufBuilder& file) { file.tensor("blk.0.attn_q.weight").dims = dims; });
  };
  expect_gguf_refused(with_dims({4, 0}), {"blk.0.attn_q.weight", "dimension 1", "is 0"}, "[4, 0]");
  expect_gguf_refused(with_dims({4, ~uint64_t{0}}), {"blk.0.attn_q.weight", "18446744073709551615"},
                      "[4, -1]");
  expect_gguf_refused(with_dims({uint64_t{1} << 40, uint64_t{1} << 40}),
                      {"blk.0.attn_q.weight", "1099511627776"}, "product over 2^64");
  expect_gguf_refused(with_dims({48, 64}), {"blk.0.attn_q.weight", "48", "Q8_0", "32"},
                      "Q8_0 with rows of 48");
  const auto with_num_dims = [](uint32_t num_dims) {
    return changed(
        [&](GgufBuilder& file) { file.tensor("blk.0.attn_q.weight").num_dims = num_dims; });
  };
  expect_gguf_refused(with_num_dims(0), {"blk.0.attn_q.weight", "has 0 dimensions"}, "0 dims");
  expect_gguf_refused(with_num_dims(5), {"blk.0.attn_q.weight", "has 5 dimensions"}, "5 dims");
  expect_gguf_refused(with_num_dims(~0U), {"4294967295 dimensions"}, "2^32-1 dims");
  // The shortest such file.
  std::string shortest = start(1, 0) + GgufBuilder::text_bytes("t") + little_endian(2U) +
                         little_endian(uint64_t{4}) + little_endian(uint64_t{0}) +
                         little_endian(0U);
  shortest.resize(65, '\0');
  expect_gguf_refused(shortest, {"tensor 't'", "is 0"}, "65 bytes");
}

TEST(GgufHeader, RefusesTypesItDoesNotRead) {  // G03 c, e
  const auto with_type = [](uint32_t type) {
    return changed([&](GgufBuilder& file) { file.tensor("blk.0.attn_q.weight").type = type; });
  };
  for (const uint32_t type : {4U, 36U, 42U, 255U, ~0U}) {
    expect_gguf_refused(with_type(type),
                        {"blk.0.attn_q.weight", "type " + std::to_string(type), "unknown"},
                        "removed or unknown type");
  }
  expect_gguf_refused(with_type(12), {"blk.0.attn_q.weight", "type 12 (Q4_K)", "Q8_0 and Q4_1 are"},
                      "Q4_K");
  expect_gguf_refused(with_type(2), {"type 2 (Q4_0)"}, "Q4_0");
  // A type that is read, but not for this tensor.
  expect_gguf_refused(changed([](GgufBuilder& file) {
                        GgufTensor& norm = file.tensor("output_norm.weight");
                        norm.type = 8;
                        norm.data = std::string(68, '\0');
                      }),
                      {"output_norm.weight", "Q8_0"}, "block format as norm");
}

TEST(GgufHeader, RefusesRepeatedNames) {  // G03 f
  expect_gguf_refused(changed([](GgufBuilder& file) {
                        file.tensors.push_back(file.tensor("blk.1.attn_k.weight"));
                      }),
                      {"two tensors", "blk.1.attn_k.weight"}, "tensor twice");
  expect_gguf_refused(changed([](GgufBuilder& file) {
                        file.keys.push_back({"llama.block_count", 4, little_endian(3U)});
                      }),
                      {"llama.block_count", "twice"}, "key twice");
}

TEST(GgufHeader, RefusesOverlap) {  // G03 g: decided
  expect_gguf_refused(
      changed([](GgufBuilder& file) { file.tensor("blk.0.attn_q.weight").offset = 32; }),
      {"overlap", "blk.0.attn_q.weight", "token_embd.weight"}, "overlap");
}

TEST(GgufHeader, RefusesMissingAndMisshapenTensors) {  // G03 h
  expect_gguf_refused(changed([](GgufBuilder& file) { file.remove_tensor("blk.1.ffn_up.weight"); }),
                      {"blk.1.ffn_up.weight", "missing", "[128, 64]"}, "missing tensor");
  expect_gguf_refused(changed([](GgufBuilder& file) { file.remove_tensor("token_embd.weight"); }),
                      {"token_embd.weight", "missing"}, "missing embedding");
  expect_gguf_refused(changed([](GgufBuilder& file) {
                        GgufTensor& embedding = file.tensor("token_embd.weight");
                        embedding.dims = {64, 299};
                        embedding.data.resize(size_t{299} * 68);
                      }),
                      {"300", "299", "token_embd.weight"}, "a row too few");
  expect_gguf_refused(changed([](GgufBuilder& file) {
                        file.tensor("blk.0.attn_q.weight").dims = {32, 128};
                      }),
                      {"blk.0.attn_q.weight", "[128, 32]", "[64, 64]"}, "other shape");
}

TEST(GgufHeader, RefusesWrongNames) {  // G03 i
  const auto with_name = [](const std::string& name) {
    return changed([&](GgufBuilder& file) { file.tensor("output_norm.weight").name = name; });
  };
  expect_gguf_refused(with_name(""), {"tensor name has length 0"}, "empty");
  expect_gguf_refused(with_name(std::string(65, 'n')), {"tensor name has length 65"}, "65 bytes");
  expect_gguf_refused(with_name(std::string("a\0b", 3)), {"NUL", "a\\x00b"}, "NUL");
  expect_gguf_refused(with_name("a\xC3("), {"UTF-8", "a\\xC3("}, "invalid UTF-8");
}

TEST(GgufHeader, Opens20000TensorsQuickly) {  // G03 j
  const std::string bytes = changed([](GgufBuilder& file) {
    for (int32_t idx = 0; idx < 20000; ++idx) {
      file.tensors.push_back(
          {"extra." + std::to_string(idx), {8}, 0, std::string(32, '\0'), {}, {}});
    }
  });
  const uint64_t begin_ns = monotonic_ns();
  const auto model = open_gguf_bytes(bytes);
  EXPECT_LT(monotonic_ns() - begin_ns, 1'000'000'000U);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ((*model)->num_unused_tensors(), 20000U);
}

TEST(GgufHeader, ChecksAlignment) {  // G04; 24 decided: refused
  const auto with_alignment = [](uint32_t alignment, uint64_t used) {
    return changed([&](GgufBuilder& file) {
      file.set_u32("general.alignment", alignment);
      file.alignment = used;
    });
  };
  for (const uint32_t alignment : {0U, 1U, 3U, 4U, 24U, 1U << 31, ~0U}) {
    expect_gguf_refused(with_alignment(alignment, 32),
                        {"general.alignment is " + std::to_string(alignment), "byte"}, "alignment");
  }
  for (const uint32_t alignment : {8U, 32U, 64U, 4096U}) {
    const auto model = open_gguf_bytes(with_alignment(alignment, alignment));
    ASSERT_TRUE(model.is_ok()) << alignment << ": " << model.status().message();
    const GgufBuilder source = make_gguf_b();
    for (const GgufTensor& tensor : source.tensors) {
      const TensorInfo* info = (*model)->find(tensor.name);
      std::string data(tensor.data.size(), '\0');
      ASSERT_TRUE((*model)->read(*info, 0, std::as_writable_bytes(std::span(data))).is_ok());
      EXPECT_EQ(data, tensor.data) << tensor.name << " at alignment " << alignment;
    }
  }
  const std::string shortest = start(0, 1) + key("general.alignment", 4, little_endian(0U));
  EXPECT_EQ(shortest.size(), 57U);
  expect_gguf_refused(shortest, {"general.alignment is 0"}, "57 bytes");
}

TEST(GgufHeader, ChecksAlignmentType) {  // G04
  using Change = std::function<void(GgufBuilder&)>;
  const std::string name = "general.alignment";
  for (const Change& change :
       {Change([&](GgufBuilder& file) { file.set_i32(name, 32); }),
        Change([&](GgufBuilder& file) { file.set_u64(name, 32); }),
        Change([&](GgufBuilder& file) { file.set_text(name, "32"); }),
        Change([&](GgufBuilder& file) { file.set_array<uint32_t>(name, 4, {32}); })}) {
    expect_gguf_refused(changed(change), {"general.alignment is of type", "u32 is needed"}, "type");
  }
}

TEST(GgufHeader, RefusesACutBeforeTheData) {  // G04
  GgufBuilder file = make_gguf_b();
  file.set_u32("general.alignment", 4096);
  file.alignment = 4096;
  uint64_t data_offset = 0;
  const std::string bytes = file.build(&data_offset);
  expect_gguf_refused(std::string_view(bytes).substr(0, data_offset - 100),
                      {"token_embd.weight", "past the end"}, "cut in the padding");
}

}  // namespace
}  // namespace ifr::test
