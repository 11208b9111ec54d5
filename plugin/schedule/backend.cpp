// SPDX-License-Identifier: Apache-2.0
#include "schedule/backend.h"

#include <cstdio>
#include <optional>

#include "base/platform.h"

#if !defined(IFR_CUDA_OPERATORS)
#define IFR_CUDA_OPERATORS ""
#endif

namespace ifr {

namespace {

// The few calls of the driver API that are asked; its numbers are part of its stable interface.
using CudaResult = int32_t;
using CudaInit = CudaResult (*)(unsigned int flags);
using CudaGetInt = CudaResult (*)(int32_t* value);
using CudaDeviceGet = CudaResult (*)(int32_t* device, int32_t ordinal);
using CudaDeviceGetName = CudaResult (*)(char* name, int32_t capacity, int32_t device);
using CudaDeviceTotalMem = CudaResult (*)(size_t* bytes, int32_t device);
using CudaDeviceGetAttribute = CudaResult (*)(int32_t* value, int32_t attribute, int32_t device);

constexpr CudaResult kCudaSuccess = 0;
constexpr CudaResult kCudaErrorNoDevice = 100;
constexpr CudaResult kCudaErrorSystemDriverMismatch = 803;
constexpr CudaResult kCudaErrorCompatNotSupported = 804;
constexpr int32_t kAttributeMajor = 75;
constexpr int32_t kAttributeMinor = 76;

// The toolkit is 12.8 or newer, and code built by a 12.x toolkit runs on every 12.x driver.
constexpr int32_t kMinDriverVersion = 12000;
constexpr int32_t kMinCapabilityMajor = 8;

#if defined(_WIN32)
constexpr const char* kDriverLibrary = "nvcuda.dll";
#else
constexpr const char* kDriverLibrary = "libcuda.so.1";
#endif

struct Driver {
  CudaInit init = nullptr;
  CudaGetInt get_version = nullptr;
  CudaGetInt get_count = nullptr;
  CudaDeviceGet get_device = nullptr;
  CudaDeviceGetName get_name = nullptr;
  CudaDeviceTotalMem get_memory = nullptr;
  CudaDeviceGetAttribute get_attribute = nullptr;

  explicit Driver(const SharedLibrary& library)
      : init(reinterpret_cast<CudaInit>(library.symbol("cuInit"))),
        get_version(reinterpret_cast<CudaGetInt>(library.symbol("cuDriverGetVersion"))),
        get_count(reinterpret_cast<CudaGetInt>(library.symbol("cuDeviceGetCount"))),
        get_device(reinterpret_cast<CudaDeviceGet>(library.symbol("cuDeviceGet"))),
        get_name(reinterpret_cast<CudaDeviceGetName>(library.symbol("cuDeviceGetName"))),
        get_memory(reinterpret_cast<CudaDeviceTotalMem>(library.symbol("cuDeviceTotalMem_v2"))),
        get_attribute(
            reinterpret_cast<CudaDeviceGetAttribute>(library.symbol("cuDeviceGetAttribute"))) {}

  [[nodiscard]] bool is_complete() const {
    return init != nullptr && get_version != nullptr && get_count != nullptr &&
           get_device != nullptr && get_name != nullptr && get_memory != nullptr &&
           get_attribute != nullptr;
  }
};

std::string format_reason(const char* format, auto... values) {
  char text[256];
  (void)std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string too_old(int32_t version) {
  return format_reason("the driver offers CUDA %d.%d, %d.%d or newer is needed: update the driver",
                       version / 1000, version % 1000 / 10, kMinDriverVersion / 1000,
                       kMinDriverVersion % 1000 / 10);
}

// Starts the driver; the reason why it does not start.
std::optional<std::string> start_driver(const Driver& driver, BackendInfo& info) {
  if (driver.get_version(&info.driver_version) != kCudaSuccess) {
    info.driver_version = 0;
    return "the driver does not tell its version";
  }
  if (info.driver_version < kMinDriverVersion) {
    return too_old(info.driver_version);
  }
  const CudaResult result = driver.init(0);
  if (result == kCudaErrorNoDevice) {
    return "no CUDA device is visible (CUDA_VISIBLE_DEVICES may hide it)";
  }
  if (result == kCudaErrorSystemDriverMismatch || result == kCudaErrorCompatNotSupported) {
    return format_reason(
        "the driver library and the kernel's driver do not fit (error %d): the driver is too old "
        "or half updated",
        result);
  }
  if (result != kCudaSuccess) {
    return format_reason("the driver did not start (cuInit gave error %d)", result);
  }
  int32_t count = 0;
  if (driver.get_count(&count) != kCudaSuccess || count < 1) {
    return "no CUDA device is visible (CUDA_VISIBLE_DEVICES may hide it)";
  }
  return std::nullopt;
}

std::string device_reason(const Driver& driver, BackendInfo& info) {
  int32_t device = 0;
  char name[128] = {};
  size_t memory_bytes = 0;
  int32_t major = 0;
  int32_t minor = 0;
  if (driver.get_device(&device, 0) != kCudaSuccess ||
      driver.get_name(name, sizeof name - 1, device) != kCudaSuccess ||
      driver.get_memory(&memory_bytes, device) != kCudaSuccess ||
      driver.get_attribute(&major, kAttributeMajor, device) != kCudaSuccess ||
      driver.get_attribute(&minor, kAttributeMinor, device) != kCudaSuccess) {
    return "the first CUDA device does not answer";
  }
  info.device_name = name;
  info.memory_bytes = memory_bytes;
  if (major < kMinCapabilityMajor) {
    return format_reason("%.100s has compute capability %d.%d, %d.0 or newer is needed", name,
                         major, minor, kMinCapabilityMajor);
  }
  if constexpr (sizeof(IFR_CUDA_OPERATORS) > 1) {
    return "the device is usable, but this version runs inference on the CPU only; built for CUDA "
           "so far: " IFR_CUDA_OPERATORS;
  }
  return "the device is usable, but this version runs inference on the CPU only, and this build "
         "has no CUDA operators";
}

BackendInfo query_cuda() {
  BackendInfo info;
  info.backend = Backend::kCuda;
  const Expected<SharedLibrary> library = SharedLibrary::open(kDriverLibrary);
  if (!library.is_ok()) {
    info.reason = "no NVIDIA driver: " + library.status().message();
    return info;
  }
  const Driver driver(*library);
  if (!driver.is_complete()) {
    info.reason = std::string(kDriverLibrary) + " lacks calls of the driver API";
    return info;
  }
  const std::optional<std::string> refused = start_driver(driver, info);
  info.reason = refused ? *refused : device_reason(driver, info);
  return info;
}

}  // namespace

BackendInfo query_backend(Backend backend) {
  if (backend == Backend::kCuda) {
    return query_cuda();
  }
  BackendInfo info;
  info.available = true;
  info.memory_bytes = physical_memory_bytes();
  info.device_name = format_reason("CPU, %d cores", num_usable_cores());
  return info;
}

Status require_backend(Backend backend) {
  const BackendInfo info = query_backend(backend);
  if (info.available) {
    return {};
  }
  return make_error(Code::kUnsupported, Part::kSchedule,
                    "the CUDA backend is not available: %s (driver version %d). The CPU backend "
                    "works here",
                    info.reason.c_str(), info.driver_version);
}

}  // namespace ifr
