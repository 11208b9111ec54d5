// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/block_selection.h"

#include "block_selection_cases.h"
#include "interframe_kernels/cpu_executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

namespace ifr::kernels {
namespace {

using test::Case;

constexpr int32_t kPoisonIndex = -1111;
constexpr uint32_t kPoisonScore = 0x7fedcba9U;

struct Outputs {
  std::vector<int32_t> indices;
  std::vector<int32_t> counts;
  std::vector<uint32_t> score_bits;
  bool operator==(const Outputs&) const = default;
};

// The contract in its own words, by a stable sort.
Outputs expected_outputs(const Case& c, const test::Inputs& inputs) {
  Outputs out;
  for (int64_t row = 0; row < c.num_rows; ++row) {
    const float* scores = inputs.scores.data() + row * inputs.stride;
    const int64_t live =
        inputs.live_counts.empty()
            ? c.row_len
            : std::clamp<int64_t>(inputs.live_counts[static_cast<size_t>(row)], 0, c.row_len);
    std::vector<int32_t> order(static_cast<size_t>(live));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return std::isnan(scores[b]) ? !std::isnan(scores[a]) : scores[a] > scores[b];
    });
    order.resize(static_cast<size_t>(std::min<int64_t>(c.k, live)));
    out.counts.push_back(static_cast<int32_t>(order.size()));
    for (size_t rank = 0; rank < static_cast<size_t>(c.k); ++rank) {
      float score = -std::numeric_limits<float>::infinity();
      if (rank < order.size()) {
        score = scores[order[rank]];
      }
      const uint32_t bits = std::isnan(score) ? 0x7fc00000U
                            : score == 0.0F   ? 0U
                                              : std::bit_cast<uint32_t>(score);
      out.indices.push_back(rank < order.size() ? order[rank] : -1);
      out.score_bits.push_back(bits);
    }
  }
  return out;
}

Outputs reference_outputs(const Case& c, const test::Inputs& inputs, CpuExecutor& executor) {
  const auto size = static_cast<size_t>(c.num_rows * c.k);
  Outputs out{std::vector<int32_t>(size, kPoisonIndex),
              std::vector<int32_t>(static_cast<size_t>(c.num_rows), kPoisonIndex),
              std::vector<uint32_t>(size, kPoisonScore)};
  std::vector<float> chosen(size, std::bit_cast<float>(kPoisonScore));
  const BlockSelectionParams params{
      .shape = test::shape_of(c),
      .scores = inputs.scores.data(),
      .scores_stride = inputs.stride,
      .live_counts = inputs.live_counts.empty() ? nullptr : inputs.live_counts.data(),
      .indices = out.indices.data(),
      .counts = out.counts.data(),
      .chosen_scores = chosen.data()};
  EXPECT_TRUE(block_selection_reference(params, executor).is_ok());
  std::memcpy(out.score_bits.data(), chosen.data(), size * sizeof(float));
  return out;
}

void expect_matches(const Case& c, CpuExecutor& executor) {
  SCOPED_TRACE(test::describe(c));
  const test::Inputs inputs = test::make_inputs(c, 1, std::numeric_limits<float>::infinity());
  const Outputs expected = expected_outputs(c, inputs);
  const Outputs got = reference_outputs(c, inputs, executor);
  EXPECT_EQ(expected.counts, got.counts);
  EXPECT_EQ(expected.indices, got.indices);
  EXPECT_EQ(expected.score_bits, got.score_bits);
}

TEST(BlockSelectionReference, MatchesAStableSort) {
  CpuExecutor executor(2);
  for (const Case& c : test::small_cases()) {
    expect_matches(c, executor);
  }
}

TEST(BlockSelectionReference, MatchesAStableSortOnLongRows) {
  CpuExecutor executor(2);
  for (const Case& c : test::large_cases()) {
    expect_matches(c, executor);
  }
}

TEST(BlockSelectionReference, AllEqualGivesTheFirstKInOrder) {
  CpuExecutor executor(1);
  const Case c{"", 1, 65536, 512, test::Scores::kAllEqual, test::Live::kNull};
  const Outputs got = reference_outputs(c, test::make_inputs(c, 1, 0.0F), executor);
  std::vector<int32_t> first(512);
  std::iota(first.begin(), first.end(), 0);
  EXPECT_EQ(got.indices, first);
}

TEST(BlockSelectionReference, StaleEntriesBeyondTheLiveCountChangeNothing) {
  CpuExecutor executor(2);
  const Case c{"", 33, 1000, 512, test::Scores::kRelu, test::Live::kRamp};
  const Outputs calm = reference_outputs(c, test::make_inputs(c, 7, 0.0F), executor);
  for (const float stale :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F}) {
    EXPECT_EQ(calm, reference_outputs(c, test::make_inputs(c, 7, stale), executor));
  }
}

TEST(BlockSelectionReference, ThreadsChangeNothing) {
  CpuExecutor one(1);
  CpuExecutor four(4);
  const Case c{"", 149, 1031, 512, test::Scores::kFewValues, test::Live::kRamp};
  const test::Inputs inputs = test::make_inputs(c, 3, 9.0F);
  EXPECT_EQ(reference_outputs(c, inputs, one), reference_outputs(c, inputs, four));
}

TEST(BlockSelectionReference, ChosenScoresAreOptional) {
  CpuExecutor executor(1);
  const std::vector<float> scores{1.0F, 3.0F, 2.0F};
  std::vector<int32_t> indices(2);
  int32_t count = 0;
  const BlockSelectionParams params{.shape = {.num_rows = 1, .row_len = 3, .k = 2},
                                    .scores = scores.data(),
                                    .scores_stride = 3,
                                    .live_counts = nullptr,
                                    .indices = indices.data(),
                                    .counts = &count,
                                    .chosen_scores = nullptr};
  ASSERT_TRUE(block_selection_reference(params, executor).is_ok());
  EXPECT_EQ(indices, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(count, 2);
}

class BlockSelectionErrors : public testing::Test {
 protected:
  void expect_refusal(LaunchCode code, const char* what, int64_t value) {
    const LaunchStatus status = block_selection_reference(params_, executor_);
    EXPECT_EQ(status.code, code);
    EXPECT_STREQ(status.what, what);
    EXPECT_EQ(status.value, value);
    EXPECT_EQ(count_, kPoisonIndex);
  }

  CpuExecutor executor_{1};
  std::vector<float> scores_ = std::vector<float>(16);
  std::vector<int32_t> indices_ = std::vector<int32_t>(16);
  int32_t count_ = kPoisonIndex;
  BlockSelectionParams params_{.shape = {.num_rows = 1, .row_len = 8, .k = 4},
                               .scores = scores_.data(),
                               .scores_stride = 8,
                               .live_counts = nullptr,
                               .indices = indices_.data(),
                               .counts = &count_,
                               .chosen_scores = nullptr};
};

TEST_F(BlockSelectionErrors, NameTheLimitThatAShapeBreaks) {
  params_.shape.k = 0;
  expect_refusal(LaunchCode::kUnsupported, "k is outside 1..2048", 0);
  params_.shape.k = 2049;
  expect_refusal(LaunchCode::kUnsupported, "k is outside 1..2048", 2049);
  params_.shape.k = 4;
  params_.shape.row_len = 262145;
  expect_refusal(LaunchCode::kUnsupported, "row_len is outside 0..262144", 262145);
  params_.shape.row_len = -1;
  expect_refusal(LaunchCode::kUnsupported, "row_len is outside 0..262144", -1);
  params_.shape.row_len = 8;
  params_.shape.num_rows = -1;
  expect_refusal(LaunchCode::kUnsupported, "num_rows is outside 0..1048576", -1);
  params_.shape.num_rows = (1 << 20) + 1;
  expect_refusal(LaunchCode::kUnsupported, "num_rows is outside 0..1048576", (1 << 20) + 1);
}

TEST_F(BlockSelectionErrors, NameTheArgument) {
  params_.scores_stride = 7;
  expect_refusal(LaunchCode::kInvalidArgument, "scores_stride is below row_len", 7);
  params_.scores_stride = 8;
  params_.scores = nullptr;
  expect_refusal(LaunchCode::kInvalidArgument, "scores is null", 0);
  params_.scores = scores_.data();
  params_.indices = nullptr;
  expect_refusal(LaunchCode::kInvalidArgument, "indices is null", 0);
  params_.indices = indices_.data();
  params_.counts = nullptr;
  expect_refusal(LaunchCode::kInvalidArgument, "counts is null", 0);
}

TEST_F(BlockSelectionErrors, NameTheMisalignedPointer) {
  char* bytes = reinterpret_cast<char*>(indices_.data());
  params_.indices = reinterpret_cast<int32_t*>(bytes + 2);
  const LaunchStatus status = block_selection_reference(params_, executor_);
  EXPECT_EQ(status.code, LaunchCode::kInvalidArgument);
  EXPECT_STREQ(status.what, "indices is misaligned (low address byte)");
  EXPECT_EQ(status.value % 4, 2);
}

TEST_F(BlockSelectionErrors, ZeroRowsAreFineWhateverThePointers) {
  const BlockSelectionParams empty{.shape = {.num_rows = 0, .row_len = 8, .k = 4}};
  EXPECT_TRUE(block_selection_reference(empty, executor_).is_ok());
}

TEST(BlockSelectionCost, CountsEveryEntryOnce) {
  const OperatorCost cost = block_selection_cost({.num_rows = 8, .row_len = 65536, .k = 512});
  EXPECT_EQ(cost.bytes, 8 * (65536 + 512 + 2) * 4);
  EXPECT_EQ(cost.flops, 0);
}

DeviceCaps h200_caps() {
  return {.compute_capability = 90,
          .num_sms = 132,
          .max_shared_bytes_per_block = 232448,
          .shared_bytes_per_sm = 233472,
          .max_threads_per_sm = 2048,
          .l2_bytes = 62914560};
}

DeviceCaps without_clusters() {
  return {.compute_capability = 86,
          .num_sms = 82,
          .max_shared_bytes_per_block = 101376,
          .shared_bytes_per_sm = 102400,
          .max_threads_per_sm = 1536,
          .l2_bytes = 6291456};
}

DeviceCaps with_small_shared_memory() {
  DeviceCaps caps = without_clusters();
  caps.compute_capability = 120;
  caps.num_sms = 84;
  return caps;
}

TEST(BlockSelectionPlan, AShortRowIsOneBlocksWork) {
  const BlockSelectionPlan plan =
      plan_block_selection({.num_rows = 1, .row_len = 1000, .k = 512}, h200_caps());
  EXPECT_EQ(plan.path, BlockSelectionPath::kBlock);
  EXPECT_EQ(plan.num_splits, 1);
  EXPECT_EQ(plan.workspace_bytes, 0);
}

TEST(BlockSelectionPlan, FewLongRowsAreClustersOfAsManyBlocksAsTheDeviceHasRoomFor) {
  const auto blocks = [](int64_t num_rows, int64_t row_len) {
    const BlockSelectionPlan plan =
        plan_block_selection({.num_rows = num_rows, .row_len = row_len, .k = 512}, h200_caps());
    EXPECT_EQ(plan.path, BlockSelectionPath::kCluster);
    EXPECT_GE(plan.slice_len * plan.num_splits, row_len);
    EXPECT_EQ(plan.slice_len % 4, 0);
    return plan.num_splits;
  };
  EXPECT_EQ(blocks(1, 65536), 8);
  EXPECT_EQ(blocks(16, 65535), 8);
  EXPECT_EQ(blocks(33, 65536), 4);
  EXPECT_EQ(blocks(64, 65536), 2);
  EXPECT_EQ(blocks(64, 262144), 8) << "fewer blocks cannot hold so long a row";
}

TEST(BlockSelectionPlan, ManyRowsAreOneBlockEach) {
  EXPECT_EQ(plan_block_selection({.num_rows = 2048, .row_len = 32768, .k = 512}, h200_caps()).path,
            BlockSelectionPath::kBlock);
}

TEST(BlockSelectionPlan, WithoutClustersFewRowsAreSplit) {
  const BlockSelectionShape shape{.num_rows = 1, .row_len = 65536, .k = 512};
  const BlockSelectionPlan plan = plan_block_selection(shape, without_clusters());
  EXPECT_EQ(plan.path, BlockSelectionPath::kSplit);
  EXPECT_EQ(plan.num_splits, 16);
  EXPECT_EQ(plan.workspace_bytes, 16 * 512 * 8);
  EXPECT_EQ(block_selection_workspace_bytes(shape, without_clusters()), plan.workspace_bytes);
  EXPECT_FALSE(block_selection_supported(shape, without_clusters(), BlockSelectionPath::kCluster));
}

TEST(BlockSelectionPlan, ARowThatNoClusterHoldsIsSplit) {
  const BlockSelectionShape shape{.num_rows = 1, .row_len = 262144, .k = 2048};
  EXPECT_EQ(plan_block_selection(shape, with_small_shared_memory()).path,
            BlockSelectionPath::kSplit);
  EXPECT_FALSE(
      block_selection_supported(shape, with_small_shared_memory(), BlockSelectionPath::kCluster));
}

TEST(BlockSelectionPlan, PathsCanBeForced) {
  const BlockSelectionShape shape{.num_rows = 3, .row_len = 100, .k = 8};
  for (const BlockSelectionPath path :
       {BlockSelectionPath::kBlock, BlockSelectionPath::kSplit, BlockSelectionPath::kCluster}) {
    ASSERT_TRUE(block_selection_supported(shape, h200_caps(), path));
    const BlockSelectionPlan plan = plan_block_selection(shape, h200_caps(), path);
    EXPECT_EQ(plan.path, path);
    EXPECT_EQ(plan.num_splits > 1, path != BlockSelectionPath::kBlock);
  }
}

TEST(BlockSelectionPlan, OldDevicesAndShapesOutsideTheContractAreNotSupported) {
  DeviceCaps caps = without_clusters();
  caps.compute_capability = 75;
  EXPECT_FALSE(block_selection_supported({.num_rows = 1, .row_len = 8, .k = 4}, caps));
  EXPECT_FALSE(block_selection_supported({.num_rows = 1, .row_len = 8, .k = 2049}, h200_caps()));
  EXPECT_TRUE(block_selection_supported({.num_rows = 1, .row_len = 8, .k = 2048}, h200_caps()));
}

}  // namespace
}  // namespace ifr::kernels
