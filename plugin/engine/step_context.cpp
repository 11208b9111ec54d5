// SPDX-License-Identifier: Apache-2.0
#include "engine/step_context.h"

namespace ifr {

Status operator_error(OperatorId id, int32_t layer, const kernels::LaunchStatus& status) {
  return make_error(Code::kInternal, Part::kEngine, "operator %s of layer %d: %s (%lld)",
                    operator_name(id), layer, status.what, static_cast<long long>(status.value));
}

}  // namespace ifr
