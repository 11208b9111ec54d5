// SPDX-License-Identifier: Apache-2.0
#include "tools/safetensors_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "model/safetensors_header.h"

namespace ifr::tools {
namespace {

TEST(SafetensorsWriter, UsageReadsBackWithTheOwnReader) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("ifr_writer_" + std::to_string(getpid())))
          .string();
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const std::array<uint8_t, 3> marks = {7, 8, 9};
  const std::array<OutputTensor, 2> tensors = {
      OutputTensor{"a.b", "F32", {2, 3}, std::as_bytes(std::span(values))},
      OutputTensor{"marks", "U8", {3}, std::as_bytes(std::span(marks))}};
  ASSERT_TRUE(write_safetensors(path, tensors).is_ok());
  {
    Expected<File> file = File::open(path);
    ASSERT_TRUE(file.is_ok());
    const FileSource source(std::move(file).value());
    const Expected<SafetensorsHeader> header = read_safetensors_header(source, 0);
    ASSERT_TRUE(header.is_ok()) << header.status().message();
    ASSERT_EQ(header->tensors.size(), 2U);
    EXPECT_EQ(header->tensors[0].name, "a.b");
    EXPECT_EQ(header->tensors[0].shape, (std::vector<int64_t>{2, 3}));
    std::array<float, 6> back{};
    ASSERT_TRUE(
        source.read(header->tensors[0].offset, std::as_writable_bytes(std::span(back))).is_ok());
    EXPECT_EQ(back, values);
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  std::filesystem::remove(path);
}

TEST(SafetensorsWriter, SaysWhyItCannotWrite) {
  const Status status = write_safetensors("/no/such/folder/x.safetensors", {});
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_NE(status.message().find("/no/such/folder"), std::string::npos);
}

}  // namespace
}  // namespace ifr::tools
