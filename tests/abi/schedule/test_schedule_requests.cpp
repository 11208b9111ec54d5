// SPDX-License-Identifier: Apache-2.0
// Requests over a fake model: context rule (T08, K01), turns, cancel, errors, continuing.
#include <gtest/gtest.h>

#include <numeric>

#include "schedule/fake_host.h"
#include "schedule/step_limits.h"

namespace ifr::test {
namespace {

std::vector<int32_t> prompt_of(int32_t count, int32_t first = 1) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    ids[static_cast<size_t>(i)] = (first + i) % 200;
  }
  return ids;
}

struct ContextCase {
  int32_t kept;  // tokens of the conversation before the prompt
  int32_t prompt;
  int32_t tokens;  // of the answer; -1: refused
};

// Context 64, max_tokens 8.
constexpr ContextCase kContextCases[] = {
    {0, 55, 8},   {0, 56, 8},   {0, 57, 7},       {0, 62, 2},        {0, 63, 1},
    {0, 64, -1},  {0, 65, -1},  {0, 100'000, -1}, {40, 15, 8},       {40, 17, 7},
    {40, 22, 2},  {40, 23, 1},  {40, 24, -1},     {40, 25, -1},      {40, 62, -1},
    {40, 63, -1}, {40, 64, -1}, {40, 65, -1},     {40, 100'000, -1},
};

class ContextRule : public testing::TestWithParam<ContextCase> {};

TEST_P(ContextRule, RefusesWhatDoesNotFitAndEndsWhatFills) {
  const ContextCase& context_case = GetParam();
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  const uint64_t session = host.session(model, 64);
  const uint64_t cold = host.session(model, 64);
  std::vector<int32_t> kept;
  if (context_case.kept > 0) {
    (void)host.run(session, prompt_of(context_case.kept - 4), 4);
    (void)host.run(cold, prompt_of(context_case.kept - 4), 4);
  }
  const int32_t steps = script.num_steps;
  const std::vector<int32_t> prompt = prompt_of(context_case.prompt, 7);
  const Expected<uint64_t> request = host.runtime->submit(session, FakeHost::ids_spec(prompt, 8));
  if (context_case.tokens >= 0) {
    ASSERT_TRUE(request.is_ok()) << request.status().message();
    const Answer& answer = host.finish(*request);
    EXPECT_EQ(answer.ids.size(), static_cast<size_t>(context_case.tokens));
    EXPECT_EQ(answer.end.finish_reason,
              context_case.tokens == 8 ? FinishReason::kMaxTokens : FinishReason::kContext);
    EXPECT_EQ(answer.end.prompt_tokens, context_case.prompt);
    return;
  }
  ASSERT_FALSE(request.is_ok());
  EXPECT_EQ(request.status().code(), Code::kContextFull);
  const std::string needed = "need " + std::to_string(context_case.prompt + 1) + " tokens";
  const std::string available = std::to_string(64 - context_case.kept) + " are available";
  EXPECT_NE(request.status().message().find(needed), std::string::npos)
      << request.status().message();
  EXPECT_NE(request.status().message().find(available), std::string::npos)
      << request.status().message();
  EXPECT_EQ(script.num_steps, steps) << "work was done for a refused prompt";
  // The session is as it was: what it answers next equals what a cold one answers.
  EXPECT_EQ(host.run(session, {3}, 4).ids, host.run(cold, {3}, 4).ids);
}

INSTANTIATE_TEST_SUITE_P(T08, ContextRule, testing::ValuesIn(kContextCases));

TEST(Requests, EndWithReasonContextAndTheSessionStaysUsable) {  // K01
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  const uint64_t session = host.session(model, 64);
  const Answer first = host.run(session, prompt_of(60), 100);
  EXPECT_EQ(first.ids.size(), 4U);
  EXPECT_EQ(first.end.finish_reason, FinishReason::kContext);
  const std::vector<int32_t> one = {1};
  const Expected<uint64_t> refused = host.runtime->submit(session, FakeHost::ids_spec(one, 1));
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kContextFull);
  EXPECT_NE(refused.status().message().find("0 are available"), std::string::npos);
  ASSERT_TRUE(host.runtime->reset_session(session).is_ok());
  EXPECT_EQ(host.run(session, prompt_of(60), 100).ids, first.ids);
}

TEST(Requests, FeedTheLastTokenOfAnAnswerBeforeTheNextPrompt) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  const uint64_t session = host.session(model);
  const Answer first = host.run(session, prompt_of(5), 3);
  const Answer second = host.run(session, prompt_of(4, 50), 3);
  // One conversation in one go gives the same.
  std::vector<int32_t> all = prompt_of(5);
  all.insert(all.end(), first.ids.begin(), first.ids.end());
  const std::vector<int32_t> more = prompt_of(4, 50);
  all.insert(all.end(), more.begin(), more.end());
  EXPECT_EQ(host.run(host.session(model), all, 3).ids, second.ids);
  EXPECT_EQ(second.positions, (std::vector<int32_t>{12, 13, 14}));
  std::vector<int32_t> tokens(64);
  const Expected<size_t> count = host.runtime->copy_tokens(session, 0, tokens);
  ASSERT_TRUE(count.is_ok());
  all.insert(all.end(), second.ids.begin(), second.ids.end());
  tokens.resize(*count);
  EXPECT_EQ(tokens, all);
}

TEST(Requests, TakeTurns) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  constexpr int32_t kSessions = 3;
  constexpr int32_t kTokens = 20;
  const std::vector<int32_t> prompt = {1};
  script.close_gate();
  std::vector<uint64_t> requests;
  for (int32_t i = 0; i < kSessions; ++i) {
    requests.push_back(host.submit(host.session(model), FakeHost::ids_spec(prompt, kTokens)));
  }
  script.open_gate();
  for (const uint64_t request : requests) {
    EXPECT_EQ(host.finish(request).ids.size(), static_cast<size_t>(kTokens));
  }
  const std::lock_guard lock(script.mutex);
  ASSERT_EQ(script.order.size(), static_cast<size_t>(kSessions * kTokens));
  for (size_t i = 0; i < script.order.size(); ++i) {
    EXPECT_EQ(script.order[i], static_cast<int32_t>(i % kSessions)) << "step " << i;
  }
}

TEST(Requests, ALongPromptLetsOthersPassAndComesInChunks) {
  FakeScript script;
  script.token_time = std::chrono::microseconds(200);
  FakeHost host(script);
  const uint64_t model = host.load();
  const uint64_t long_request =
      host.submit(host.session(model), FakeHost::ids_spec(prompt_of(1000), 1));
  const std::vector<int32_t> prompt = {1};
  const uint64_t short_request = host.submit(host.session(model), FakeHost::ids_spec(prompt, 3));
  (void)host.finish(short_request);
  EXPECT_FALSE(host.answers[long_request].finished);
  (void)host.finish(long_request);
  EXPECT_LE(script.longest_step, kMaxChunkTokens);
  EXPECT_EQ(script.longest_step, kMaxChunkTokens);
}

TEST(Requests, ChunksOfASlowModelStayShort) {
  // 20 ms a token: a chunk of 64 would take 1.3 s.
  FakeScript script;
  script.token_time = std::chrono::milliseconds(20);
  FakeHost host(script);
  const uint64_t session = host.session(host.load());
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt_of(64), 1));
  ASSERT_TRUE(wait_for([&] { return script.num_steps >= 3; }));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(host.runtime->cancel_request(request).is_ok());
  EXPECT_EQ(host.finish(request).end.finish_reason, FinishReason::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
  EXPECT_LE(chunk_tokens(1000, 20e6) * 20e6, kChunkTargetNs);
  EXPECT_EQ(chunk_tokens(1000, 1e3), kMaxChunkTokens);
  EXPECT_EQ(chunk_tokens(1000, 1e12), 1);
  EXPECT_EQ(chunk_tokens(3, 0.0), 3);
  EXPECT_EQ(chunk_tokens(1000, 0.0), kFirstChunkTokens);
}

TEST(Requests, CancelledInThePromptKeepItWhole) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  const uint64_t session = host.session(model);
  script.close_gate();
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt_of(300), 5));
  script.permit(1);  // the second step waits
  ASSERT_TRUE(wait_for([&] { return script.num_steps >= 1; }));
  ASSERT_TRUE(host.runtime->cancel_request(request).is_ok());
  script.open_gate();
  const Answer cancelled = host.finish(request);
  EXPECT_EQ(cancelled.end.finish_reason, FinishReason::kCancelled);
  EXPECT_TRUE(cancelled.ids.empty());
  EXPECT_LE(script.num_steps, 3);
  EXPECT_EQ(cancelled.end.first_token_us, 0U);
  std::vector<int32_t> all = prompt_of(300);
  all.push_back(9);
  EXPECT_EQ(host.run(session, {9}, 5).ids, host.run(host.session(model), all, 5).ids);
}

TEST(Requests, CancelledWhileDecodingEndWithinOneStep) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {1};
  script.close_gate();
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt, 1000));
  script.permit(10);
  ASSERT_TRUE(wait_for([&] { return script.num_steps >= 10; }));
  ASSERT_TRUE(host.runtime->cancel_request(request).is_ok());
  script.open_gate();
  const Answer& answer = host.finish(request);
  EXPECT_EQ(answer.end.finish_reason, FinishReason::kCancelled);
  EXPECT_LE(answer.ids.size(), 11U);
}

TEST(Requests, AreKnownUntilTheirEndIsPolled) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {1};
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt, 2));
  ASSERT_TRUE(wait_for([&] { return !host.is_busy(session); }));
  EXPECT_TRUE(host.runtime->cancel_request(request).is_ok());
  EXPECT_EQ(host.finish(request).end.finish_reason, FinishReason::kMaxTokens);
  const Status status = host.runtime->cancel_request(request);
  EXPECT_EQ(status.code(), Code::kInvalidHandle);
  EXPECT_NE(status.message().find("closed"), std::string::npos);
}

TEST(Requests, WaitForRoomInTheEventQueue) {
  FakeScript script;
  RuntimeOptions options;
  options.event_capacity = kMinEventCapacity;
  FakeHost host(script, {}, options);
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {1};
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt, 300));
  ASSERT_TRUE(wait_for([&] { return script.num_steps >= 17; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(script.num_steps, 17) << "16 fit, one waits; then generation pauses";
  const Answer& answer = host.finish(request);
  EXPECT_EQ(answer.ids.size(), 300U);
  for (size_t i = 0; i < answer.positions.size(); ++i) {
    ASSERT_EQ(answer.positions[i], static_cast<int32_t>(i) + 1);
  }
}

TEST(Requests, CanBeCancelledWhileTheQueueIsFull) {
  FakeScript script;
  RuntimeOptions options;
  options.event_capacity = kMinEventCapacity;
  FakeHost host(script, {}, options);
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {1};
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt, 300));
  ASSERT_TRUE(wait_for([&] { return script.num_steps >= 17; }));
  ASSERT_TRUE(host.runtime->cancel_request(request).is_ok());
  ASSERT_TRUE(wait_for([&] { return !host.is_busy(session); }));
  const Answer& answer = host.finish(request);
  EXPECT_EQ(answer.ids.size(), 17U);
  EXPECT_EQ(answer.end.finish_reason, FinishReason::kCancelled);
}

TEST(Requests, GiveTheSameTextHoweverTheyArePolled) {
  FakeScript script;
  FakeHost host(script, [] { return std::make_unique<FakeCodec>(std::vector<std::string>{}); });
  const uint64_t model = host.load();
  const std::vector<int32_t> prompt = {5, 6};
  const uint64_t slow = host.session(model);
  const uint64_t request = host.submit(slow, FakeHost::ids_spec(prompt, 200));
  ASSERT_TRUE(wait_for([&] {
    host.poll(1);
    return host.answers[request].finished;
  }));
  const std::string one_by_one = host.answers[request].text;
  const uint64_t at_end = host.session(model);
  const uint64_t second = host.submit(at_end, FakeHost::ids_spec(prompt, 200));
  ASSERT_TRUE(wait_for([&] { return !host.is_busy(at_end); }));
  EXPECT_EQ(host.finish(second).text, one_by_one);
  EXPECT_FALSE(one_by_one.empty());
}

TEST(Requests, FailWithTheStepsError) {
  for (const bool throws : {false, true}) {
    FakeScript script;
    script.fail_at_step = 3;
    script.throw_at_step = throws;
    FakeHost host(script);
    const uint64_t model = host.load();
    const uint64_t session = host.session(model);
    const Answer failed = host.run(session, {1}, 10);
    EXPECT_EQ(failed.end.finish_reason, FinishReason::kError);
    EXPECT_EQ(failed.end.code, throws ? Code::kInternal : Code::kIo);
    EXPECT_EQ(failed.ids.size(), 3U);
    char message[200] = {};
    (void)host.runtime->last_error().copy(message);
    EXPECT_NE(std::string(message).find("fake step"), std::string::npos) << message;
    // The session goes on as if nothing had happened.
    std::vector<int32_t> all = {1};
    all.insert(all.end(), failed.ids.begin(), failed.ids.end());
    all.push_back(2);
    EXPECT_EQ(host.run(session, {2}, 5).ids, host.run(host.session(model), all, 5).ids);
  }
}

TEST(Requests, FailWhenNoLogitIsFinite) {
  FakeScript script;
  script.next = [](std::span<const int32_t>) { return -1; };
  FakeHost host(script);
  const Answer answer = host.run(host.session(host.load()), {1}, 10);
  EXPECT_EQ(answer.end.finish_reason, FinishReason::kError);
  EXPECT_EQ(answer.end.code, Code::kInternal);
}

TEST(Requests, AreRefusedForWrongOptions) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> good = {1, 2};
  const auto refused = [&](const std::function<void(RequestSpec&)>& change, Code code) {
    RequestSpec spec = FakeHost::ids_spec(good, 4);
    change(spec);
    const Expected<uint64_t> request = host.runtime->submit(session, spec);
    EXPECT_FALSE(request.is_ok());
    EXPECT_EQ(request.status().code(), code) << request.status().message();
    EXPECT_FALSE(host.is_busy(session));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<int32_t> negative = {1, -1};
  const std::vector<int32_t> large = {1, 256};
  refused([](RequestSpec& s) { s.max_tokens = 0; }, Code::kInvalidArgument);
  refused([](RequestSpec& s) { s.max_tokens = -1; }, Code::kInvalidArgument);
  refused([](RequestSpec& s) { s.sampling.temperature = -1.0F; }, Code::kInvalidArgument);
  refused([&](RequestSpec& s) { s.sampling.temperature = nan; }, Code::kInvalidArgument);
  refused([&](RequestSpec& s) { s.sampling.temperature = inf; }, Code::kInvalidArgument);
  refused([](RequestSpec& s) { s.sampling.top_k = -1; }, Code::kInvalidArgument);
  refused([](RequestSpec& s) { s.sampling.top_p = 1.5F; }, Code::kInvalidArgument);
  refused([&](RequestSpec& s) { s.sampling.top_p = nan; }, Code::kInvalidArgument);
  refused([&](RequestSpec& s) { s.token_ids = negative; }, Code::kInvalidArgument);
  refused([&](RequestSpec& s) { s.token_ids = large; }, Code::kInvalidArgument);
  refused([](RequestSpec& s) { s.token_ids = {}; }, Code::kInvalidArgument);
  refused([](RequestSpec& s) { s.form = PromptForm::kText; }, Code::kUnsupported);
  refused([](RequestSpec& s) { s.form = PromptForm::kMessages; }, Code::kUnsupported);
  EXPECT_EQ(host.run(session, good, 4).ids.size(), 4U);
}

TEST(Requests, OfABusySessionAreRefused) {
  FakeScript script;
  FakeHost host(script);
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {1};
  script.close_gate();
  const uint64_t request = host.submit(session, FakeHost::ids_spec(prompt, 2));
  EXPECT_EQ(host.runtime->submit(session, FakeHost::ids_spec(prompt, 2)).status().code(),
            Code::kInvalidState);
  EXPECT_EQ(host.runtime->reset_session(session).code(), Code::kInvalidState);
  script.open_gate();
  EXPECT_EQ(host.finish(request).end.finish_reason, FinishReason::kMaxTokens);
  EXPECT_TRUE(host.runtime->reset_session(session).is_ok());
}

TEST(Requests, SampleByPositionAndSeedNotByNeighbours) {  // of S04: beside another session
  FakeScript script;
  FakeHost host(script);
  const uint64_t model = host.load();
  // Nearly flat logits would need another engine; here the draw is over all of a fake's logits.
  const std::vector<int32_t> prompt = {1, 2, 3};
  RequestSpec spec = FakeHost::ids_spec(prompt, 30);
  spec.sampling.temperature = 8.0F;
  spec.sampling.seed = 42;
  const std::vector<int32_t> alone = host.finish(host.submit(host.session(model), spec)).ids;
  const uint64_t neighbour = host.submit(host.session(model), FakeHost::ids_spec(prompt, 1000));
  const std::vector<int32_t> beside = host.finish(host.submit(host.session(model), spec)).ids;
  (void)host.runtime->cancel_request(neighbour);
  (void)host.finish(neighbour);
  EXPECT_EQ(alone, beside);
  spec.sampling.seed = 43;
  EXPECT_NE(host.finish(host.submit(host.session(model), spec)).ids, alone);
}

TEST(Requests, ContinueAnAnswerWithAnEmptyText) {
  FakeScript script;
  FakeHost host(script, [] { return std::make_unique<FakeCodec>(std::vector<std::string>{}); });
  const uint64_t model = host.load();
  const uint64_t session = host.session(model);
  RequestSpec empty;
  empty.form = PromptForm::kText;
  empty.max_tokens = 4;
  EXPECT_EQ(host.runtime->submit(session, empty).status().code(), Code::kInvalidArgument);
  std::vector<int32_t> ids = host.run(session, {1, 2}, 4).ids;
  const std::vector<int32_t> rest = host.finish(host.submit(session, empty)).ids;
  ids.insert(ids.end(), rest.begin(), rest.end());
  EXPECT_EQ(host.run(host.session(model), {1, 2}, 8).ids, ids);
}

TEST(Requests, OfMessagesKnowWhetherTheConversationBegins) {
  FakeScript script;
  FakeHost host(script, [] { return std::make_unique<FakeCodec>(std::vector<std::string>{}); });
  const uint64_t session = host.session(host.load());
  const ChatMessage message = {.role = "user", .content = "hi"};
  RequestSpec spec;
  spec.form = PromptForm::kMessages;
  spec.messages = {&message, 1};
  spec.max_tokens = 1;
  (void)host.finish(host.submit(session, spec));
  (void)host.finish(host.submit(session, spec));
  std::vector<int32_t> tokens(64);
  const Expected<size_t> count = host.runtime->copy_tokens(session, 0, tokens);
  ASSERT_EQ(*count, 8U);
  EXPECT_EQ(tokens[0], 0);  // the fake's mark of a beginning
  EXPECT_EQ(tokens[4], 1);  // and of a later turn
}

}  // namespace
}  // namespace ifr::test
