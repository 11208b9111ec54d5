// SPDX-License-Identifier: Apache-2.0
// Case H01: the CUDA backend is refused with the reason and the driver's version, the CPU backend
// works. Run with a stub driver on LD_LIBRARY_PATH (ctest does), and without.
#include <cstdlib>

#include "abi/abi_fixture.h"

namespace ifr::test {
namespace {

bool has_stub() {
  return std::getenv("IFR_STUB_DRIVER") != nullptr;
}

class Environment {
 public:
  Environment(std::initializer_list<std::pair<const char*, const char*>> values) {
    for (const auto& [name, value] : values) {
      setenv(name, value, 1);
      names_.push_back(name);
    }
  }
  ~Environment() {
    for (const char* name : names_) {
      unsetenv(name);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<const char*> names_;
};

// Queried and refused, with `reason` and `version` in both.
void expect_refused(const ifr_api& api, const std::string& reason, int32_t version) {
  auto info = make<ifr_backend_info>();
  ASSERT_EQ(api.backend_query(IFR_BACKEND_CUDA, &info).code, IFR_OK);
  EXPECT_EQ(info.available, 0);
  EXPECT_EQ(info.backend, IFR_BACKEND_CUDA);
  EXPECT_EQ(info.driver_version, version);
  EXPECT_NE(std::string(info.reason).find(reason), std::string::npos) << info.reason;
  auto runtime_info = make<ifr_runtime_info>();
  runtime_info.backend = IFR_BACKEND_CUDA;
  char text[512] = "";
  runtime_info.error_text = text;
  runtime_info.error_capacity = sizeof text;
  ifr_runtime* runtime = nullptr;
  EXPECT_EQ(api.runtime_create(&runtime_info, &runtime).code, IFR_ERROR_UNSUPPORTED);
  EXPECT_EQ(runtime, nullptr);
  EXPECT_NE(std::string(text).find(reason), std::string::npos) << text;
  EXPECT_NE(std::string(text).find("driver version " + std::to_string(version)), std::string::npos)
      << text;
}

TEST(AbiBackend, CpuIsAvailable) {
  const OpenLibrary library;
  auto info = make<ifr_backend_info>();
  ASSERT_EQ(library.api.backend_query(IFR_BACKEND_CPU, &info).code, IFR_OK);
  EXPECT_EQ(info.available, 1);
  EXPECT_EQ(info.driver_version, 0);
  EXPECT_GT(info.memory_bytes, 0U);
  EXPECT_STREQ(info.reason, "");
  AbiHost host(library.api);
  EXPECT_EQ(host.run(host.session(host.load(), 64), {1, 2}, 8).size(), 8U);
}

TEST(AbiBackend, CudaWithoutADriver) {
  const OpenLibrary library;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver != nullptr) {
    dlclose(driver);
    GTEST_SKIP() << "this machine (or the stub) has a driver";
  }
  expect_refused(library.api, "no NVIDIA driver", 0);
}

TEST(AbiBackend, CudaOfAnyKindIsRefusedWithAReason) {
  const OpenLibrary library;
  auto info = make<ifr_backend_info>();
  ASSERT_EQ(library.api.backend_query(IFR_BACKEND_CUDA, &info).code, IFR_OK);
  std::printf("cuda: driver %d, device '%s', %s\n", info.driver_version, info.device_name,
              info.reason);
  EXPECT_EQ(info.available, 0);
  EXPECT_STRNE(info.reason, "");
}

TEST(AbiBackend, CudaWithAStubDriver) {
  if (!has_stub()) {
    GTEST_SKIP() << "run by ctest with the stub driver on LD_LIBRARY_PATH";
  }
  const OpenLibrary library;
  {
    const Environment environment({{"STUB_CUDA_VERSION", "11040"}});
    expect_refused(library.api, "CUDA 11.4", 11040);
  }
  {
    const Environment environment({{"STUB_CUDA_INIT", "803"}});
    expect_refused(library.api, "too old or half updated", 13000);
  }
  {
    const Environment environment({{"STUB_CUDA_INIT", "100"}});
    expect_refused(library.api, "no CUDA device is visible", 13000);
  }
  {
    const Environment environment({{"STUB_CUDA_DEVICES", "0"}});
    expect_refused(library.api, "no CUDA device is visible", 13000);
  }
  {
    const Environment environment({{"STUB_CUDA_INIT", "999"}});
    expect_refused(library.api, "error 999", 13000);
  }
  {
    const Environment environment({{"STUB_CUDA_MAJOR", "7"}});
    expect_refused(library.api, "Stub GPU has compute capability 7.0", 13000);
  }
  expect_refused(library.api, "inference on the CPU only", 13000);
}

}  // namespace
}  // namespace ifr::test
