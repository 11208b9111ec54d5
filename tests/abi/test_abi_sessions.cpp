// SPDX-License-Identifier: Apache-2.0
// The micro model through the table: conversations, context (T08, K01), cancel, telemetry.
#include <algorithm>
#include <numeric>

#include "abi/abi_fixture.h"

namespace ifr::test {
namespace {

std::vector<int32_t> prompt_of(int32_t count, int32_t first = 1) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    ids[static_cast<size_t>(i)] = (first + 3 * i) % 256;
  }
  return ids;
}

class AbiSessions : public testing::Test {
 protected:
  AbiSessions() : host(library.api, 2), api(library.api), model(host.load()) {}
  OpenLibrary library;
  AbiHost host;
  const ifr_api& api;
  ifr_model model;
};

TEST_F(AbiSessions, DescribeTheModel) {
  auto description = make<ifr_model_description>();
  ASSERT_EQ(api.model_describe(host.runtime, model, &description).code, IFR_OK);
  EXPECT_STREQ(description.architecture, "qwen4_exp");
  EXPECT_EQ(description.num_layers, 4);
  EXPECT_EQ(description.vocab_size, 256);
  EXPECT_EQ(description.context_tokens, 4096);
  EXPECT_EQ(description.has_tokenizer, 0);
  EXPECT_EQ(description.num_selecting_layers, 1);
  EXPECT_EQ(description.selection_block_tokens, 4);
  EXPECT_EQ(description.selection_max_blocks, 8);
  EXPECT_GT(description.weight_bytes, 0U);
  auto status = make<ifr_model_status>();
  ASSERT_EQ(api.model_status(host.runtime, model, &status).code, IFR_OK);
  EXPECT_EQ(status.state, IFR_MODEL_READY);
  EXPECT_EQ(status.done_bytes, status.total_bytes);
  EXPECT_GT(status.total_bytes, 0U);
  int32_t layer = -1;
  uint32_t count = 0;
  ASSERT_EQ(api.model_selecting_layers(host.runtime, model, &layer, 1, &count).code, IFR_OK);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(layer, 3);
}

TEST_F(AbiSessions, RefuseWhatDoesNotFit) {  // T08
  for (const int32_t kept : {0, 40}) {
    for (const int32_t length : {62, 63, 64, 65, 100'000}) {
      const ifr_session session = host.session(model, 64);
      const ifr_session cold = host.session(model, 64);
      if (kept != 0) {
        EXPECT_EQ(host.run(session, prompt_of(36), 4).size(), 4U);
        EXPECT_EQ(host.run(cold, prompt_of(36), 4).size(), 4U);
      }
      const std::vector<int32_t> prompt = prompt_of(length, 5);
      const ifr_request_info info = AbiHost::request_info(prompt, 8);
      ifr_request request = 0;
      const ifr_result result = api.request_submit(host.runtime, session, &info, &request);
      if (kept == 0 && length < 64) {
        ASSERT_EQ(result.code, IFR_OK);
        const AbiAnswer& answer = host.finish(request);
        EXPECT_EQ(answer.ids.size(), static_cast<size_t>(64 - length));
        EXPECT_EQ(answer.end.finish_reason, IFR_FINISH_CONTEXT);
        continue;
      }
      EXPECT_EQ(result.code, IFR_ERROR_CONTEXT_FULL);
      const std::string message = host.error();
      EXPECT_NE(message.find("need " + std::to_string(length + 1)), std::string::npos) << message;
      EXPECT_NE(message.find(std::to_string(64 - kept) + " are available"), std::string::npos)
          << message;
      EXPECT_EQ(host.run(session, {7, 8}, 8), host.run(cold, {7, 8}, 8));
      EXPECT_EQ(api.session_destroy(host.runtime, session).code, IFR_OK);
      EXPECT_EQ(api.session_destroy(host.runtime, cold).code, IFR_OK);
    }
  }
}

TEST_F(AbiSessions, EndWhenTheContextIsFull) {  // K01
  const ifr_session session = host.session(model, 64);
  const std::vector<int32_t> prompt = prompt_of(60);
  const ifr_request request = host.submit(session, prompt, 100);
  const AbiAnswer first = host.finish(request);
  EXPECT_EQ(first.ids.size(), 4U);
  EXPECT_EQ(first.end.finish_reason, IFR_FINISH_CONTEXT);
  EXPECT_EQ(first.end.prompt_tokens, 60);
  EXPECT_EQ(first.end.generated_tokens, 4);
  EXPECT_GT(first.end.first_token_us, 0U);
  EXPECT_GE(first.end.total_us, first.end.first_token_us);
  auto status = make<ifr_session_status>();
  ASSERT_EQ(api.session_status(host.runtime, session, &status).code, IFR_OK);
  EXPECT_EQ(status.used_tokens, 64);
  EXPECT_EQ(status.busy, 0);
  ASSERT_EQ(api.session_reset(host.runtime, session).code, IFR_OK);
  EXPECT_EQ(host.run(session, prompt, 100), first.ids);
}

TEST_F(AbiSessions, ContinueAsOneConversation) {
  const ifr_session session = host.session(model);
  std::vector<int32_t> all = prompt_of(70);
  std::vector<int32_t> answer = host.run(session, all, 5);
  all.insert(all.end(), answer.begin(), answer.end());
  const std::vector<int32_t> more = prompt_of(33, 9);
  all.insert(all.end(), more.begin(), more.end());
  answer = host.run(session, more, 6);
  EXPECT_EQ(host.run(host.session(model), all, 6), answer);
  std::vector<int32_t> tokens(200);
  uint32_t count = 0;
  ASSERT_EQ(api.session_tokens(host.runtime, session, 0, tokens.data(), 200, &count).code, IFR_OK);
  all.insert(all.end(), answer.begin(), answer.end());
  tokens.resize(count);
  EXPECT_EQ(tokens, all);
}

TEST_F(AbiSessions, CancelInThePromptAndWhileDecoding) {
  const ifr_session session = host.session(model);
  for (const int32_t length : {4000, 1}) {
    ASSERT_EQ(api.session_reset(host.runtime, session).code, IFR_OK);
    const std::vector<int32_t> prompt = prompt_of(length);
    const ifr_request request = host.submit(session, prompt, 90);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(api.request_cancel(host.runtime, request).code, IFR_OK);
    const AbiAnswer& answer = host.finish(request);
    EXPECT_EQ(answer.end.finish_reason, IFR_FINISH_CANCELLED);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_EQ(api.request_cancel(host.runtime, request).code, IFR_ERROR_INVALID_HANDLE);
    EXPECT_EQ(answer.end.prompt_tokens, length);
  }
  // What was cancelled is part of the conversation.
  std::vector<int32_t> all = prompt_of(1);
  std::vector<int32_t> tokens(200);
  uint32_t count = 0;
  ASSERT_EQ(api.session_tokens(host.runtime, session, 0, tokens.data(), 200, &count).code, IFR_OK);
  tokens.resize(count);
  tokens.push_back(11);
  EXPECT_EQ(host.run(session, {11}, 4), host.run(host.session(model), tokens, 4));
}

TEST_F(AbiSessions, ReportTheSeed) {
  const std::vector<int32_t> prompt = prompt_of(8);
  ifr_request_info info = AbiHost::request_info(prompt, 30);
  info.sampling.temperature = 1.0F;
  const auto run = [&] {
    ifr_request request = 0;
    EXPECT_EQ(api.request_submit(host.runtime, host.session(model, 128), &info, &request).code,
              IFR_OK);
    return host.finish(request);
  };
  const AbiAnswer first = run();
  const AbiAnswer second = run();
  EXPECT_NE(first.end.seed, second.end.seed);
  EXPECT_NE(first.ids, second.ids);
  info.sampling.use_seed = 1;
  info.sampling.seed = first.end.seed;
  const AbiAnswer again = run();
  EXPECT_EQ(again.ids, first.ids);
  EXPECT_EQ(again.end.seed, first.end.seed);
}

TEST_F(AbiSessions, ShowTelemetry) {
  const ifr_session session = host.session(model, 512);
  EXPECT_EQ(host.run(session, prompt_of(300), 10).size(), 10U);
  auto telemetry = make<ifr_telemetry>();
  ASSERT_EQ(api.telemetry_read(host.runtime, &telemetry).code, IFR_OK);
  EXPECT_EQ(telemetry.model, model);
  EXPECT_EQ(telemetry.session, session);
  EXPECT_EQ(telemetry.prompt_tokens, 300U);
  EXPECT_EQ(telemetry.generated_tokens, 10U);
  EXPECT_EQ(telemetry.context_tokens, 512);
  EXPECT_EQ(telemetry.used_tokens, 310);
  EXPECT_GT(telemetry.decode_tokens_per_second, 0.0F);
  EXPECT_GT(telemetry.prefill_tokens_per_second, 0.0F);
  EXPECT_GT(telemetry.first_token_ms, 0.0F);
  EXPECT_GT(telemetry.step_ms, 0.0F);
  EXPECT_EQ(telemetry.num_selection_rows, 309U);  // one layer; the last token is not fed
  EXPECT_GT(telemetry.weight_bytes, 0U);
  EXPECT_GT(telemetry.cache_bytes, 0U);
  EXPECT_EQ(telemetry.memory_used_bytes,
            telemetry.weight_bytes + telemetry.cache_bytes + telemetry.state_bytes);
  EXPECT_EQ(telemetry.num_active_requests, 0);

  std::vector<ifr_operator_record> records(static_cast<size_t>(telemetry.num_operators));
  uint32_t count = 0;
  ASSERT_EQ(api.telemetry_operators(host.runtime, records.data(), sizeof records[0],
                                    static_cast<uint32_t>(records.size()), &count)
                .code,
            IFR_OK);
  ASSERT_EQ(count, records.size());
  for (const char* name : {"linear", "sparse_attention", "block_selection", "sampling", "lm_head",
                           "gated_delta_net", "moe_experts"}) {
    const auto found = std::find_if(
        records.begin(), records.end(),
        [&](const ifr_operator_record& record) { return std::string(record.name) == name; });
    ASSERT_NE(found, records.end()) << name;
    EXPECT_GT(found->calls, 0U) << name;
    EXPECT_GE(found->total_ns, found->last_ns) << name;
    EXPECT_GE(found->max_ns, found->last_ns) << name;
  }
  // Nothing is recorded while it is off.
  ASSERT_EQ(api.telemetry_enable(host.runtime, 0).code, IFR_OK);
  EXPECT_EQ(host.run(session, {1, 2}, 3).size(), 3U);
  ASSERT_EQ(api.telemetry_read(host.runtime, &telemetry).code, IFR_OK);
  EXPECT_EQ(telemetry.num_selection_rows, 309U);
  EXPECT_EQ(telemetry.generated_tokens, 13U);
}

TEST_F(AbiSessions, ShowSelections) {
  const ifr_session session = host.session(model, 512);
  EXPECT_EQ(host.run(session, prompt_of(300), 10).size(), 10U);
  constexpr uint32_t kRows = 100;
  constexpr uint32_t kEntries = 10;
  std::vector<ifr_selection_row> rows(kRows);
  std::vector<int32_t> blocks(kRows * kEntries, 77);
  std::vector<float> scores(kRows * kEntries);
  auto read = make<ifr_selection_read>();
  read.layer = 3;
  read.rows = rows.data();
  read.row_stride = sizeof rows[0];
  read.row_capacity = kRows;
  read.block_idx = blocks.data();
  read.scores = scores.data();
  read.entry_capacity = kEntries;
  uint64_t expected = 309 - 256 + 1;
  uint32_t num_rows = 0;
  do {
    ASSERT_EQ(api.telemetry_selections(host.runtime, session, &read).code, IFR_OK);
    EXPECT_EQ(read.num_lost_rows, 0U);
    for (uint32_t i = 0; i < read.num_rows; ++i) {
      const ifr_selection_row& row = rows[i];
      ASSERT_EQ(row.sequence, expected);
      ASSERT_EQ(row.query_position, static_cast<int32_t>(expected) - 1);
      ASSERT_EQ(row.num_visible_blocks, (row.query_position + 1) / 4);
      ASSERT_EQ(row.num_blocks, std::min(8, row.num_visible_blocks));
      for (int32_t b = 0; b < row.num_blocks; ++b) {
        const int32_t block = blocks[i * kEntries + static_cast<uint32_t>(b)];
        ASSERT_GE(block, 0);
        ASSERT_LT(block, row.num_visible_blocks);
      }
      ASSERT_EQ(blocks[i * kEntries + 8], -1);
      for (int32_t b = 1; b < row.num_blocks; ++b) {
        const size_t at = i * kEntries + static_cast<size_t>(b);
        ASSERT_GE(scores[at - 1], scores[at]);
      }
      ++expected;
    }
    num_rows = read.num_rows;
    read.first_sequence = read.next_sequence;
  } while (num_rows == kRows);
  EXPECT_EQ(expected, 310U);
  EXPECT_EQ(read.next_sequence, 310U);
  // What was asked for and is gone is counted.
  read.first_sequence = 1;
  ASSERT_EQ(api.telemetry_selections(host.runtime, session, &read).code, IFR_OK);
  EXPECT_EQ(read.num_lost_rows, 53U);
  ASSERT_EQ(api.session_reset(host.runtime, session).code, IFR_OK);
  read.first_sequence = 0;
  ASSERT_EQ(api.telemetry_selections(host.runtime, session, &read).code, IFR_OK);
  EXPECT_EQ(read.num_rows, 0U);
  EXPECT_EQ(read.next_sequence, 310U);
}

TEST(AbiLog, ReachesTheHostFromItsLevelOn) {
  const OpenLibrary library;
  struct Sink {
    std::atomic<int32_t> lowest{99};
    std::atomic<int32_t> count{0};
  } sink;
  auto info = make<ifr_runtime_info>();
  info.num_threads = 1;
  info.log_level = IFR_LOG_ERROR;
  info.log_user = &sink;
  info.log = [](void* user, int32_t level, const char* message) {
    auto* self = static_cast<Sink*>(user);
    self->lowest = std::min(self->lowest.load(), level);
    ++self->count;
    EXPECT_NE(std::string(message), "");
  };
  ifr_runtime* runtime = nullptr;
  ASSERT_EQ(library.api.runtime_create(&info, &runtime).code, IFR_OK);
  EXPECT_EQ(sink.count, 0);
  auto model_info = make<ifr_model_info>();
  const std::string path = "/nowhere/model.gguf";
  model_info.path = to_string(path);
  ifr_model model = 0;
  ASSERT_EQ(library.api.model_load(runtime, &model_info, &model).code, IFR_OK);
  ifr_event event;
  uint32_t count = 0;
  while (count == 0) {
    ASSERT_EQ(library.api.poll(runtime, &event, sizeof event, 1, &count).code, IFR_OK);
  }
  EXPECT_EQ(event.result.code, IFR_ERROR_NOT_FOUND);
  ASSERT_EQ(library.api.runtime_destroy(runtime).code, IFR_OK);
  EXPECT_EQ(sink.count, 1);
  EXPECT_EQ(sink.lowest, IFR_LOG_ERROR);
}

}  // namespace
}  // namespace ifr::test
