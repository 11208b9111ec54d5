// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "abi/arguments.h"
#include "abi/calls.h"
#include "abi/fence.h"
#include "abi/runtime_registry.h"
#include "schedule/backend.h"

namespace ifr::abi {

namespace {

struct CodeName {
  int32_t code;
  const char* name;
};

constexpr CodeName kCodeNames[] = {
    {IFR_OK, "IFR_OK"},
    {IFR_ERROR_INVALID_ARGUMENT, "IFR_ERROR_INVALID_ARGUMENT"},
    {IFR_ERROR_INVALID_STATE, "IFR_ERROR_INVALID_STATE"},
    {IFR_ERROR_NOT_FOUND, "IFR_ERROR_NOT_FOUND"},
    {IFR_ERROR_INVALID_FILE, "IFR_ERROR_INVALID_FILE"},
    {IFR_ERROR_UNSUPPORTED, "IFR_ERROR_UNSUPPORTED"},
    {IFR_ERROR_OUT_OF_MEMORY, "IFR_ERROR_OUT_OF_MEMORY"},
    {IFR_ERROR_OVER_BUDGET, "IFR_ERROR_OVER_BUDGET"},
    {IFR_ERROR_CONTEXT_FULL, "IFR_ERROR_CONTEXT_FULL"},
    {IFR_ERROR_CANCELLED, "IFR_ERROR_CANCELLED"},
    {IFR_ERROR_IO, "IFR_ERROR_IO"},
    {IFR_ERROR_DEVICE_LOST, "IFR_ERROR_DEVICE_LOST"},
    {IFR_ERROR_INTERNAL, "IFR_ERROR_INTERNAL"},
    {IFR_ERROR_INVALID_HANDLE, "IFR_ERROR_INVALID_HANDLE"},
};

ThreadPriority priority_of(int32_t value) {
  switch (value) {
    case IFR_THREAD_PRIORITY_NORMAL:
      return ThreadPriority::kNormal;
    case IFR_THREAD_PRIORITY_LOWEST:
      return ThreadPriority::kLowest;
    default:
      return ThreadPriority::kBelowNormal;
  }
}

Status create_runtime(const ifr_runtime_info& info, ifr_runtime** out_runtime) {
  IFR_TRY(require_range(info.backend, IFR_BACKEND_CPU, IFR_BACKEND_CUDA, "info.backend"));
  IFR_TRY(require_range(info.thread_priority, IFR_THREAD_PRIORITY_DEFAULT,
                        IFR_THREAD_PRIORITY_LOWEST, "info.thread_priority"));
  IFR_TRY(require_range(info.log_level, IFR_LOG_DEBUG, IFR_LOG_ERROR, "info.log_level"));
  IFR_TRY(require_backend(static_cast<Backend>(info.backend)));
  RuntimeSlot slot;
  if (!slot.is_taken()) {
    return make_error(Code::kInvalidState, Part::kAbi,
                      "the process has %u runtimes, its most: destroy one", kMaxRuntimes);
  }
  RuntimeOptions options;
  options.handle_tag = slot.handle_tag();
  options.memory_budget_bytes = info.memory_budget_bytes;
  options.num_threads = info.num_threads;
  options.priority = priority_of(info.thread_priority);
  options.event_capacity = info.event_capacity;
  options.log = {.callback = info.log,
                 .user = info.log_user,
                 .threshold = static_cast<LogLevel>(info.log_level)};
  IFR_ASSIGN_OR_RETURN(std::unique_ptr<Runtime> runtime,
                       Runtime::create(options, std::make_unique<FileModelLoader>()));
  *out_runtime = slot.publish(std::move(runtime));
  return {};
}

}  // namespace

const char* IFR_CALL result_string(ifr_result result) {
  for (const CodeName& entry : kCodeNames) {
    if (entry.code == result.code) {
      return entry.name;
    }
  }
  return "unknown code";
}

ifr_result IFR_CALL backend_query(int32_t backend, ifr_backend_info* out_info) {
  return fenced(
      [&]() -> Status {
        IFR_TRY(check_out_struct(out_info, "out_info"));
        IFR_TRY(require_range(backend, IFR_BACKEND_CPU, IFR_BACKEND_CUDA, "backend"));
        const BackendInfo found = query_backend(static_cast<Backend>(backend));
        ifr_backend_info info = {};
        info.backend = backend;
        info.available = found.available ? 1 : 0;
        info.driver_version = found.driver_version;
        info.memory_bytes = found.memory_bytes;
        copy_text(info.device_name, found.device_name);
        copy_text(info.reason, found.reason);
        write_struct(out_info, info);
        return {};
      },
      [](std::string_view) {});
}

ifr_result IFR_CALL runtime_create(const ifr_runtime_info* info, ifr_runtime** out_runtime) {
  ifr_runtime_info known = {};
  return fenced(
      [&]() -> Status {
        IFR_TRY(read_struct(info, known, "info"));
        IFR_TRY(require_pointer(out_runtime, "out_runtime"));
        return create_runtime(known, out_runtime);
      },
      [&](std::string_view message) {
        if (known.error_text != nullptr && known.error_capacity > 0) {
          copy_text(known.error_text, static_cast<size_t>(known.error_capacity), message);
        }
      });
}

ifr_result IFR_CALL runtime_destroy(ifr_runtime* runtime) {
  if (runtime == nullptr) {
    return kOk;
  }
  PinFault fault = PinFault::kNone;
  return fenced(
      [&]() -> Status {
        const std::unique_ptr<Runtime> taken = take_runtime(runtime, fault);
        const ifr_result refused = pin_result(fault);
        return fault == PinFault::kNone
                   ? Status()
                   : Status(static_cast<Code>(refused.code), Part::kAbi, std::string());
      },
      [](std::string_view) {});
}

ifr_result IFR_CALL last_error(ifr_runtime* runtime, char* text, uint64_t capacity,
                               uint64_t* out_length) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_buffer(text, capacity, "text"));
    // The longest message is far shorter: no more of the buffer is touched.
    constexpr uint64_t kMostBytes = 4096;
    const size_t length =
        self.last_error().copy({text, static_cast<size_t>(std::min(capacity, kMostBytes))});
    if (out_length != nullptr) {
      *out_length = length;
    }
    return {};
  });
}

}  // namespace ifr::abi
