// SPDX-License-Identifier: Apache-2.0
// Usage of interframe.hpp: on the micro model, and as a chat on SmolLM2 where its file is given.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <interframe/interframe.hpp>
#include <string>
#include <thread>

namespace {

using interframe::Result;

constexpr const char* kMicroPath = IFR_SOURCE_DIR "/assets/micro";

Result<interframe::Runtime> start(const interframe::Library& library) {
  auto info = interframe::make<ifr_runtime_info>();
  info.num_threads = 2;
  return interframe::Runtime::create(library, info);
}

struct Answer {
  std::string text;
  std::string texts_of_raw;
  std::vector<int32_t> ids;
  ifr_event end = {};
};

// Polls until FINISHED or a model's event.
Answer collect(interframe::Runtime& runtime) {
  Answer answer;
  std::array<ifr_event, 16> events{};
  for (;;) {
    const Result<uint32_t> count = runtime.poll(events);
    if (!count) {
      ADD_FAILURE() << count.error().message;
      return answer;
    }
    for (uint32_t i = 0; i < *count; ++i) {
      answer.text += interframe::text_of(events[i]);
      if (events[i].type != IFR_EVENT_TOKEN) {
        answer.end = events[i];
        return answer;
      }
      answer.ids.push_back(events[i].token_id);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(InterframeHpp, usage_generate) {
  const Result<interframe::Library> library = interframe::Library::open(IFR_LIBRARY_PATH);
  ASSERT_TRUE(library) << library.error().message;
  Result<interframe::Runtime> runtime = start(*library);
  ASSERT_TRUE(runtime) << runtime.error().message;
  const Result<interframe::Model> model = runtime->load_model(kMicroPath);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(collect(*runtime).end.type, IFR_EVENT_MODEL_READY);
  Result<interframe::Session> session = model->create_session();
  ASSERT_TRUE(session) << session.error().message;
  const std::array<int32_t, 3> prompt = {1, 2, 3};
  const Result<interframe::Request> request = session->submit_ids(prompt, {.max_tokens = 5});
  ASSERT_TRUE(request) << request.error().message;
  const Answer answer = collect(*runtime);
  EXPECT_EQ(answer.end.request, request->handle());
  EXPECT_LE(answer.ids.size(), 5U);
  const Result<std::vector<int32_t>> layers = model->selecting_layers();
  ASSERT_TRUE(layers);
  EXPECT_EQ(*layers, std::vector<int32_t>{3});
  std::array<ifr_operator_record, 64> records{};
  const Result<uint32_t> count = runtime->operators(records);
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_GT(*count, 10U);
}

TEST(InterframeHpp, usage_errors) {
  EXPECT_FALSE(interframe::Library::open("/nowhere/libinterframe.so"));
  const Result<interframe::Library> library = interframe::Library::open(IFR_LIBRARY_PATH);
  ASSERT_TRUE(library);
  auto info = interframe::make<ifr_runtime_info>();
  info.num_threads = -3;
  const Result<interframe::Runtime> refused = interframe::Runtime::create(*library, info);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().result.code, IFR_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(refused.error().message.find("num_threads is -3"), std::string::npos);
  const Result<ifr_backend_info> backend = library->query_backend(IFR_BACKEND_CPU);
  ASSERT_TRUE(backend);
  EXPECT_EQ(backend->available, 1);
  EXPECT_FALSE(library->query_backend(999));

  Result<interframe::Runtime> runtime = start(*library);
  Result<interframe::Model> model = runtime->load_model("/nowhere/model.gguf");
  ASSERT_TRUE(model);
  const ifr_event end = collect(*runtime).end;
  EXPECT_EQ(end.type, IFR_EVENT_MODEL_FAILED);
  const Result<ifr_model_status> status = model->status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->result.code, IFR_ERROR_NOT_FOUND);
  const Result<interframe::Session> session = model->create_session();
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().result.code, IFR_ERROR_INVALID_STATE);
  EXPECT_NE(session.error().message.find("/nowhere/model.gguf"), std::string::npos);
  // Owners move; the moved-from one closes nothing.
  interframe::Model moved = std::move(*model);
  EXPECT_EQ(model->handle(), 0U);
  EXPECT_TRUE(moved.status());
  EXPECT_TRUE(moved.cancel());
}

class SmolLm2 : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("IFR_SMOLLM2");
    if (path == nullptr) {
      GTEST_SKIP() << "set IFR_SMOLLM2 to the path of SmolLM2-135M-Instruct.Q4_1.gguf";
    }
    library.emplace(interframe::Library::open(IFR_LIBRARY_PATH));
    ASSERT_TRUE(*library) << library->error().message;
    runtime.emplace(start(**library));
    ASSERT_TRUE(*runtime);
    model.emplace((*runtime)->load_model(path));
    ASSERT_TRUE(*model);
    ASSERT_EQ(collect(**runtime).end.type, IFR_EVENT_MODEL_READY);
  }

  std::optional<Result<interframe::Library>> library;
  std::optional<Result<interframe::Runtime>> runtime;
  std::optional<Result<interframe::Model>> model;
};

TEST_F(SmolLm2, usage_chat) {
  Result<interframe::Session> session = (*model)->create_session(1024);
  ASSERT_TRUE(session) << session.error().message;
  const std::array<interframe::Message, 1> first = {
      {{IFR_ROLE_USER, "Name the capital of France."}}};
  ASSERT_TRUE(session->submit_messages(first, {.max_tokens = 24}));
  const Answer answer = collect(**runtime);
  EXPECT_NE(answer.text.find("Paris"), std::string::npos) << answer.text;
  const std::array<interframe::Message, 1> second = {{{IFR_ROLE_USER, "And of Italy?"}}};
  ASSERT_TRUE(session->submit_messages(second, {.max_tokens = 24}));
  const Answer next = collect(**runtime);
  EXPECT_FALSE(next.text.empty());
  // The conversation is in the chat form: system, user, assistant, user, assistant.
  const Result<std::vector<int32_t>> tokens = session->tokens();
  ASSERT_TRUE(tokens);
  const Result<std::string> text = (*model)->detokenize(*tokens);
  ASSERT_TRUE(text) << text.error().message;
  size_t turns = 0;
  for (size_t at = text->find("<|im_start|>"); at != std::string::npos;
       at = text->find("<|im_start|>", at + 1)) {
    ++turns;
  }
  EXPECT_EQ(turns, 5U) << *text;
  EXPECT_NE(text->find("<|im_end|>\n<|im_start|>user\nAnd of Italy?<|im_end|>\n"),
            std::string::npos)
      << *text;
  const Result<ifr_telemetry> telemetry = (*runtime)->telemetry();
  ASSERT_TRUE(telemetry);
  std::printf("decode %.1f tokens/s, prefill %.1f tokens/s, first token %.0f ms: %s\n",
              static_cast<double>(telemetry->decode_tokens_per_second),
              static_cast<double>(telemetry->prefill_tokens_per_second),
              static_cast<double>(telemetry->first_token_ms), answer.text.c_str());
}

TEST_F(SmolLm2, CancelledInALongPromptEndsSoon) {
  Result<interframe::Session> session = (*model)->create_session(4096);
  ASSERT_TRUE(session);
  const std::vector<int32_t> prompt(4000, 100);
  const Result<interframe::Request> request = session->submit_ids(prompt, {.max_tokens = 1});
  ASSERT_TRUE(request);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(request->cancel());
  const Answer answer = collect(**runtime);
  const double elapsed_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(answer.end.finish_reason, IFR_FINISH_CANCELLED);
  std::printf("cancel in a prompt of 4000 tokens: %.0f ms\n", elapsed_ms);
  EXPECT_LT(elapsed_ms, 2000.0);
}

TEST_F(SmolLm2, TokenizesBothWays) {
  const std::string text = "Hi \xF0\x9F\x98\xB8, <|im_end|>";
  const Result<std::vector<int32_t>> plain = (*model)->tokenize(text);
  ASSERT_TRUE(plain) << plain.error().message;
  const Result<std::vector<int32_t>> parsed = (*model)->tokenize(text, IFR_REQUEST_PARSE_SPECIAL);
  ASSERT_TRUE(parsed);
  EXPECT_LT(parsed->size(), plain->size());
  const Result<std::string> back = (*model)->detokenize(*plain);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, text);
  EXPECT_EQ(*(*model)->detokenize(*parsed), text);
  EXPECT_FALSE((*model)->detokenize(std::array<int32_t, 1>{-1}));
}

}  // namespace
