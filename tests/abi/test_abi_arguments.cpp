// SPDX-License-Identifier: Apache-2.0
// Wrong arguments of every function (case L04): a code, a fitting sentence, outputs untouched.
#include <algorithm>

#include "abi/arguments_fixture.h"

namespace ifr::test {
namespace {

// Every function of a runtime, called with plausible arguments on `runtime`.
std::vector<std::pair<const char*, ifr_result>> call_all(const ifr_api& api, ifr_runtime* runtime,
                                                         ifr_model model, ifr_session session,
                                                         ifr_request request) {
  uint64_t count = 0;
  uint32_t count32 = 0;
  int32_t id = 0;
  char text[64];
  const std::string path = "nowhere.gguf";
  auto model_info = make<ifr_model_info>();
  model_info.path = to_string(path);
  auto status = make<ifr_model_status>();
  auto description = make<ifr_model_description>();
  auto session_info = make<ifr_session_info>();
  auto session_status = make<ifr_session_status>();
  const std::vector<int32_t> ids = {1};
  const ifr_request_info request_info = AbiHost::request_info(ids, 1);
  ifr_event event;
  auto telemetry = make<ifr_telemetry>();
  auto read = make<ifr_selection_read>();
  read.layer = 3;
  ifr_model new_model = 0;
  ifr_session new_session = 0;
  ifr_request new_request = 0;
  return {
      {"last_error", api.last_error(runtime, text, sizeof text, &count)},
      {"model_load", api.model_load(runtime, &model_info, &new_model)},
      {"model_status", api.model_status(runtime, model, &status)},
      {"model_cancel", api.model_cancel(runtime, model)},
      {"model_describe", api.model_describe(runtime, model, &description)},
      {"tokenize", api.tokenize(runtime, model, to_string(path), 0, nullptr, 0, &count)},
      {"detokenize", api.detokenize(runtime, model, &id, 1, nullptr, 0, &count)},
      {"selecting_layers", api.model_selecting_layers(runtime, model, nullptr, 0, &count32)},
      {"session_create", api.session_create(runtime, model, &session_info, &new_session)},
      {"session_status", api.session_status(runtime, session, &session_status)},
      {"session_reset", api.session_reset(runtime, session)},
      {"session_tokens", api.session_tokens(runtime, session, 0, &id, 1, &count32)},
      {"request_submit", api.request_submit(runtime, session, &request_info, &new_request)},
      {"request_cancel", api.request_cancel(runtime, request)},
      {"poll", api.poll(runtime, &event, sizeof event, 1, &count32)},
      {"telemetry_enable", api.telemetry_enable(runtime, 1)},
      {"telemetry_read", api.telemetry_read(runtime, &telemetry)},
      {"telemetry_operators", api.telemetry_operators(runtime, nullptr, 0, 0, &count32)},
      {"telemetry_selections", api.telemetry_selections(runtime, session, &read)},
      {"session_destroy", api.session_destroy(runtime, session)},
      {"model_release", api.model_release(runtime, model)},
  };
}

TEST_F(AbiArguments, ARuntimeThatIsNone) {
  for (const auto& [name, result] : call_all(api, nullptr, model, session, 1)) {
    EXPECT_EQ(result.code, IFR_ERROR_INVALID_ARGUMENT) << name;
  }
  int on_stack = 0;
  ifr_runtime* destroyed = nullptr;
  auto info = make<ifr_runtime_info>();
  info.num_threads = 1;
  ASSERT_EQ(api.runtime_create(&info, &destroyed).code, IFR_OK);
  ASSERT_EQ(api.runtime_destroy(destroyed).code, IFR_OK);
  ifr_runtime* later = nullptr;  // takes the place of the destroyed one
  ASSERT_EQ(api.runtime_create(&info, &later).code, IFR_OK);
  EXPECT_NE(later, destroyed);
  for (ifr_runtime* wrong :
       {reinterpret_cast<ifr_runtime*>(&on_stack), destroyed,
        reinterpret_cast<ifr_runtime*>(uintptr_t{1}), reinterpret_cast<ifr_runtime*>(~uintptr_t{0}),
        reinterpret_cast<ifr_runtime*>(reinterpret_cast<uintptr_t>(later) ^ 2U)}) {
    for (const auto& [name, result] : call_all(api, wrong, model, session, 1)) {
      EXPECT_EQ(result.code, IFR_ERROR_INVALID_HANDLE) << name;
    }
    EXPECT_EQ(api.runtime_destroy(wrong).code, IFR_ERROR_INVALID_HANDLE);
  }
  EXPECT_EQ(api.runtime_destroy(later).code, IFR_OK);
  EXPECT_EQ(api.runtime_destroy(nullptr).code, IFR_OK);
}

TEST_F(AbiArguments, HandlesThatAreNone) {
  AbiHost other(api);
  const ifr_model other_model = other.load();
  const ifr_session other_session = other.session(other_model, 64);
  const ifr_request request = host.submit(session, {1}, 1);
  (void)host.finish(request);
  const ifr_session closed = host.session(model, 64);
  ASSERT_EQ(api.session_destroy(runtime, closed).code, IFR_OK);
  const ifr_model released = host.load();
  ASSERT_EQ(api.model_release(runtime, released).code, IFR_OK);

  struct Wrong {
    ifr_model model;
    ifr_session session;
    ifr_request request;
    const char* text;
  };
  const Wrong wrongs[] = {
      {0, 0, 0, "is 0"},
      {session, model, session, ", not a "},
      {other_model, other_session, (uint64_t{3} << 60U) | (other_model & 0x0FFFF00000000000U),
       "another runtime"},
      {released, closed, request, "closed"},
      {model ^ 1U, session ^ 1U, request ^ 7U, "closed"},
      {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, "no runtime gives out"},
  };
  for (const Wrong& wrong : wrongs) {
    uint64_t count = 0;
    uint32_t count32 = 0;
    int32_t id = 0;
    auto status = make<ifr_model_status>();
    auto description = make<ifr_model_description>();
    auto info = make<ifr_session_info>();
    auto session_status = make<ifr_session_status>();
    auto read = make<ifr_selection_read>();
    read.layer = 3;
    ifr_session made = 77;
    const auto bad = [&](ifr_result result) {
      refused(result, IFR_ERROR_INVALID_HANDLE, wrong.text);
    };
    bad(api.model_status(runtime, wrong.model, &status));
    bad(api.model_cancel(runtime, wrong.model));
    bad(api.model_release(runtime, wrong.model));
    bad(api.model_describe(runtime, wrong.model, &description));
    bad(api.tokenize(runtime, wrong.model, {"a", 1}, 0, nullptr, 0, &count));
    bad(api.detokenize(runtime, wrong.model, &id, 1, nullptr, 0, &count));
    bad(api.model_selecting_layers(runtime, wrong.model, nullptr, 0, &count32));
    bad(api.session_create(runtime, wrong.model, &info, &made));
    EXPECT_EQ(made, 77U);
    bad(api.session_destroy(runtime, wrong.session));
    bad(api.session_reset(runtime, wrong.session));
    bad(api.session_status(runtime, wrong.session, &session_status));
    bad(api.session_tokens(runtime, wrong.session, 0, &id, 1, &count32));
    bad(api.telemetry_selections(runtime, wrong.session, &read));
    const std::vector<int32_t> ids = {1};
    const ifr_request_info request_info = AbiHost::request_info(ids, 1);
    ifr_request submitted = 77;
    bad(api.request_submit(runtime, wrong.session, &request_info, &submitted));
    EXPECT_EQ(submitted, 77U);
    bad(api.request_cancel(runtime, wrong.request));
  }
  EXPECT_EQ(host.run(session, {2}, 3).size(), 3U);
}

TEST_F(AbiArguments, NullPointers) {
  uint64_t count = 0;
  uint32_t count32 = 0;
  int32_t id = 0;
  const std::vector<int32_t> ids = {1};
  const ifr_request_info request_info = AbiHost::request_info(ids, 1);
  auto model_info = make<ifr_model_info>();
  model_info.path = {"x", 1};
  auto session_info = make<ifr_session_info>();
  ifr_model made_model = 0;
  ifr_session made_session = 0;
  ifr_request made_request = 0;
  invalid(api.last_error(runtime, nullptr, 10, &count), "text is null");
  invalid(api.model_load(runtime, nullptr, &made_model), "info is null");
  invalid(api.model_load(runtime, &model_info, nullptr), "out_model is null");
  invalid(api.model_status(runtime, model, nullptr), "out_status is null");
  invalid(api.model_describe(runtime, model, nullptr), "out_description is null");
  invalid(api.tokenize(runtime, model, {"a", 1}, 0, nullptr, 5, &count), "ids is null");
  invalid(api.tokenize(runtime, model, {"a", 1}, 0, nullptr, 0, nullptr), "out_count is null");
  invalid(api.tokenize(runtime, model, {nullptr, 1}, 0, nullptr, 0, &count), "text is null");
  invalid(api.detokenize(runtime, model, nullptr, 1, nullptr, 0, &count), "ids is null");
  invalid(api.detokenize(runtime, model, &id, 1, nullptr, 1, &count), "text is null");
  invalid(api.detokenize(runtime, model, &id, 1, nullptr, 0, nullptr), "out_bytes is null");
  invalid(api.model_selecting_layers(runtime, model, nullptr, 1, &count32), "layers is null");
  invalid(api.model_selecting_layers(runtime, model, &id, 1, nullptr), "out_count is null");
  invalid(api.session_create(runtime, model, nullptr, &made_session), "info is null");
  invalid(api.session_create(runtime, model, &session_info, nullptr), "out_session is null");
  invalid(api.session_status(runtime, session, nullptr), "out_status is null");
  invalid(api.session_tokens(runtime, session, 0, nullptr, 1, &count32), "ids is null");
  invalid(api.session_tokens(runtime, session, 0, &id, 1, nullptr), "out_count is null");
  invalid(api.request_submit(runtime, session, nullptr, &made_request), "info is null");
  invalid(api.request_submit(runtime, session, &request_info, nullptr), "out_request is null");
  invalid(api.poll(runtime, nullptr, sizeof(ifr_event), 1, &count32), "events is null");
  ifr_event event;
  invalid(api.poll(runtime, &event, sizeof event, 1, nullptr), "out_count is null");
  invalid(api.telemetry_read(runtime, nullptr), "out_telemetry is null");
  invalid(api.telemetry_operators(runtime, nullptr, sizeof(ifr_operator_record), 1, &count32),
          "records is null");
  invalid(api.telemetry_operators(runtime, nullptr, 0, 0, nullptr), "out_count is null");
  invalid(api.telemetry_selections(runtime, session, nullptr), "inout_read is null");
  // Null is right where there is nothing.
  EXPECT_EQ(api.poll(runtime, nullptr, sizeof(ifr_event), 0, &count32).code, IFR_OK);
  EXPECT_EQ(api.session_tokens(runtime, session, 0, nullptr, 0, &count32).code, IFR_OK);
  EXPECT_EQ(api.last_error(runtime, nullptr, 0, &count).code, IFR_OK);
  EXPECT_GT(count, 0U);
}

TEST_F(AbiArguments, OfRuntimeCreate) {
  char reason[200];
  const auto create_fails = [&](const std::function<void(ifr_runtime_info&)>& change,
                                const std::string& text) {
    auto info = make<ifr_runtime_info>();
    info.error_text = reason;
    info.error_capacity = sizeof reason;
    std::memset(reason, 'x', sizeof reason);
    change(info);
    auto* made = reinterpret_cast<ifr_runtime*>(uintptr_t{88});
    EXPECT_EQ(api.runtime_create(&info, &made).code, IFR_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(made, reinterpret_cast<ifr_runtime*>(uintptr_t{88}));
    reason[sizeof reason - 1] = '\0';
    EXPECT_NE(std::string(reason).find(text), std::string::npos) << reason;
  };
  create_fails([](ifr_runtime_info& i) { i.backend = 999; }, "info.backend is 999");
  create_fails([](ifr_runtime_info& i) { i.backend = -1; }, "info.backend is -1");
  create_fails([](ifr_runtime_info& i) { i.thread_priority = 999; }, "thread_priority is 999");
  create_fails([](ifr_runtime_info& i) { i.log_level = 4; }, "log_level is 4");
  create_fails([](ifr_runtime_info& i) { i.num_threads = -1; }, "num_threads is -1");
  create_fails([](ifr_runtime_info& i) { i.num_threads = 257; }, "num_threads is 257");
  create_fails([](ifr_runtime_info& i) { i.event_capacity = 15; }, "event_capacity is 15");
  create_fails([](ifr_runtime_info& i) { i.event_capacity = 1048577; }, "event_capacity");
  auto info = make<ifr_runtime_info>();
  EXPECT_EQ(api.runtime_create(&info, nullptr).code, IFR_ERROR_INVALID_ARGUMENT);
  ifr_runtime* made = nullptr;
  EXPECT_EQ(api.runtime_create(nullptr, &made).code, IFR_ERROR_INVALID_ARGUMENT);
  info.struct_size = 3;
  EXPECT_EQ(api.runtime_create(&info, &made).code, IFR_ERROR_INVALID_ARGUMENT);
  // A reason that does not fit is cut and ended.
  info = make<ifr_runtime_info>();
  info.num_threads = 300;
  info.error_text = reason;
  info.error_capacity = 8;
  std::memset(reason, 'x', sizeof reason);
  EXPECT_EQ(api.runtime_create(&info, &made).code, IFR_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(reason, "num_thr");
  EXPECT_EQ(reason[8], 'x');
}

TEST_F(AbiArguments, SizesOfStructs) {
  // Too small and absurd sizes; a longer struct with zeros and with something behind.
  struct {
    ifr_session_info info;
    uint32_t later[4];
  } longer;
  std::memset(&longer, 0, sizeof longer);
  longer.info.struct_size = sizeof longer;
  longer.info.context_tokens = 32;
  ifr_session made = 0;
  EXPECT_EQ(api.session_create(runtime, model, &longer.info, &made).code, IFR_OK);
  longer.later[3] = 1;
  invalid(api.session_create(runtime, model, &longer.info, &made), "is not zero");
  for (const uint32_t size : {0U, 3U, 4097U, ~0U}) {
    longer.info.struct_size = size;
    invalid(api.session_create(runtime, model, &longer.info, &made),
            "struct_size is " + std::to_string(size));
  }
  // Missing fields are zero: the default context.
  auto small = make<ifr_session_info>();
  small.struct_size = 4;
  small.context_tokens = 7;
  ASSERT_EQ(api.session_create(runtime, model, &small, &made).code, IFR_OK);
  auto status = make<ifr_session_status>();
  ASSERT_EQ(api.session_status(runtime, made, &status).code, IFR_OK);
  EXPECT_EQ(status.context_tokens, 4096);
  // Nothing is written past a host's smaller struct.
  std::memset(&status, 0x5A, sizeof status);
  status.struct_size = offsetof(ifr_session_status, used_tokens);
  ASSERT_EQ(api.session_status(runtime, made, &status).code, IFR_OK);
  EXPECT_EQ(status.context_tokens, 4096);
  EXPECT_EQ(status.used_tokens, 0x5A5A5A5A);
  // Nor into the tail of a larger one.
  struct {
    ifr_session_status status;
    uint32_t later;
  } larger;
  std::memset(&larger, 0x5A, sizeof larger);
  larger.status.struct_size = sizeof larger;
  ASSERT_EQ(api.session_status(runtime, made, &larger.status).code, IFR_OK);
  EXPECT_EQ(larger.later, 0x5A5A5A5AU);
  EXPECT_EQ(larger.status.struct_size, sizeof larger);
}

TEST_F(AbiArguments, Strides) {
  ifr_event event;
  uint32_t count = 0;
  for (const uint32_t stride : {0U, 4U, static_cast<uint32_t>(sizeof(ifr_event)) - 1, ~0U}) {
    invalid(api.poll(runtime, &event, stride, 1, &count), "event_stride");
  }
  std::vector<ifr_operator_record> records(64);
  invalid(api.telemetry_operators(runtime, records.data(), 16, 64, &count), "record_stride");
  invalid(api.telemetry_operators(runtime, records.data(), sizeof records[0], 2, &count),
          "capacity is 2");
  auto read = make<ifr_selection_read>();
  ifr_selection_row row;
  read.layer = 3;
  read.rows = &row;
  read.row_capacity = 1;
  read.row_stride = 8;
  invalid(api.telemetry_selections(runtime, session, &read), "row_stride");
  // A wider stride leaves the host's own bytes alone.
  struct Wide {
    ifr_operator_record record;
    uint64_t mine;
  };
  std::vector<Wide> wide(64);
  for (Wide& entry : wide) {
    entry.mine = 42;
  }
  ASSERT_EQ(api.telemetry_operators(runtime, &wide[0].record, sizeof(Wide), 64, &count).code,
            IFR_OK);
  EXPECT_GT(count, 10U);
  EXPECT_STREQ(wide[1].record.name, "rms_norm");
  EXPECT_EQ(wide[1].record.struct_size, sizeof(ifr_operator_record));
  EXPECT_TRUE(std::all_of(wide.begin(), wide.end(), [](const Wide& e) { return e.mine == 42; }));
}

}  // namespace
}  // namespace ifr::test
