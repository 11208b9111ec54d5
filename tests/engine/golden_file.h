// SPDX-License-Identifier: Apache-2.0
// Expected values in a safetensors file.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "model/byte_source.h"
#include "model/safetensors_header.h"

namespace ifr::test {

class GoldenFile {
 public:
  explicit GoldenFile(const std::string& path) {
    Expected<File> file = File::open(path);
    if (!file.is_ok()) {
      ADD_FAILURE() << file.status().message();
      return;
    }
    source_ = std::make_unique<FileSource>(std::move(file).value());
    Expected<SafetensorsHeader> header = read_safetensors_header(*source_, 0);
    if (!header.is_ok()) {
      ADD_FAILURE() << header.status().message();
      return;
    }
    header_ = std::move(header).value();
  }

  [[nodiscard]] const TensorInfo* find(const std::string& name) const {
    for (const TensorInfo& tensor : header_.tensors) {
      if (tensor.name == name) {
        return &tensor;
      }
    }
    return nullptr;
  }

  template <typename T>
  [[nodiscard]] std::vector<T> values(const std::string& name) const {
    const TensorInfo* tensor = find(name);
    if (tensor == nullptr) {
      ADD_FAILURE() << "no tensor " << name;
      return {};
    }
    std::vector<T> out(tensor->size_bytes / sizeof(T));
    const Status status = source_->read(tensor->offset, std::as_writable_bytes(std::span<T>(out)));
    EXPECT_TRUE(status.is_ok()) << status.message();
    return out;
  }

 private:
  std::unique_ptr<FileSource> source_;
  SafetensorsHeader header_;
};

}  // namespace ifr::test
