// SPDX-License-Identifier: Apache-2.0
// Sizes and offsets of every field, held by a golden file; constants that two headers share.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "base/status.h"
#include "interframe/interframe.h"
#include "schedule/backend.h"
#include "schedule/event.h"
#include "schedule/model.h"

namespace {

static_assert(sizeof(ifr_result) == 8 && sizeof(ifr_string) == 16);
static_assert(sizeof(ifr_model) == 8 && sizeof(ifr_session) == 8 && sizeof(ifr_request) == 8);
static_assert(offsetof(ifr_api, struct_size) == 0 && offsetof(ifr_api, abi_version) == 4 &&
              offsetof(ifr_api, version) == 8);

std::ostringstream dump;

#define IFR_STRUCT(type) dump << #type << " " << sizeof(type) << "\n"
#define IFR_FIELD(type, field) \
  dump << "  " << #field << " " << offsetof(type, field) << " " << sizeof(type::field) << "\n"

void dump_results() {
  IFR_STRUCT(ifr_result);
  IFR_FIELD(ifr_result, code);
  IFR_FIELD(ifr_result, part);
  IFR_STRUCT(ifr_string);
  IFR_FIELD(ifr_string, data);
  IFR_FIELD(ifr_string, size_bytes);
}

void dump_runtime() {
  IFR_STRUCT(ifr_backend_info);
  IFR_FIELD(ifr_backend_info, struct_size);
  IFR_FIELD(ifr_backend_info, backend);
  IFR_FIELD(ifr_backend_info, available);
  IFR_FIELD(ifr_backend_info, driver_version);
  IFR_FIELD(ifr_backend_info, memory_bytes);
  IFR_FIELD(ifr_backend_info, device_name);
  IFR_FIELD(ifr_backend_info, reason);
  IFR_STRUCT(ifr_runtime_info);
  IFR_FIELD(ifr_runtime_info, struct_size);
  IFR_FIELD(ifr_runtime_info, backend);
  IFR_FIELD(ifr_runtime_info, memory_budget_bytes);
  IFR_FIELD(ifr_runtime_info, num_threads);
  IFR_FIELD(ifr_runtime_info, thread_priority);
  IFR_FIELD(ifr_runtime_info, event_capacity);
  IFR_FIELD(ifr_runtime_info, log_level);
  IFR_FIELD(ifr_runtime_info, log);
  IFR_FIELD(ifr_runtime_info, log_user);
  IFR_FIELD(ifr_runtime_info, error_text);
  IFR_FIELD(ifr_runtime_info, error_capacity);
}

void dump_models() {
  IFR_STRUCT(ifr_model_info);
  IFR_FIELD(ifr_model_info, struct_size);
  IFR_FIELD(ifr_model_info, reserved);
  IFR_FIELD(ifr_model_info, path);
  IFR_STRUCT(ifr_model_status);
  IFR_FIELD(ifr_model_status, struct_size);
  IFR_FIELD(ifr_model_status, state);
  IFR_FIELD(ifr_model_status, result);
  IFR_FIELD(ifr_model_status, done_bytes);
  IFR_FIELD(ifr_model_status, total_bytes);
  IFR_FIELD(ifr_model_status, message);
  IFR_STRUCT(ifr_model_description);
  IFR_FIELD(ifr_model_description, struct_size);
  IFR_FIELD(ifr_model_description, num_layers);
  IFR_FIELD(ifr_model_description, vocab_size);
  IFR_FIELD(ifr_model_description, context_tokens);
  IFR_FIELD(ifr_model_description, num_parameters);
  IFR_FIELD(ifr_model_description, weight_bytes);
  IFR_FIELD(ifr_model_description, session_bytes);
  IFR_FIELD(ifr_model_description, context_bytes_per_token);
  IFR_FIELD(ifr_model_description, has_tokenizer);
  IFR_FIELD(ifr_model_description, has_chat_form);
  IFR_FIELD(ifr_model_description, num_selecting_layers);
  IFR_FIELD(ifr_model_description, selection_block_tokens);
  IFR_FIELD(ifr_model_description, selection_max_blocks);
  IFR_FIELD(ifr_model_description, reserved);
  IFR_FIELD(ifr_model_description, architecture);
  IFR_FIELD(ifr_model_description, name);
}

void dump_sessions() {
  IFR_STRUCT(ifr_session_info);
  IFR_FIELD(ifr_session_info, struct_size);
  IFR_FIELD(ifr_session_info, context_tokens);
  IFR_STRUCT(ifr_session_status);
  IFR_FIELD(ifr_session_status, struct_size);
  IFR_FIELD(ifr_session_status, context_tokens);
  IFR_FIELD(ifr_session_status, used_tokens);
  IFR_FIELD(ifr_session_status, busy);
  IFR_STRUCT(ifr_sampling);
  IFR_FIELD(ifr_sampling, temperature);
  IFR_FIELD(ifr_sampling, top_p);
  IFR_FIELD(ifr_sampling, top_k);
  IFR_FIELD(ifr_sampling, use_seed);
  IFR_FIELD(ifr_sampling, seed);
  IFR_STRUCT(ifr_message);
  IFR_FIELD(ifr_message, struct_size);
  IFR_FIELD(ifr_message, role);
  IFR_FIELD(ifr_message, content);
  IFR_STRUCT(ifr_request_info);
  IFR_FIELD(ifr_request_info, struct_size);
  IFR_FIELD(ifr_request_info, flags);
  IFR_FIELD(ifr_request_info, token_ids);
  IFR_FIELD(ifr_request_info, num_token_ids);
  IFR_FIELD(ifr_request_info, text);
  IFR_FIELD(ifr_request_info, messages);
  IFR_FIELD(ifr_request_info, num_messages);
  IFR_FIELD(ifr_request_info, message_stride);
  IFR_FIELD(ifr_request_info, max_tokens);
  IFR_FIELD(ifr_request_info, reserved);
  IFR_FIELD(ifr_request_info, sampling);
}

void dump_events() {
  IFR_STRUCT(ifr_event);
  IFR_FIELD(ifr_event, struct_size);
  IFR_FIELD(ifr_event, type);
  IFR_FIELD(ifr_event, model);
  IFR_FIELD(ifr_event, session);
  IFR_FIELD(ifr_event, request);
  IFR_FIELD(ifr_event, token_id);
  IFR_FIELD(ifr_event, position);
  IFR_FIELD(ifr_event, certainty);
  IFR_FIELD(ifr_event, finish_reason);
  IFR_FIELD(ifr_event, result);
  IFR_FIELD(ifr_event, text_bytes);
  IFR_FIELD(ifr_event, raw_bytes);
  IFR_FIELD(ifr_event, text);
  IFR_FIELD(ifr_event, raw);
  IFR_FIELD(ifr_event, seed);
  IFR_FIELD(ifr_event, prompt_tokens);
  IFR_FIELD(ifr_event, generated_tokens);
  IFR_FIELD(ifr_event, first_token_us);
  IFR_FIELD(ifr_event, total_us);
}

void dump_telemetry() {
  IFR_STRUCT(ifr_telemetry);
  IFR_FIELD(ifr_telemetry, struct_size);
  IFR_FIELD(ifr_telemetry, num_active_requests);
  IFR_FIELD(ifr_telemetry, num_queued_requests);
  IFR_FIELD(ifr_telemetry, context_tokens);
  IFR_FIELD(ifr_telemetry, used_tokens);
  IFR_FIELD(ifr_telemetry, num_operators);
  IFR_FIELD(ifr_telemetry, model);
  IFR_FIELD(ifr_telemetry, session);
  IFR_FIELD(ifr_telemetry, time_ns);
  IFR_FIELD(ifr_telemetry, prompt_tokens);
  IFR_FIELD(ifr_telemetry, generated_tokens);
  IFR_FIELD(ifr_telemetry, steps);
  IFR_FIELD(ifr_telemetry, decode_tokens_per_second);
  IFR_FIELD(ifr_telemetry, prefill_tokens_per_second);
  IFR_FIELD(ifr_telemetry, first_token_ms);
  IFR_FIELD(ifr_telemetry, step_ms);
  IFR_FIELD(ifr_telemetry, memory_used_bytes);
  IFR_FIELD(ifr_telemetry, memory_budget_bytes);
  IFR_FIELD(ifr_telemetry, weight_bytes);
  IFR_FIELD(ifr_telemetry, cache_bytes);
  IFR_FIELD(ifr_telemetry, state_bytes);
  IFR_FIELD(ifr_telemetry, num_selection_rows);
  IFR_STRUCT(ifr_operator_record);
  IFR_FIELD(ifr_operator_record, struct_size);
  IFR_FIELD(ifr_operator_record, operator_idx);
  IFR_FIELD(ifr_operator_record, calls);
  IFR_FIELD(ifr_operator_record, total_ns);
  IFR_FIELD(ifr_operator_record, last_ns);
  IFR_FIELD(ifr_operator_record, max_ns);
  IFR_FIELD(ifr_operator_record, bytes);
  IFR_FIELD(ifr_operator_record, flops);
  IFR_FIELD(ifr_operator_record, name);
  IFR_STRUCT(ifr_selection_row);
  IFR_FIELD(ifr_selection_row, struct_size);
  IFR_FIELD(ifr_selection_row, layer);
  IFR_FIELD(ifr_selection_row, query_position);
  IFR_FIELD(ifr_selection_row, num_visible_blocks);
  IFR_FIELD(ifr_selection_row, num_blocks);
  IFR_FIELD(ifr_selection_row, reserved);
  IFR_FIELD(ifr_selection_row, sequence);
  IFR_STRUCT(ifr_selection_read);
  IFR_FIELD(ifr_selection_read, struct_size);
  IFR_FIELD(ifr_selection_read, layer);
  IFR_FIELD(ifr_selection_read, first_sequence);
  IFR_FIELD(ifr_selection_read, rows);
  IFR_FIELD(ifr_selection_read, row_stride);
  IFR_FIELD(ifr_selection_read, row_capacity);
  IFR_FIELD(ifr_selection_read, block_idx);
  IFR_FIELD(ifr_selection_read, scores);
  IFR_FIELD(ifr_selection_read, entry_capacity);
  IFR_FIELD(ifr_selection_read, num_rows);
  IFR_FIELD(ifr_selection_read, next_sequence);
  IFR_FIELD(ifr_selection_read, num_lost_rows);
}

void dump_table() {
  IFR_STRUCT(ifr_api);
  IFR_FIELD(ifr_api, struct_size);
  IFR_FIELD(ifr_api, abi_version);
  IFR_FIELD(ifr_api, version);
  IFR_FIELD(ifr_api, result_string);
  IFR_FIELD(ifr_api, backend_query);
  IFR_FIELD(ifr_api, runtime_create);
  IFR_FIELD(ifr_api, runtime_destroy);
  IFR_FIELD(ifr_api, last_error);
  IFR_FIELD(ifr_api, model_load);
  IFR_FIELD(ifr_api, model_status);
  IFR_FIELD(ifr_api, model_cancel);
  IFR_FIELD(ifr_api, model_release);
  IFR_FIELD(ifr_api, model_describe);
  IFR_FIELD(ifr_api, tokenize);
  IFR_FIELD(ifr_api, detokenize);
  IFR_FIELD(ifr_api, session_create);
  IFR_FIELD(ifr_api, session_destroy);
  IFR_FIELD(ifr_api, session_reset);
  IFR_FIELD(ifr_api, session_status);
  IFR_FIELD(ifr_api, session_tokens);
  IFR_FIELD(ifr_api, request_submit);
  IFR_FIELD(ifr_api, request_cancel);
  IFR_FIELD(ifr_api, poll);
  IFR_FIELD(ifr_api, telemetry_enable);
  IFR_FIELD(ifr_api, telemetry_read);
  IFR_FIELD(ifr_api, telemetry_operators);
  IFR_FIELD(ifr_api, telemetry_selections);
  IFR_FIELD(ifr_api, model_selecting_layers);
}

TEST(AbiLayout, EqualsTheGolden) {
  dump.str("");
  dump_results();
  dump_runtime();
  dump_models();
  dump_sessions();
  dump_events();
  dump_telemetry();
  dump_table();
  const std::string path = IFR_SOURCE_DIR "/tests/golden/abi/layout.txt";
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  const std::string actual = IFR_BINARY_DIR "/abi_layout.txt";
  std::ofstream(actual) << dump.str();
  EXPECT_EQ(golden.str(), dump.str())
      << "the ABI's layout changed: if that is meant, copy " << actual << " to " << path;
}

template <typename A, typename B>
void expect_same(A internal, B value) {
  EXPECT_EQ(static_cast<int64_t>(internal), static_cast<int64_t>(value));
}

TEST(AbiConstants, EqualTheInternalOnes) {
  using ifr::Code;
  using ifr::Part;
  expect_same(Code::kOk, IFR_OK);
  expect_same(Code::kInvalidArgument, IFR_ERROR_INVALID_ARGUMENT);
  expect_same(Code::kInvalidState, IFR_ERROR_INVALID_STATE);
  expect_same(Code::kNotFound, IFR_ERROR_NOT_FOUND);
  expect_same(Code::kInvalidFile, IFR_ERROR_INVALID_FILE);
  expect_same(Code::kUnsupported, IFR_ERROR_UNSUPPORTED);
  expect_same(Code::kOutOfMemory, IFR_ERROR_OUT_OF_MEMORY);
  expect_same(Code::kOverBudget, IFR_ERROR_OVER_BUDGET);
  expect_same(Code::kContextFull, IFR_ERROR_CONTEXT_FULL);
  expect_same(Code::kCancelled, IFR_ERROR_CANCELLED);
  expect_same(Code::kIo, IFR_ERROR_IO);
  expect_same(Code::kDeviceLost, IFR_ERROR_DEVICE_LOST);
  expect_same(Code::kInternal, IFR_ERROR_INTERNAL);
  expect_same(Code::kInvalidHandle, IFR_ERROR_INVALID_HANDLE);
  expect_same(Part::kNone, IFR_PART_NONE);
  expect_same(Part::kAbi, IFR_PART_ABI);
  expect_same(Part::kBase, IFR_PART_BASE);
  expect_same(Part::kModel, IFR_PART_MODEL);
  expect_same(Part::kTokenizer, IFR_PART_TOKENIZER);
  expect_same(Part::kEngine, IFR_PART_ENGINE);
  expect_same(Part::kSchedule, IFR_PART_SCHEDULE);
  expect_same(Part::kMemory, IFR_PART_MEMORY);
  expect_same(Part::kInterop, IFR_PART_INTEROP);
  expect_same(Part::kTelemetry, IFR_PART_TELEMETRY);
  expect_same(Part::kKernels, IFR_PART_KERNELS);
}

TEST(AbiConstants, OfEventsEqualTheInternalOnes) {
  using ifr::Certainty;
  using ifr::EventType;
  using ifr::FinishReason;
  using ifr::LogLevel;
  using ifr::ModelState;
  expect_same(EventType::kToken, IFR_EVENT_TOKEN);
  expect_same(EventType::kFinished, IFR_EVENT_FINISHED);
  expect_same(EventType::kModelReady, IFR_EVENT_MODEL_READY);
  expect_same(EventType::kModelFailed, IFR_EVENT_MODEL_FAILED);
  expect_same(Certainty::kFinal, IFR_TEXT_FINAL);
  expect_same(Certainty::kTentative, IFR_TEXT_TENTATIVE);
  expect_same(Certainty::kDone, IFR_TEXT_DONE);
  expect_same(FinishReason::kEndToken, IFR_FINISH_END_TOKEN);
  expect_same(FinishReason::kMaxTokens, IFR_FINISH_MAX_TOKENS);
  expect_same(FinishReason::kContext, IFR_FINISH_CONTEXT);
  expect_same(FinishReason::kCancelled, IFR_FINISH_CANCELLED);
  expect_same(FinishReason::kError, IFR_FINISH_ERROR);
  expect_same(LogLevel::kDebug, IFR_LOG_DEBUG);
  expect_same(LogLevel::kInfo, IFR_LOG_INFO);
  expect_same(LogLevel::kWarning, IFR_LOG_WARNING);
  expect_same(LogLevel::kError, IFR_LOG_ERROR);
  expect_same(ModelState::kLoading, IFR_MODEL_LOADING);
  expect_same(ModelState::kReady, IFR_MODEL_READY);
  expect_same(ModelState::kFailed, IFR_MODEL_FAILED);
  expect_same(ifr::Backend::kCpu, IFR_BACKEND_CPU);
  expect_same(ifr::Backend::kCuda, IFR_BACKEND_CUDA);
  expect_same(ifr::kEventTextCapacity, IFR_EVENT_TEXT_CAPACITY);
}

}  // namespace
