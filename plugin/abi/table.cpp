// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "abi/arguments.h"
#include "abi/calls.h"
#include "interframe/interframe.h"

namespace ifr::abi {

namespace {

constexpr ifr_api kTable = {
    .struct_size = static_cast<uint32_t>(sizeof(ifr_api)),
    .abi_version = IFR_ABI_VERSION,
    .version = IFR_VERSION_STRING,
    .result_string = result_string,
    .backend_query = backend_query,
    .runtime_create = runtime_create,
    .runtime_destroy = runtime_destroy,
    .last_error = last_error,
    .model_load = model_load,
    .model_status = model_status,
    .model_cancel = model_cancel,
    .model_release = model_release,
    .model_describe = model_describe,
    .tokenize = tokenize,
    .detokenize = detokenize,
    .session_create = session_create,
    .session_destroy = session_destroy,
    .session_reset = session_reset,
    .session_status = session_status,
    .session_tokens = session_tokens,
    .request_submit = request_submit,
    .request_cancel = request_cancel,
    .poll = poll,
    .telemetry_enable = telemetry_enable,
    .telemetry_read = telemetry_read,
    .telemetry_operators = telemetry_operators,
    .telemetry_selections = telemetry_selections,
    .model_selecting_layers = model_selecting_layers,
};

}  // namespace

}  // namespace ifr::abi

extern "C" ifr_result IFR_CALL ifr_get_api(uint32_t abi_version, ifr_api* out_api) {
  constexpr ifr_result kRefused = {IFR_ERROR_INVALID_ARGUMENT, IFR_PART_ABI};
  if (out_api == nullptr) {
    return kRefused;
  }
  uint32_t size = 0;
  std::memcpy(&size, out_api, sizeof size);
  if (size < offsetof(ifr_api, version) || size > ifr::abi::kMaxStructBytes) {
    return kRefused;
  }
  if (abi_version != IFR_ABI_VERSION) {
    return {IFR_ERROR_UNSUPPORTED, IFR_PART_ABI};
  }
  // Entries of a later version than this one stay null, so that the host can tell.
  auto* bytes = reinterpret_cast<unsigned char*>(out_api);
  const size_t known = std::min<size_t>(size, sizeof(ifr_api));
  std::memcpy(bytes + sizeof size,
              reinterpret_cast<const unsigned char*>(&ifr::abi::kTable) + sizeof size,
              known - sizeof size);
  std::memset(bytes + known, 0, size - known);
  return {IFR_OK, IFR_PART_NONE};
}
