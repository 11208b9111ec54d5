// SPDX-License-Identifier: Apache-2.0
// What the shared library shows and needs (case H01: no driver library), and its first call.
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>

#include "abi/abi_fixture.h"

namespace ifr::test {
namespace {

// The output of a command, or nothing where the program is not installed.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[4096];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    text += buffer;
  }
  return text;
}

TEST(AbiExports, AreOneSymbol) {
  const std::string text =
      output_of(std::string("nm -D --defined-only --format=posix ") + kLibraryPath);
  if (text.empty()) {
    GTEST_SKIP() << "nm (binutils) is not installed";
  }
  std::istringstream lines(text);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    names.insert(line.substr(0, line.find(' ')));
  }
  EXPECT_EQ(names, std::set<std::string>{"ifr_get_api"}) << text;
}

TEST(AbiExports, NeedOnlyTheRuntimeOfTheLanguage) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer adds its own library";
  }
  const std::string text = output_of(std::string("readelf -d ") + kLibraryPath);
  if (text.empty()) {
    GTEST_SKIP() << "readelf (binutils) is not installed";
  }
  const std::set<std::string> allowed = {"libc.so.6", "libm.so.6", "libstdc++.so.6",
                                         "libgcc_s.so.1", "ld-linux-x86-64.so.2"};
  std::istringstream lines(text);
  int32_t num_needed = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") == std::string::npos) {
      continue;
    }
    ++num_needed;
    const size_t begin = line.find('[') + 1;
    const std::string name = line.substr(begin, line.find(']') - begin);
    EXPECT_TRUE(allowed.contains(name)) << name;
  }
  EXPECT_GE(num_needed, 2);
}

TEST(GetApi, FillsTheTable) {
  const OpenLibrary library;
  const ifr_api& api = library.api;
  EXPECT_EQ(api.abi_version, IFR_ABI_VERSION);
  EXPECT_STREQ(api.version, IFR_VERSION_STRING);
  // Every entry is there: pointers fill the rest of the struct.
  const auto* words = reinterpret_cast<const void* const*>(&api);
  for (size_t i = offsetof(ifr_api, result_string) / sizeof(void*);
       i < sizeof(ifr_api) / sizeof(void*); ++i) {
    EXPECT_NE(words[i], nullptr) << "entry " << i;
  }
  EXPECT_STREQ(api.result_string({IFR_OK, 0}), "IFR_OK");
  EXPECT_STREQ(api.result_string({IFR_ERROR_IO, 0}), "IFR_ERROR_IO");
  EXPECT_STREQ(api.result_string({IFR_ERROR_INVALID_HANDLE, 0}), "IFR_ERROR_INVALID_HANDLE");
  EXPECT_STREQ(api.result_string({999, 999}), "unknown code");
  EXPECT_STREQ(api.result_string({-1, 0}), "unknown code");
}

TEST(GetApi, FollowsTheHostsSize) {
  const OpenLibrary library;
  const ifr_get_api_function get_api = library.get_api();
  EXPECT_EQ(get_api(0, nullptr).code, IFR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(get_api(1, &const_cast<ifr_api&>(library.api)).code, IFR_ERROR_UNSUPPORTED);
  EXPECT_EQ(get_api(~0U, &const_cast<ifr_api&>(library.api)).code, IFR_ERROR_UNSUPPORTED);

  // An older host: no byte after its size is touched.
  ifr_api small;
  std::memset(&small, 0x5A, sizeof small);
  small.struct_size = offsetof(ifr_api, runtime_create);
  ASSERT_EQ(get_api(0, &small).code, IFR_OK);
  EXPECT_NE(small.backend_query, nullptr);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&small);
  for (size_t i = small.struct_size; i < sizeof small; ++i) {
    ASSERT_EQ(bytes[i], 0x5A) << i;
  }
  // A newer host: what this plugin does not have is null.
  struct {
    ifr_api api;
    void* later[3];
  } large;
  std::memset(&large, 0x5A, sizeof large);
  large.api.struct_size = sizeof large;
  ASSERT_EQ(get_api(0, &large.api).code, IFR_OK);
  for (const void* later : large.later) {
    EXPECT_EQ(later, nullptr);
  }
  for (const uint32_t size : {0U, 4U, 15U, 5000U, ~0U}) {
    ifr_api garbage = library.api;
    garbage.struct_size = size;
    garbage.abi_version = 77;
    const ifr_result result = get_api(0, &garbage);
    if (size == 15U) {  // holds abi_version
      EXPECT_EQ(result.code, IFR_OK);
    } else {
      EXPECT_EQ(result.code, IFR_ERROR_INVALID_ARGUMENT) << size;
      EXPECT_EQ(garbage.abi_version, 77U) << size;
    }
  }
}

}  // namespace
}  // namespace ifr::test
