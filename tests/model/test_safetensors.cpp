// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "model/open_bytes.h"
#include "model/safetensors_header.h"
#include "support/safetensors_builder.h"

namespace ifr::test {
namespace {

Expected<SafetensorsHeader> read_header(std::string_view bytes) {
  const MemorySource source("memory", std::as_bytes(std::span(bytes.data(), bytes.size())));
  return read_safetensors_header(source, 3);
}

std::string small_file() {
  SafetensorsBuilder file;
  file.add("a.weight", "F32", {2, 3}, std::string(24, 'a'));
  file.add("b", "BF16", {4}, std::string(8, 'b'));
  file.add("scalar", "I64", {}, std::string(8, 'c'));
  file.add("none", "F16", {0, 5}, "");
  return file.build();
}

void expect_header_refused(std::string_view header, std::initializer_list<std::string_view> parts,
                           std::string_view data = std::string_view("0123456789abcdef")) {
  expect_refusal(read_header(SafetensorsBuilder::assemble(header, data)).status(), parts,
                 std::string(header));
}

TEST(Safetensors, ReadsASmallFile) {
  const auto header = read_header(small_file());
  ASSERT_TRUE(header.is_ok()) << header.status().message();
  ASSERT_EQ(header->tensors.size(), 4U);
  const TensorInfo& first = header->tensors[0];
  EXPECT_EQ(first.name, "a.weight");
  EXPECT_EQ(first.type, kernels::DataType::kF32);
  EXPECT_EQ(first.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(first.size_bytes, 24U);
  EXPECT_EQ(first.offset, header->header_bytes);
  EXPECT_EQ(first.file_idx, 3U);
  EXPECT_EQ(header->tensors[1].offset, header->header_bytes + 24);
  EXPECT_EQ(header->tensors[2].num_elements(), 1);
  EXPECT_EQ(header->tensors[3].num_elements(), 0);
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string bytes = small_file();
  for (size_t len = 0; len < bytes.size(); ++len) {
    const auto header = read_header(std::string_view(bytes).substr(0, len));
    ASSERT_FALSE(header.is_ok()) << len;
    ASSERT_EQ(header.status().code(), Code::kInvalidFile) << header.status().message();
  }
}

TEST(Safetensors, RefusesWrongLengths) {
  const std::string header = "{}";
  for (const uint64_t len : {uint64_t{0}, uint64_t{1}, uint64_t{11}, uint64_t{100'000'001},
                             uint64_t{1} << 62, ~uint64_t{0}}) {
    expect_refusal(read_header(little_endian(len) + "{}12345678").status(),
                   {"header length", std::to_string(len), "byte 0"}, "length");
  }
  EXPECT_TRUE(read_header(little_endian(uint64_t{2}) + header).is_ok());
}

TEST(Safetensors, RefusesWhatIsNoHeader) {
  expect_header_refused("{\"a\":", {"not valid JSON"});
  expect_header_refused("{} x", {"not valid JSON"});
  expect_header_refused("[]", {"array"});
  expect_header_refused("12", {"number"});
  expect_header_refused("null", {"null"});
  expect_header_refused("{\"a\xFF\":1}", {"not valid JSON"});
  expect_header_refused("{\"a\":1e999}", {"not valid JSON"});
  expect_header_refused(R"({"a":5})", {"tensor 'a'", "number"});
  expect_header_refused(R"({"a":"x"})", {"tensor 'a'", "string"});
  expect_header_refused(R"({"a":[1]})", {"tensor 'a'", "array"});
  expect_header_refused(R"({"a":null})", {"tensor 'a'", "null"});
  expect_header_refused(R"({"__metadata__":{"a":{}}})", {"__metadata__", "object"});
  expect_header_refused(R"({"__metadata__":{"a":1}})", {"__metadata__", "number"});
}

TEST(Safetensors, RefusesIncompleteAndUnknownEntries) {
  expect_header_refused(R"({"a":{}})", {"tensor 'a'", "dtype, shape"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[1]}})", {"tensor 'a'", "data_offsets"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})",
                        {"tensor 'a'", "two data_offsets"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})",
                        {"tensor 'a'", "number too many"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":[]}})",
                        {"tensor 'a'", "unknown key 'x'"});
  expect_header_refused(R"({"a":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}})",
                        {"tensor 'a'", "'dtype' twice"});
  expect_header_refused(R"({"a":{"dtype":5,"shape":[1],"data_offsets":[0,4]}})",
                        {"tensor 'a'", "'dtype'"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})",
                        {"tensor 'a'", "number too many"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}})",
                        {"tensor 'a'", "array"});
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  expect_header_refused(R"({"a":)" + entry + R"(,"a":)" + entry + "}", {"tensor 'a'", "twice"});
  expect_header_refused(R"({"":)" + entry + "}", {"name of 0 bytes"});
  expect_header_refused("{\"" + std::string(1025, 'n') + "\":" + entry + "}", {"1025 bytes"});
  expect_header_refused(R"({"a\u0000b":)" + entry + "}", {"NUL"});
}

TEST(Safetensors, RefusesWrongNumbers) {
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"({"t":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  EXPECT_TRUE(
      read_header(SafetensorsBuilder::assemble(entry("F32", "[4]", "[0,16]"), "0123456789abcdef"))
          .is_ok());
  expect_header_refused(entry("F64", "[2]", "[0,16]"), {"tensor 't'", "'F64'", "F32, F16"});
  expect_header_refused(entry("F8_E4M3", "[16]", "[0,16]"), {"'F8_E4M3'"});
  expect_header_refused(entry("F32", "[-4]", "[0,16]"), {"tensor 't'", "negative"});
  expect_header_refused(entry("F32", "[4.0]", "[0,16]"), {"tensor 't'", "fractional"});
  expect_header_refused(entry("F32", "[4]", "[0,12]"), {"[0, 12]", "16 bytes"});
  expect_header_refused(entry("F32", "[4]", "[16,0]"), {"[16, 0]"});
  expect_header_refused(entry("F32", "[4]", "[4,20]"), {"[4, 20]", "past the end"});
  expect_header_refused(entry("F32", "[4]", "[18446744073709551600,0]"), {"18446744073709551600"});
  expect_header_refused(entry("F32", "[4]", "[18446744073709551599,18446744073709551615]"),
                        {"past the end"});
  expect_header_refused(entry("F32", "[4611686018427387905,4]", "[0,16]"),
                        {"4611686018427387905", "2^48"});
  expect_header_refused(entry("F32", "[16777216,16777216,16777216]", "[0,16]"), {"2^48"});
  expect_header_refused(entry("F32", "[18446744073709551616]", "[0,16]"), {"tensor 't'"});
}

TEST(Safetensors, RefusesOverlapAndAllowsGaps) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[8],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  expect_header_refused(two("[0,8]", "[7,11]"), {"'a'", "'b'", "overlap"});
  expect_header_refused(two("[0,8]", "[0,4]"), {"overlap"});
  EXPECT_TRUE(read_header(SafetensorsBuilder::assemble(two("[8,16]", "[0,4]"), "0123456789abcdef"))
                  .is_ok());
}

TEST(Safetensors, RefusesDeepNesting) {
  const std::string deep = "{\"a\":" + std::string(200'000, '[');
  expect_header_refused(deep, {"tensor 'a'", "array"});
  expect_header_refused(std::string(200'000, '['), {"array"});
}

}  // namespace
}  // namespace ifr::test
