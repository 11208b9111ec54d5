// SPDX-License-Identifier: Apache-2.0
// Where tensors lie in a GGUF file (case G05), and every length it can be cut to.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "model/open_bytes.h"

namespace ifr::test {
namespace {

std::string with_offset(uint64_t offset) {
  GgufBuilder file = make_gguf_b();
  file.tensor("output_norm.weight").offset = offset;
  return file.build();
}

TEST(GgufData, RefusesOffsetsOutsideTheFile) {  // G05 a-c
  const std::string size = std::to_string(make_gguf_b().build().size());
  expect_gguf_refused(with_offset(uint64_t{1} << 40),
                      {"output_norm.weight", "1099511627776", "size 256", "past the end", size},
                      "2^40");
  expect_gguf_refused(with_offset(~uint64_t{0} - 63),
                      {"output_norm.weight", "18446744073709551552", "past the end", size},
                      "2^64-64");
  expect_gguf_refused(with_offset(33), {"output_norm.weight", "33", "alignment 32"}, "unaligned");
}

TEST(GgufData, LastTensorMayEndTheFile) {  // G05 d
  const std::string bytes = make_gguf_b().build();
  expect_gguf_loads(bytes, "to the last byte");
  expect_gguf_loads(bytes + std::string(100, 'x'), "bytes after the last tensor");
  expect_gguf_refused(std::string_view(bytes).substr(0, bytes.size() - 1),
                      {"output_norm.weight", "past the end"}, "one byte less");
}

// G05 e and every other place: a one-layer file keeps the sweep short.
TEST(GgufData, RefusesEveryTruncation) {
  LlamaFileOptions options;
  options.num_layers = 1;
  options.embedding = 32;
  options.num_heads = 1;
  options.num_kv_heads = 1;
  options.head_dim = 32;
  options.feed_forward = 32;
  const std::string bytes = make_gguf_b(options).build();
  expect_gguf_loads(bytes, "whole");
  for (size_t len = 0; len < bytes.size(); ++len) {
    const auto source_bytes = std::as_bytes(std::span(bytes.data(), len));
    const auto model = ModelFile::open_gguf(std::make_unique<MemorySource>("cut", source_bytes));
    ASSERT_FALSE(model.is_ok()) << "cut to " << len << " of " << bytes.size();
    ASSERT_EQ(model.status().code(), Code::kInvalidFile) << model.status().message();
  }
}

TEST(GgufData, ReadsPast32BitOffsets) {  // G05 f, in a sparse file
  constexpr uint64_t kOffset = 15'038'670'688;
  GgufBuilder file = make_gguf_b();
  const std::string data = file.tensor("output_norm.weight").data;
  file.tensor("output_norm.weight").data.clear();
  file.tensor("output_norm.weight").offset = 0;
  uint64_t data_offset = 0;
  static_cast<void>(file.build(&data_offset));
  const uint64_t relative = (kOffset - data_offset) / 32 * 32;
  file.tensor("output_norm.weight").offset = relative;
  const std::string path = scratch_folder() + "/sparse.gguf";
  write_file(path, file.build());
  std::error_code error;
  std::filesystem::resize_file(path, data_offset + relative, error);
  if (error) {
    GTEST_SKIP() << "no sparse files here: " << error.message();
  }
  std::FILE* out = std::fopen(path.c_str(), "ab");
  ASSERT_NE(out, nullptr);
  ASSERT_EQ(std::fwrite(data.data(), 1, data.size(), out), data.size());
  std::fclose(out);
  const auto model = ModelFile::open(path);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  std::string read(data.size(), '\0');
  const TensorInfo* norm = (*model)->find("output_norm.weight");
  EXPECT_GT(norm->offset, uint64_t{1} << 33);
  ASSERT_TRUE((*model)->read(*norm, 0, std::as_writable_bytes(std::span(read))).is_ok());
  EXPECT_EQ(read, data);
  std::filesystem::remove(path);
}

TEST(GgufData, AFileCutAfterOpeningIsAnError) {  // G05 g, as far as reading goes
  const std::string bytes = make_gguf_b().build();
  const std::string path = scratch_folder() + "/cut.gguf";
  write_file(path, bytes);
  const auto model = ModelFile::open(path);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  std::filesystem::resize_file(path, bytes.size() / 2);
  const TensorInfo* norm = (*model)->find("output_norm.weight");
  std::vector<std::byte> data(norm->size_bytes);
  const Status status = (*model)->read(*norm, 0, data);
  EXPECT_EQ(status.code(), Code::kIo) << status.message();
  EXPECT_NE(status.message().find("cut.gguf"), std::string::npos);
}

TEST(GgufData, AReplacedFileStaysTheOldOne) {  // G05 g
  const std::string path = scratch_folder() + "/replaced.gguf";
  const GgufBuilder file = make_gguf_b();
  write_file(path, file.build());
  const auto model = ModelFile::open(path);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  write_file(path + ".new", "something else");
  std::filesystem::rename(path + ".new", path);
  const TensorInfo* norm = (*model)->find("output_norm.weight");
  std::string data(norm->size_bytes, '\0');
  ASSERT_TRUE((*model)->read(*norm, 0, std::as_writable_bytes(std::span(data))).is_ok());
  EXPECT_EQ(data, file.tensors.back().data);
}

}  // namespace
}  // namespace ifr::test
