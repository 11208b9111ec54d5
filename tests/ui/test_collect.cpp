// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "interframe_overlay/overlay.h"
#include "ui/fake_plugin.h"

namespace ifr::overlay::testing {
namespace {

class Collect : public ::testing::Test {
 protected:
  void run() { collect(api_, plugin_.runtime(), snapshot_, state_); }

  ifr_api api_ = fake_api();
  FakePlugin plugin_ = make_busy_plugin(2, 40);
  Snapshot snapshot_;
  CollectState state_;
};

TEST_F(Collect, FillsTheSnapshot) {
  run();
  EXPECT_TRUE(snapshot_.connected);
  EXPECT_TRUE(snapshot_.live);
  EXPECT_EQ(snapshot_.telemetry.generated_tokens, 316U);
  EXPECT_TRUE(snapshot_.has_model);
  EXPECT_STREQ(snapshot_.model.architecture, "qwen4_exp");
  ASSERT_EQ(snapshot_.layers.size(), 2U);
  EXPECT_EQ(snapshot_.layers[0].layer(), 3);
  EXPECT_EQ(snapshot_.layers[1].layer(), 7);
  EXPECT_EQ(snapshot_.session, 21U);
  EXPECT_EQ(snapshot_.session_state, SessionState::kOpen);
  run();  // num_operators is known from the first frame on
  ASSERT_EQ(snapshot_.operators.size(), plugin_.operators.size());
  EXPECT_STREQ(snapshot_.operators[2].name, "sparse_attention");
  EXPECT_EQ(plugin_.num_describe_calls, 1);
}

TEST_F(Collect, ReadsSelectionsOnceAndInOrder) {
  state_.max_rows_per_frame = 16;
  for (uint32_t frame = 1; frame <= 4; ++frame) {
    run();
    EXPECT_EQ(snapshot_.layers[1].num_rows(), std::min(16U * frame, 40U));
  }
  const SelectionRing& ring = snapshot_.layers[1];
  const FakeLayer& layer = plugin_.layers[7];
  for (uint32_t i = 0; i < ring.num_rows(); ++i) {
    EXPECT_EQ(ring.row(i).sequence, layer.first_sequence + i);
    EXPECT_EQ(ring.row(i).query_position, layer.rows[i].query_position);
    ASSERT_EQ(ring.row(i).num_chosen, static_cast<int32_t>(layer.rows[i].blocks.size()));
    for (size_t entry = 0; entry < layer.rows[i].blocks.size(); ++entry) {
      EXPECT_EQ(ring.block_idx(i)[entry], layer.rows[i].blocks[entry]);
      EXPECT_EQ(ring.scores(i)[entry], layer.rows[i].scores[entry]);
    }
  }
  EXPECT_EQ(snapshot_.num_lost_rows, 0U);
  const uint64_t revision = ring.revision();
  run();  // nothing new
  EXPECT_EQ(ring.revision(), revision);
}

TEST_F(Collect, CountsLostRows) {
  run();
  FakeLayer& layer = plugin_.layers[3];
  layer.first_sequence += 45;  // 40 rows were read, 5 are gone, 40 are new
  for (FakeRow& row : layer.rows) {
    row.query_position += 45;
  }
  run();
  EXPECT_EQ(snapshot_.num_lost_rows, 5U);
  EXPECT_EQ(snapshot_.layers[0].num_rows(), 80U);
  EXPECT_EQ(snapshot_.layers[1].num_rows(), 40U);
}

TEST_F(Collect, KeepsTheNewestRowsAndTheBestEntries) {
  state_.row_capacity = 8;
  state_.max_entries = 5;
  run();
  const SelectionRing& ring = snapshot_.layers[0];
  ASSERT_EQ(ring.num_rows(), 8U);
  EXPECT_EQ(ring.row(7).query_position, 1499);
  EXPECT_EQ(ring.row(0).query_position, 1492);
  EXPECT_EQ(ring.row(7).num_chosen, 5);
  EXPECT_EQ(ring.block_idx(7)[4], plugin_.layers[3].rows[39].blocks[4]);
}

TEST_F(Collect, EmptiesTheMapsWhenTheConversationBeginsAnew) {
  run();
  plugin_.used_tokens = 3;  // the session was reset; the rows of before are still in the plugin
  plugin_.layers[3].rows = {{2, 0, {}, {}}};
  plugin_.layers[7].rows.clear();
  run();
  ASSERT_EQ(snapshot_.layers[0].num_rows(), 1U);
  EXPECT_EQ(snapshot_.layers[0].row(0).query_position, 2);
  EXPECT_EQ(snapshot_.layers[1].num_rows(), 0U);
}

TEST_F(Collect, AQueryThatGoesBackEmptiesTheMap) {
  run();
  FakeLayer& layer = plugin_.layers[3];
  layer.rows.push_back({1200, 300, {5}, {1.0F}});
  run();
  ASSERT_EQ(snapshot_.layers[0].num_rows(), 1U);
  EXPECT_EQ(snapshot_.layers[0].row(0).query_position, 1200);
}

TEST_F(Collect, FollowsAnotherSession) {
  run();
  plugin_.telemetry.session = 22;
  plugin_.layers[3].rows.clear();
  run();
  EXPECT_EQ(snapshot_.session, 22U);
  EXPECT_EQ(snapshot_.layers[0].num_rows(), 0U);
  EXPECT_EQ(snapshot_.layers[1].num_rows(), 40U);
}

TEST_F(Collect, KeepsWhatItReadOfAClosedSession) {
  run();
  plugin_.session_code = IFR_ERROR_INVALID_HANDLE;
  run();
  EXPECT_EQ(snapshot_.session_state, SessionState::kClosed);
  EXPECT_EQ(snapshot_.layers[0].num_rows(), 40U);
  EXPECT_TRUE(snapshot_.live);
}

TEST_F(Collect, FollowsAnotherModel) {
  run();
  plugin_ = make_dense_plugin();
  plugin_.telemetry.model = 12;
  plugin_.telemetry.session = 30;
  run();
  EXPECT_STREQ(snapshot_.model.architecture, "llama");
  EXPECT_TRUE(snapshot_.layers.empty());
}

TEST_F(Collect, ShowsWhatTheHostAsksFor) {
  state_.model = 11;
  state_.session = 77;
  plugin_.telemetry.model = 0;
  plugin_.telemetry.session = 0;
  run();
  EXPECT_TRUE(snapshot_.has_model);
  EXPECT_EQ(snapshot_.session, 77U);
}

TEST_F(Collect, RefusedTelemetryLeavesTheSnapshot) {
  run();
  run();
  plugin_.telemetry_code = IFR_ERROR_INVALID_STATE;
  plugin_.telemetry.generated_tokens = 9999;
  run();
  EXPECT_FALSE(snapshot_.live);
  EXPECT_TRUE(snapshot_.connected);
  EXPECT_EQ(snapshot_.error_code, IFR_ERROR_INVALID_STATE);
  EXPECT_EQ(snapshot_.telemetry.generated_tokens, 316U);
  EXPECT_EQ(snapshot_.operators.size(), plugin_.operators.size());
}

TEST_F(Collect, OtherRefusalsLeaveTheirPart) {
  run();
  run();
  plugin_.operators_code = IFR_ERROR_INTERNAL;
  plugin_.selections_code = IFR_ERROR_INVALID_HANDLE;
  plugin_.layers[3].rows.push_back({1500, 375, {1}, {1.0F}});
  run();
  EXPECT_TRUE(snapshot_.live);
  EXPECT_EQ(snapshot_.operators.size(), plugin_.operators.size());
  EXPECT_EQ(snapshot_.layers[0].num_rows(), 40U);
  plugin_.selections_code = IFR_OK;
  run();
  EXPECT_EQ(snapshot_.layers[0].num_rows(), 41U);
}

TEST_F(Collect, TriesADescriptionAgain) {
  plugin_.describe_code = IFR_ERROR_INVALID_STATE;  // still loading
  run();
  EXPECT_FALSE(snapshot_.has_model);
  plugin_.describe_code = IFR_OK;
  plugin_.layers_code = IFR_ERROR_INTERNAL;
  run();
  EXPECT_TRUE(snapshot_.has_model);
  EXPECT_TRUE(snapshot_.layers.empty());
  plugin_.layers_code = IFR_OK;
  run();
  EXPECT_EQ(snapshot_.layers.size(), 2U);
}

TEST_F(Collect, NoRuntimeAndNoCallsAreNotLive) {
  collect(api_, nullptr, snapshot_, state_);
  EXPECT_FALSE(snapshot_.live);
  EXPECT_FALSE(snapshot_.connected);
  ifr_api empty{};
  empty.struct_size = sizeof(empty);
  collect(empty, plugin_.runtime(), snapshot_, state_);
  EXPECT_FALSE(snapshot_.live);
  api_.struct_size = offsetof(ifr_api, telemetry_operators);  // an older plugin's table
  run();
  EXPECT_TRUE(snapshot_.live);
  EXPECT_TRUE(snapshot_.operators.empty());
}

TEST_F(Collect, ReadsTextOfTheHoveredBlockOnce) {
  state_.wanted_block = {8, 4};
  state_.wanted_query = {13, 1};
  run();
  run();
  EXPECT_EQ(snapshot_.block_text.text, " the lantern swings over");
  EXPECT_EQ(snapshot_.query_text.text, " quiet");
  EXPECT_EQ(plugin_.num_detokenize_calls, 2);
  state_.wanted_block = {12, 4};
  run();
  EXPECT_EQ(snapshot_.block_text.text, " a quiet harbour,\\n");
  state_.wanted_block = {8, 4};
  run();
  EXPECT_EQ(snapshot_.block_text.text, " the lantern swings over");
  EXPECT_EQ(plugin_.num_detokenize_calls, 3);
}

TEST_F(Collect, ShowsIdsWithoutATokenizer) {
  plugin_.model.has_tokenizer = 0;
  state_.wanted_block = {8, 4};
  run();
  EXPECT_FALSE(snapshot_.block_text.has_text);
  EXPECT_EQ(snapshot_.block_text.ids, (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(plugin_.num_detokenize_calls, 0);
}

TEST_F(Collect, RefusedTextFallsBackToIds) {
  plugin_.detokenize_code = IFR_ERROR_INVALID_HANDLE;
  state_.wanted_block = {8, 4};
  run();
  EXPECT_FALSE(snapshot_.block_text.has_text);
  EXPECT_EQ(snapshot_.block_text.ids.size(), 4U);
  plugin_.tokens_code = IFR_ERROR_INVALID_HANDLE;
  state_.wanted_block = {16, 4};
  run();
  EXPECT_TRUE(snapshot_.block_text.ids.empty());
  state_.wanted_block = {-4, 4};
  run();
  EXPECT_TRUE(snapshot_.block_text.ids.empty());
}

TEST_F(Collect, CacheOfTextsStaysBounded) {
  for (int32_t i = 0; i < 100; ++i) {
    state_.wanted_block = {i * 4, 4};
    run();
    EXPECT_EQ(snapshot_.block_text.ids[0], i * 4 % 8);
  }
  EXPECT_LE(state_.text_cache.size(), 32U);
}

TEST(HistoryRing, KeepsThirtySeconds) {
  History history;
  uint64_t time_ns = 5;
  for (int i = 0; i < 1000; ++i) {
    history.add(time_ns, static_cast<float>(i), 1.0F);
    time_ns += History::kIntervalNs / 2;  // every second call is too early
  }
  ASSERT_EQ(history.count, History::kCapacity);
  const auto newest = static_cast<size_t>((history.begin + history.count - 1) % History::kCapacity);
  EXPECT_EQ(history.decode_tokens_per_second[newest], 998.0F);
  EXPECT_EQ(history.decode_tokens_per_second[static_cast<size_t>(history.begin)], 400.0F);
}

TEST(SelectionRingTest, UsageDropsTheOldest) {
  SelectionRing ring;
  const int32_t blocks[] = {4, 2, 0};
  const float scores[] = {3.0F, 2.0F, 1.0F};
  ring.push({1, 1, 1, 3}, blocks, scores);  // before reset: nothing to hold it
  EXPECT_EQ(ring.num_rows(), 0U);
  ring.reset(5, 2, 2);
  for (int32_t query = 10; query < 13; ++query) {
    ring.push({static_cast<uint64_t>(query), query, 5, 3}, blocks, scores);
  }
  ASSERT_EQ(ring.num_rows(), 2U);
  EXPECT_EQ(ring.row(0).query_position, 11);
  EXPECT_EQ(ring.row(1).query_position, 12);
  EXPECT_EQ(ring.row(1).num_chosen, 2);
  EXPECT_EQ(ring.block_idx(1)[1], 2);
  ring.clear();
  EXPECT_EQ(ring.num_rows(), 0U);
}

}  // namespace
}  // namespace ifr::overlay::testing
