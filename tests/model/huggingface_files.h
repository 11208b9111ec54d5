// SPDX-License-Identifier: Apache-2.0
// Variations of the micro model's folder.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "model/open_bytes.h"

namespace ifr::test {

inline std::string micro_folder() {
  return std::string(IFR_SOURCE_DIR) + "/assets/micro";
}

inline nlohmann::json micro_config() {
  return nlohmann::json::parse(read_file(micro_folder() + "/config.json"));
}

// A new folder with this config.json beside the micro model's weights.
inline std::string folder_with_config(const std::string& config) {
  static int32_t count = 0;
  std::string folder = scratch_folder() + "/folder_" + std::to_string(count++);
  std::filesystem::create_directories(folder);
  write_file(folder + "/config.json", config);
  std::filesystem::copy_file(micro_folder() + "/model.safetensors", folder + "/model.safetensors");
  return folder;
}

}  // namespace ifr::test
