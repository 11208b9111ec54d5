// SPDX-License-Identifier: Apache-2.0
// Opens bytes as a model: by path and from memory, which must agree.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "model/model_file.h"
#include "support/gguf_builder.h"

namespace ifr::test {

// Each test program has a folder of its own.
inline const std::string& scratch_folder() {
  static const std::string folder = make_temporary_folder(
      std::string(testing::UnitTest::GetInstance()->current_test_info()->test_suite_name()) + "_" +
      std::to_string(getpid()));
  return folder;
}

inline Expected<std::unique_ptr<ModelFile>> open_gguf_bytes(std::string_view bytes) {
  const std::string path = scratch_folder() + "/model.gguf";
  write_file(path, bytes);
  Expected<std::unique_ptr<ModelFile>> by_path = ModelFile::open(path);
  const Expected<std::unique_ptr<ModelFile>> from_memory = ModelFile::open_gguf(
      std::make_unique<MemorySource>(path, std::as_bytes(std::span(bytes.data(), bytes.size()))));
  EXPECT_EQ(by_path.status().message(), from_memory.status().message());
  return by_path;
}

// `parts` stand in the message.
inline void expect_refusal(const Status& status, std::initializer_list<std::string_view> parts,
                           const std::string& what) {
  EXPECT_FALSE(status.is_ok()) << what << " was accepted";
  EXPECT_TRUE(status.code() == Code::kInvalidFile || status.code() == Code::kUnsupported ||
              status.code() == Code::kNotFound || status.code() == Code::kIo)
      << what << ": " << status.message();
  for (const std::string_view part : parts) {
    EXPECT_NE(status.message().find(part), std::string::npos)
        << what << ": no '" << part << "' in: " << status.message();
  }
}

inline void expect_gguf_refused(std::string_view bytes,
                                std::initializer_list<std::string_view> parts,
                                const std::string& what) {
  expect_refusal(open_gguf_bytes(bytes).status(), parts, what);
}

inline void expect_gguf_loads(std::string_view bytes, const std::string& what) {
  const auto model = open_gguf_bytes(bytes);
  EXPECT_TRUE(model.is_ok()) << what << ": " << model.status().message();
}

}  // namespace ifr::test
