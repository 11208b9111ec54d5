// SPDX-License-Identifier: Apache-2.0
// Writes safetensors files for tests, right and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ifr::test {

class SafetensorsBuilder {
 public:
  // `dtype` as the format spells it ("F32"); `data` as it stands in the file.
  void add(const std::string& name, std::string_view dtype, const std::vector<int64_t>& shape,
           std::string_view data);
  [[nodiscard]] std::string build() const;

  // A file of any header text, right or wrong, and its data.
  [[nodiscard]] static std::string assemble(std::string_view header, std::string_view data);

 private:
  std::string entries_;
  std::string data_;
};

}  // namespace ifr::test
