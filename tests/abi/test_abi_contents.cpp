// SPDX-License-Identifier: Apache-2.0
// Wrong contents of requests, messages, paths and garbage (case L04, second half).
#include <limits>
#include <random>

#include "abi/arguments_fixture.h"

namespace ifr::test {
namespace {

TEST_F(AbiArguments, OfRequests) {
  const std::vector<int32_t> ids = {1, 2, 3};
  ifr_request made = 55;
  const auto bad = [&](const std::function<void(ifr_request_info&)>& change,
                       const std::string& text, int32_t code = IFR_ERROR_INVALID_ARGUMENT) {
    ifr_request_info info = AbiHost::request_info(ids, 4);
    change(info);
    refused(api.request_submit(runtime, session, &info, &made), code, text);
    EXPECT_EQ(made, 55U);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bad([](ifr_request_info& i) { i.flags = 999; }, "flags 0x3e7");
  bad([](ifr_request_info& i) { i.reserved = 1; }, "reserved");
  bad([](ifr_request_info& i) { i.max_tokens = 0; }, "max_tokens is 0");
  bad([](ifr_request_info& i) { i.max_tokens = -5; }, "max_tokens is -5");
  bad([](ifr_request_info& i) { i.sampling.use_seed = 2; }, "use_seed is 2");
  bad([&](ifr_request_info& i) { i.sampling.temperature = nan; }, "temperature");
  bad([](ifr_request_info& i) { i.sampling.temperature = -0.5F; }, "temperature");
  bad([](ifr_request_info& i) { i.sampling.top_k = -1; }, "top_k");
  bad([](ifr_request_info& i) { i.sampling.top_p = 1.5F; }, "top_p");
  bad([](ifr_request_info& i) { i.sampling.top_p = -0.1F; }, "top_p");
  bad([](ifr_request_info& i) { i.token_ids = nullptr; }, "token_ids is null");
  bad([](ifr_request_info& i) { i.num_token_ids = 0; }, "empty");
  bad([](ifr_request_info& i) { i.num_token_ids = uint64_t{1} << 63U; }, "9223372036854775809",
      IFR_ERROR_CONTEXT_FULL);
  bad([](ifr_request_info& i) { i.num_token_ids = ~uint64_t{0}; }, "are available",
      IFR_ERROR_CONTEXT_FULL);
  bad([](ifr_request_info& i) { i.text = {"a", 1}; }, "2 of token_ids");
  bad(
      [](ifr_request_info& i) {
        i.token_ids = nullptr;
        i.num_token_ids = 0;
      },
      "0 of token_ids");
  const std::vector<int32_t> wrong_ids = {0, 256};
  bad(
      [&](ifr_request_info& i) {
        i.token_ids = wrong_ids.data();
        i.num_token_ids = 2;
      },
      "token_ids[1] is 256");
  const auto text_of = [](ifr_string text) {
    return [text](ifr_request_info& i) {
      i.token_ids = nullptr;
      i.num_token_ids = 0;
      i.text = text;
    };
  };
  bad(text_of({"a\xFF", 2}), "not UTF-8 at byte 1");
  bad(text_of({"a", uint64_t{1} << 63U}), "9223372036854775808 bytes");
  bad(text_of({nullptr, 3}), "text is null");
  bad(text_of({"abc", 3}), "no tokenizer", IFR_ERROR_UNSUPPORTED);
  EXPECT_EQ(host.run(session, ids, 2).size(), 2U);
}

TEST_F(AbiArguments, OfMessages) {
  auto message = make<ifr_message>();
  message.role = IFR_ROLE_USER;
  message.content = {"hi", 2};
  auto info = make<ifr_request_info>();
  info.messages = &message;
  info.num_messages = 1;
  info.message_stride = sizeof message;
  info.max_tokens = 1;
  ifr_request made = 0;
  const auto submit = [&] { return api.request_submit(runtime, session, &info, &made); };
  refused(submit(), IFR_ERROR_UNSUPPORTED, "no tokenizer");
  message.role = 999;
  invalid(submit(), "role is 999");
  message.role = IFR_ROLE_USER;
  message.content = {"\xC3(", 2};
  invalid(submit(), "not UTF-8 at byte 0");
  message.content = {"hi", 2};
  message.struct_size = sizeof message + 8;
  invalid(submit(), "above message_stride");
  message.struct_size = sizeof message;
  info.message_stride = 8;
  invalid(submit(), "message_stride is 8");
  info.message_stride = sizeof message;
  info.num_messages = 1'000'000;
  invalid(submit(), "num_messages is 1000000");
  info.num_messages = 1;
  info.messages = nullptr;
  invalid(submit(), "messages is null");
}

TEST_F(AbiArguments, Paths) {
  const auto load_fails = [&](ifr_string path, const std::string& text) {
    auto info = make<ifr_model_info>();
    info.path = path;
    ifr_model made = 66;
    invalid(api.model_load(runtime, &info, &made), text);
    EXPECT_EQ(made, 66U);
  };
  load_fails({nullptr, 0}, "path is empty");
  load_fails({"", 0}, "path is empty");
  load_fails({nullptr, 4}, "path is null");
  load_fails({"a\0b", 3}, "NUL");
  load_fails({"\xED\xA0\x80", 3}, "not UTF-8");
  load_fails({"x", uint64_t{1} << 63U}, "bytes");
  // What only the file system knows comes as an event.
  const std::pair<const char*, int32_t> missing[] = {
      {"/nowhere/model.gguf", IFR_ERROR_NOT_FOUND},
      {IFR_SOURCE_DIR "/tests", 0},
      {"/dev/null", 0},
  };
  for (const auto& [path, code] : missing) {
    const ifr_model failed = host.begin_load(path);
    ASSERT_TRUE(host.wait([&, failed = failed] { return host.model_events.contains(failed); }));
    EXPECT_EQ(host.model_events[failed].type, IFR_EVENT_MODEL_FAILED) << path;
    auto status = make<ifr_model_status>();
    ASSERT_EQ(api.model_status(runtime, failed, &status).code, IFR_OK);
    EXPECT_EQ(status.state, IFR_MODEL_FAILED);
    EXPECT_NE(status.result.code, IFR_OK);
    if (code != 0) {
      EXPECT_EQ(status.result.code, code);
    }
    EXPECT_NE(std::string(status.message).find(path), std::string::npos) << status.message;
    auto info = make<ifr_session_info>();
    ifr_session made = 0;
    refused(api.session_create(runtime, failed, &info, &made), IFR_ERROR_INVALID_STATE,
            "failed to load");
    EXPECT_EQ(api.model_release(runtime, failed).code, IFR_OK);
  }
}

TEST_F(AbiArguments, OfSessionsAndTelemetry) {
  auto info = make<ifr_session_info>();
  ifr_session made = 0;
  for (const int32_t context :
       {-1, 4097, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    info.context_tokens = context;
    invalid(api.session_create(runtime, model, &info, &made),
            "context_tokens is " + std::to_string(context));
  }
  int32_t id = 0;
  uint32_t count = 0;
  invalid(api.session_tokens(runtime, session, -1, &id, 1, &count), "first is -1");
  ASSERT_EQ(api.session_tokens(runtime, session, 1'000'000, &id, 1, &count).code, IFR_OK);
  EXPECT_EQ(count, 0U);
  invalid(api.telemetry_enable(runtime, 2), "enabled is 2");
  invalid(api.telemetry_enable(runtime, -1), "enabled is -1");
  for (const int32_t layer : {-1, 0, 4, 999}) {
    auto read = make<ifr_selection_read>();
    read.layer = layer;
    invalid(api.telemetry_selections(runtime, session, &read), "does not select");
  }
  uint64_t num_ids = 0;
  refused(api.tokenize(runtime, model, {"a", 1}, 0, nullptr, 0, &num_ids), IFR_ERROR_UNSUPPORTED,
          "no tokenizer");
  invalid(api.tokenize(runtime, model, {"a", 1}, 999, nullptr, 0, &num_ids), "flags is 999");
  invalid(api.detokenize(runtime, model, &id, uint64_t{1} << 63U, nullptr, 0, &num_ids), "num_ids");
  auto backend = make<ifr_backend_info>();
  EXPECT_EQ(api.backend_query(999, &backend).code, IFR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(api.backend_query(0, nullptr).code, IFR_ERROR_INVALID_ARGUMENT);
  backend.struct_size = 0;
  EXPECT_EQ(api.backend_query(0, &backend).code, IFR_ERROR_INVALID_ARGUMENT);
}

TEST_F(AbiArguments, GarbageStructs) {
  // Random bytes as every input struct, room for the largest struct_size behind them; pointers in
  // them are null or good, as a checker cannot know more.
  std::mt19937 random(7);
  std::vector<uint64_t> bytes(1024);
  const std::vector<int32_t> ids(64, 1);
  for (int32_t round = 0; round < 3000; ++round) {
    for (uint64_t& word : bytes) {
      word = (static_cast<uint64_t>(random()) << 32U) | random();
    }
    const auto size = static_cast<uint32_t>(random() % 256);
    const bool is_zero_tail = random() % 2 == 0;
    auto* words = reinterpret_cast<unsigned char*>(bytes.data());
    if (is_zero_tail) {
      std::memset(words + 16, 0, 8192 - 16);
    }
    std::memcpy(words, &size, sizeof size);
    ifr_session made = 0;
    auto* session_info = reinterpret_cast<ifr_session_info*>(words);
    session_info->context_tokens %= 64;
    if (api.session_create(runtime, model, session_info, &made).code == IFR_OK) {
      ASSERT_EQ(api.session_destroy(runtime, made).code, IFR_OK);
    }
    auto* request_info = reinterpret_cast<ifr_request_info*>(words);
    request_info->token_ids = random() % 2 == 0 ? ids.data() : nullptr;
    request_info->num_token_ids %= 64;
    request_info->text = {};
    request_info->messages = nullptr;
    ifr_request request = 0;
    if (api.request_submit(runtime, session, request_info, &request).code == IFR_OK) {
      (void)api.request_cancel(runtime, request);
      (void)host.finish(request);
      (void)api.session_reset(runtime, session);
    }
    auto* model_info = reinterpret_cast<ifr_model_info*>(words);
    model_info->path = {nullptr, random() % 3};
    ifr_model loaded = 0;
    EXPECT_EQ(api.model_load(runtime, model_info, &loaded).code, IFR_ERROR_INVALID_ARGUMENT);
    auto* read = reinterpret_cast<ifr_selection_read*>(words);
    read->rows = nullptr;
    read->block_idx = nullptr;
    read->scores = nullptr;
    (void)api.telemetry_selections(runtime, session, read);
  }
  EXPECT_EQ(host.run(session, {2}, 3).size(), 3U);
}

}  // namespace
}  // namespace ifr::test
