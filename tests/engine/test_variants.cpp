// SPDX-License-Identifier: Apache-2.0
// Other models of the qwen4_exp kind: head counts, ratios, stream counts, n-gram orders, layer
// lists, no PLE, gates, tied head, absent keys, weight types. Expected values come from a float64
// program of its own (make_variants.py), or from any folder of folders with golden.safetensors.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "reference_run.h"

namespace ifr::test {

namespace {

// Folders below `root` that hold goldens, sorted.
std::vector<std::string> variant_folders(const std::string& root) {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (std::filesystem::exists(entry.path() / "golden.safetensors")) {
      folders.push_back(entry.path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

void check_folders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    SCOPED_TRACE(folder);
    std::printf("  %s\n", std::filesystem::path(folder).filename().c_str());
    check_reference_folder(folder);
  }
}

TEST(Variants, MatchFloat64Program) {
  const char* chosen = std::getenv("IFR_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  if (std::system((python + " -c 'import numpy' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "'" << python
                 << "' has no numpy: install it, or set IFR_PYTHON to one that has";
  }
  const std::string root = IFR_BINARY_DIR "/variants";
  std::filesystem::remove_all(root);
  const std::string command =
      python + " '" IFR_SOURCE_DIR "/tests/engine/make_variants.py' '" + root + "' > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const std::vector<std::string> folders = variant_folders(root);
  ASSERT_GE(folders.size(), 16U);
  check_folders(folders);
}

TEST(Variants, MatchFoldersGiven) {
  const char* root = std::getenv("IFR_VARIANT_DIR");
  if (root == nullptr) {
    GTEST_SKIP() << "set IFR_VARIANT_DIR to a folder of model folders with golden.safetensors "
                    "(transformers makes them: make_reference.py)";
  }
  const std::vector<std::string> folders = variant_folders(root);
  ASSERT_FALSE(folders.empty());
  check_folders(folders);
}

}  // namespace

}  // namespace ifr::test
