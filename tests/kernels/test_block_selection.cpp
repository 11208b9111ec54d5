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

}  // namespace
}  // namespace ifr::kernels
