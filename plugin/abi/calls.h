// SPDX-License-Identifier: Apache-2.0
// The functions that the table points to; interframe.h documents them.
#pragma once

#include "interframe/interframe.h"

namespace ifr::abi {

const char* IFR_CALL result_string(ifr_result result);
ifr_result IFR_CALL backend_query(int32_t backend, ifr_backend_info* out_info);

ifr_result IFR_CALL runtime_create(const ifr_runtime_info* info, ifr_runtime** out_runtime);
ifr_result IFR_CALL runtime_destroy(ifr_runtime* runtime);
ifr_result IFR_CALL last_error(ifr_runtime* runtime, char* text, uint64_t capacity,
                               uint64_t* out_length);

ifr_result IFR_CALL model_load(ifr_runtime* runtime, const ifr_model_info* info,
                               ifr_model* out_model);
ifr_result IFR_CALL model_status(ifr_runtime* runtime, ifr_model model,
                                 ifr_model_status* out_status);
ifr_result IFR_CALL model_cancel(ifr_runtime* runtime, ifr_model model);
ifr_result IFR_CALL model_release(ifr_runtime* runtime, ifr_model model);
ifr_result IFR_CALL model_describe(ifr_runtime* runtime, ifr_model model,
                                   ifr_model_description* out_description);
ifr_result IFR_CALL tokenize(ifr_runtime* runtime, ifr_model model, ifr_string text, uint32_t flags,
                             int32_t* ids, uint64_t capacity, uint64_t* out_count);
ifr_result IFR_CALL detokenize(ifr_runtime* runtime, ifr_model model, const int32_t* ids,
                               uint64_t num_ids, char* text, uint64_t capacity,
                               uint64_t* out_bytes);
ifr_result IFR_CALL model_selecting_layers(ifr_runtime* runtime, ifr_model model, int32_t* layers,
                                           uint32_t capacity, uint32_t* out_count);

ifr_result IFR_CALL session_create(ifr_runtime* runtime, ifr_model model,
                                   const ifr_session_info* info, ifr_session* out_session);
ifr_result IFR_CALL session_destroy(ifr_runtime* runtime, ifr_session session);
ifr_result IFR_CALL session_reset(ifr_runtime* runtime, ifr_session session);
ifr_result IFR_CALL session_status(ifr_runtime* runtime, ifr_session session,
                                   ifr_session_status* out_status);
ifr_result IFR_CALL session_tokens(ifr_runtime* runtime, ifr_session session, int32_t first,
                                   int32_t* ids, uint32_t capacity, uint32_t* out_count);

ifr_result IFR_CALL request_submit(ifr_runtime* runtime, ifr_session session,
                                   const ifr_request_info* info, ifr_request* out_request);
ifr_result IFR_CALL request_cancel(ifr_runtime* runtime, ifr_request request);
ifr_result IFR_CALL poll(ifr_runtime* runtime, ifr_event* events, uint32_t event_stride,
                         uint32_t capacity, uint32_t* out_count);

ifr_result IFR_CALL telemetry_enable(ifr_runtime* runtime, int32_t enabled);
ifr_result IFR_CALL telemetry_read(ifr_runtime* runtime, ifr_telemetry* out_telemetry);
ifr_result IFR_CALL telemetry_operators(ifr_runtime* runtime, ifr_operator_record* records,
                                        uint32_t record_stride, uint32_t capacity,
                                        uint32_t* out_count);
ifr_result IFR_CALL telemetry_selections(ifr_runtime* runtime, ifr_session session,
                                         ifr_selection_read* inout_read);

}  // namespace ifr::abi
