// SPDX-License-Identifier: Apache-2.0
#include "schedule/object_table.h"

namespace ifr {

namespace {

const char* kind_name(uint32_t kind) {
  switch (static_cast<HandleKind>(kind)) {
    case HandleKind::kModel:
      return "model";
    case HandleKind::kSession:
      return "session";
    case HandleKind::kRequest:
      return "request";
    case HandleKind::kNone:
      break;
  }
  return "handle that no runtime gives out";
}

}  // namespace

Status Handle::refusal(uint64_t handle, HandleKind wanted, uint16_t tag) {
  const char* wanted_name = kind_name(static_cast<uint32_t>(wanted));
  const auto value = static_cast<unsigned long long>(handle);
  if (handle == 0) {
    return make_error(Code::kInvalidHandle, Part::kSchedule, "the %s handle is 0, which is none",
                      wanted_name);
  }
  if (kind(handle) != static_cast<uint32_t>(wanted)) {
    return make_error(Code::kInvalidHandle, Part::kSchedule, "0x%llx is a %s, not a %s", value,
                      kind_name(kind(handle)), wanted_name);
  }
  if (Handle::tag(handle) != tag) {
    return make_error(Code::kInvalidHandle, Part::kSchedule,
                      "the %s 0x%llx belongs to another runtime", wanted_name, value);
  }
  return make_error(Code::kInvalidHandle, Part::kSchedule,
                    "the %s 0x%llx is closed or was never given out", wanted_name, value);
}

}  // namespace ifr
