// SPDX-License-Identifier: Apache-2.0
#include "abi/arguments.h"
#include "abi/calls.h"
#include "abi/fence.h"

namespace ifr::abi {

ifr_result IFR_CALL session_create(ifr_runtime* runtime, ifr_model model,
                                   const ifr_session_info* info, ifr_session* out_session) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    ifr_session_info known = {};
    IFR_TRY(read_struct(info, known, "info"));
    IFR_TRY(require_pointer(out_session, "out_session"));
    IFR_ASSIGN_OR_RETURN(*out_session, self.create_session(model, known.context_tokens));
    return {};
  });
}

ifr_result IFR_CALL session_destroy(ifr_runtime* runtime, ifr_session session) {
  return with_runtime(runtime, [&](Runtime& self) { return self.destroy_session(session); });
}

ifr_result IFR_CALL session_reset(ifr_runtime* runtime, ifr_session session) {
  return with_runtime(runtime, [&](Runtime& self) { return self.reset_session(session); });
}

ifr_result IFR_CALL session_status(ifr_runtime* runtime, ifr_session session,
                                   ifr_session_status* out_status) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(check_out_struct(out_status, "out_status"));
    IFR_ASSIGN_OR_RETURN(const SessionRef ref, self.session(session));
    ifr_session_status status = {};
    status.context_tokens = ref->context_tokens;
    status.busy = ref->busy.load(std::memory_order_acquire) ? 1 : 0;
    status.used_tokens = ref->used_tokens.load(std::memory_order_acquire);
    write_struct(out_status, status);
    return {};
  });
}

ifr_result IFR_CALL session_tokens(ifr_runtime* runtime, ifr_session session, int32_t first,
                                   int32_t* ids, uint32_t capacity, uint32_t* out_count) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_pointer(out_count, "out_count"));
    IFR_TRY(require_buffer(ids, capacity, "ids"));
    IFR_ASSIGN_OR_RETURN(const size_t count, self.copy_tokens(session, first, {ids, capacity}));
    *out_count = static_cast<uint32_t>(count);
    return {};
  });
}

}  // namespace ifr::abi
