// SPDX-License-Identifier: Apache-2.0
// The device against the reference: equal bits, on every path.
#include "interframe_kernels/block_selection.h"

#include "block_selection_cases.h"
#include "block_selection_device.cuh"
#include "device_test.cuh"
#include "indexer/block_selection/limits.h"
#include "interframe_kernels/cpu_executor.h"

#include <gtest/gtest.h>

namespace ifr::kernels {
namespace {

using test::Case;
using test::DeviceBuffer;

using test::device_caps;
using test::DeviceCase;
using test::Outputs;

Outputs device_outputs(DeviceCase& device, const BlockSelectionPlan& plan) {
  device.poison_outputs();
  const DeviceBuffer<unsigned char> workspace(static_cast<size_t>(plan.workspace_bytes));
  const test::Stream stream;
  const LaunchStatus status = launch_block_selection(
      device.params(), plan, {workspace.data(), static_cast<size_t>(plan.workspace_bytes)},
      stream.get());
  EXPECT_TRUE(status.is_ok()) << status.what << " " << status.value << " driver "
                              << status.driver_code;
  stream.wait();
  EXPECT_TRUE(workspace.guards_intact());
  return device.outputs();
}

Outputs reference_outputs(const Case& c, const test::Inputs& inputs) {
  static CpuExecutor executor(4);
  const auto size = static_cast<size_t>(c.num_rows * c.k);
  Outputs out{std::vector<int32_t>(size), std::vector<int32_t>(static_cast<size_t>(c.num_rows)),
              std::vector<uint32_t>(size)};
  std::vector<float> chosen(size);
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

template <typename T>
void expect_same(const char* what, const std::vector<T>& expected, const std::vector<T>& got,
                 size_t row_len) {
  size_t num_wrong = 0;
  size_t first = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != got[i] && num_wrong++ == 0) {
      first = i;
    }
  }
  EXPECT_EQ(num_wrong, 0U) << what << ": " << num_wrong << " of " << expected.size()
                           << " differ, first at row " << first / row_len << " rank "
                           << first % row_len << ": expected " << expected[first] << ", got "
                           << got[first];
}

void expect_same(const Case& c, const Outputs& expected, const Outputs& got) {
  expect_same("counts", expected.counts, got.counts, 1);
  expect_same("indices", expected.indices, got.indices, static_cast<size_t>(c.k));
  expect_same("scores", expected.score_bits, got.score_bits, static_cast<size_t>(c.k));
}

BlockSelectionPlan with_splits(BlockSelectionPlan plan, const BlockSelectionShape& shape,
                               int32_t num_splits) {
  plan.num_splits = num_splits;
  plan.slice_len = (shape.row_len / num_splits + 8) / 4 * 4;
  if (plan.path == BlockSelectionPath::kSplit) {
    plan.workspace_bytes = shape.num_rows * num_splits * shape.k * 8;
  }
  return plan;
}

// The device's own choice, and each path with each number of blocks that it may be given.
std::vector<BlockSelectionPlan> all_plans(const BlockSelectionShape& shape) {
  const DeviceCaps caps = device_caps();
  std::vector<BlockSelectionPlan> plans{
      plan_block_selection(shape, caps, BlockSelectionPath::kAuto),
      plan_block_selection(shape, caps, BlockSelectionPath::kBlock)};
  const BlockSelectionPlan split = plan_block_selection(shape, caps, BlockSelectionPath::kSplit);
  for (const int32_t num_splits : {2, 5, block_selection::kMaxSplits}) {
    plans.push_back(with_splits(split, shape, num_splits));
  }
  if (block_selection_supported(shape, caps, BlockSelectionPath::kCluster)) {
    const BlockSelectionPlan cluster =
        plan_block_selection(shape, caps, BlockSelectionPath::kCluster);
    for (int32_t num_blocks = 2; num_blocks <= block_selection::kMaxClusterBlocks;
         num_blocks *= 2) {
      const BlockSelectionPlan plan = with_splits(cluster, shape, num_blocks);
      if (plan.slice_len * 4 + block_selection::kClusterStaticSharedBytes <=
          caps.max_shared_bytes_per_block) {
        plans.push_back(plan);
      }
    }
  }
  return plans;
}

void expect_matches_on_every_path(const Case& c) {
  const test::Inputs inputs = test::make_inputs(c, 1, std::numeric_limits<float>::quiet_NaN());
  DeviceCase device(c, inputs);
  std::vector<Outputs> got;
  const std::vector<BlockSelectionPlan> plans = all_plans(test::shape_of(c));
  for (const BlockSelectionPlan& plan : plans) {
    got.push_back(device_outputs(device, plan));
  }
  const Outputs expected = reference_outputs(c, inputs);
  for (size_t i = 0; i < plans.size(); ++i) {
    SCOPED_TRACE(test::describe(c) + "; path " + std::to_string(static_cast<int>(plans[i].path)) +
                 ", blocks a row " + std::to_string(plans[i].num_splits));
    expect_same(c, expected, got[i]);
  }
}

TEST(BlockSelectionSmall, MatchesTheReferenceOnEveryPath) {
  for (const Case& c : test::small_cases()) {
    expect_matches_on_every_path(c);
  }
}

TEST(BlockSelectionLarge, MatchesTheReferenceOnEveryPath) {
  for (const Case& c : test::large_cases()) {
    expect_matches_on_every_path(c);
  }
}

TEST(BlockSelectionSmall, StaleEntriesBeyondTheLiveCountChangeNothing) {
  const Case c{"", 12, 1000, 512, test::Scores::kRelu, test::Live::kRamp};
  const Outputs expected = reference_outputs(c, test::make_inputs(c, 7, 0.0F));
  for (const float stale :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F}) {
    DeviceCase device(c, test::make_inputs(c, 7, stale));
    for (const BlockSelectionPlan& plan : all_plans(test::shape_of(c))) {
      expect_same(c, expected, device_outputs(device, plan));
    }
  }
}

// The row claims 262,144 entries, but memory ends with the live ones: a read beyond shows under
// compute-sanitizer.
TEST(BlockSelectionSmall, EntriesBeyondTheLiveCountNeedNotExist) {
  constexpr int32_t kLive = 1001;
  const Case live_case{"", 1, kLive, 512, test::Scores::kNormal, test::Live::kNull};
  test::Inputs inputs = test::make_inputs(live_case, 5, 0.0F);
  inputs.scores.resize(kLive);
  float* scores = nullptr;
  test::require(cudaMalloc(&scores, kLive * sizeof(float)), "cudaMalloc");
  test::require(
      cudaMemcpy(scores, inputs.scores.data(), kLive * sizeof(float), cudaMemcpyHostToDevice),
      "upload");
  const DeviceBuffer<int32_t> live_count(std::vector<int32_t>{kLive});
  Case claimed = live_case;
  claimed.row_len = kBlockSelectionMaxRowLen;
  DeviceCase device(live_case, test::make_inputs(live_case, 5, 0.0F));
  BlockSelectionParams params = device.params();
  params.shape = test::shape_of(claimed);
  params.scores = scores;
  params.scores_stride = claimed.row_len;
  params.live_counts = live_count.data();
  const Outputs expected = reference_outputs(live_case, test::make_inputs(live_case, 5, 0.0F));
  const test::Stream stream;
  for (const BlockSelectionPlan& plan : all_plans(params.shape)) {
    device.poison_outputs();
    const DeviceBuffer<unsigned char> workspace(static_cast<size_t>(plan.workspace_bytes));
    ASSERT_TRUE(launch_block_selection(
                    params, plan, {workspace.data(), static_cast<size_t>(plan.workspace_bytes)},
                    stream.get())
                    .is_ok());
    stream.wait();
    expect_same(live_case, expected, device.outputs());
  }
  test::require(cudaFree(scores), "cudaFree");
}

TEST(BlockSelectionLarge, AHundredLaunchesAreBitEqual) {
  const Case c{"", 8, 65536, 512, test::Scores::kFewValues, test::Live::kRamp};
  DeviceCase device(c, test::make_inputs(c, 3, 0.0F));
  for (const BlockSelectionPlan& plan : all_plans(test::shape_of(c))) {
    const Outputs first = device_outputs(device, plan);
    for (int launch = 1; launch < 100; ++launch) {
      ASSERT_EQ(first, device_outputs(device, plan));
    }
  }
}

TEST(BlockSelectionSmall, AGraphFollowsItsInputs) {
  const Case c{"", 8, 9000, 512, test::Scores::kRelu, test::Live::kRamp};
  DeviceCase device(c, test::make_inputs(c, 1, 0.0F));
  for (const BlockSelectionPlan& plan : all_plans(test::shape_of(c))) {
    const DeviceBuffer<unsigned char> workspace(static_cast<size_t>(plan.workspace_bytes));
    const test::Stream stream;
    const test::Graph graph(stream, [&](cudaStream_t capturing) {
      EXPECT_TRUE(launch_block_selection(
                      device.params(), plan,
                      {workspace.data(), static_cast<size_t>(plan.workspace_bytes)}, capturing)
                      .is_ok());
    });
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      const test::Inputs inputs = test::make_inputs(c, seed, 1e9F);
      device.change_inputs(inputs);
      device.poison_outputs();
      graph.run(stream);
      stream.wait();
      expect_same(c, reference_outputs(c, inputs), device.outputs());
    }
  }
}

TEST(BlockSelectionSmall, ChosenScoresAreOptional) {
  const Case c{"", 3, 9001, 100, test::Scores::kNormal, test::Live::kNull};
  const test::Inputs inputs = test::make_inputs(c, 1, 0.0F);
  DeviceCase device(c, inputs);
  const Outputs expected = reference_outputs(c, inputs);
  const test::Stream stream;
  for (const BlockSelectionPlan& plan : all_plans(test::shape_of(c))) {
    device.poison_outputs();
    BlockSelectionParams params = device.params();
    params.chosen_scores = nullptr;
    const DeviceBuffer<unsigned char> workspace(static_cast<size_t>(plan.workspace_bytes));
    ASSERT_TRUE(launch_block_selection(
                    params, plan, {workspace.data(), static_cast<size_t>(plan.workspace_bytes)},
                    stream.get())
                    .is_ok());
    stream.wait();
    const Outputs got = device.outputs();
    EXPECT_EQ(expected.indices, got.indices);
    EXPECT_EQ(got.score_bits, std::vector<uint32_t>(got.score_bits.size(), 0xffffffffU));
  }
}

class BlockSelectionRefusals : public testing::Test {
 protected:
  void expect_refusal(LaunchCode code, const char* what, int64_t value) {
    const LaunchStatus status = launch_block_selection(params_, plan_, workspace_, stream_.get());
    EXPECT_EQ(status.code, code);
    EXPECT_STREQ(status.what, what);
    EXPECT_EQ(status.value, value);
    stream_.wait();
    EXPECT_EQ(device_.outputs().counts, std::vector<int32_t>(2, -1));
  }

  Case case_{"", 2, 1000, 8, test::Scores::kNormal, test::Live::kFull};
  DeviceCase device_{case_, test::make_inputs(case_, 1, 0.0F)};
  BlockSelectionParams params_ = device_.params();
  BlockSelectionPlan plan_ =
      plan_block_selection(params_.shape, device_caps(), BlockSelectionPath::kBlock);
  Workspace workspace_{};
  test::Stream stream_;
};

TEST_F(BlockSelectionRefusals, NameTheLimitThatAShapeBreaks) {
  params_.shape.k = 2049;
  expect_refusal(LaunchCode::kUnsupported, "k is outside 1..2048", 2049);
  params_.shape.k = 8;
  params_.shape.row_len = 262145;
  expect_refusal(LaunchCode::kUnsupported, "row_len is outside 0..262144", 262145);
}

TEST_F(BlockSelectionRefusals, NameTheArgument) {
  params_.scores_stride = 996;
  expect_refusal(LaunchCode::kInvalidArgument, "scores_stride is below row_len", 996);
  params_.scores_stride = 1001;
  expect_refusal(LaunchCode::kInvalidArgument, "scores_stride is not a multiple of 4", 1001);
  params_.scores_stride = 1000;
  params_.scores += 1;
  expect_refusal(LaunchCode::kInvalidArgument, "scores is not 16-byte aligned (low address byte)",
                 4);
  params_.scores = nullptr;
  expect_refusal(LaunchCode::kInvalidArgument, "scores is null", 0);
  params_.scores = device_.params().scores;
  params_.indices = nullptr;
  expect_refusal(LaunchCode::kInvalidArgument, "indices is null", 0);
  params_.indices = reinterpret_cast<int32_t*>(uintptr_t{2});
  expect_refusal(LaunchCode::kInvalidArgument, "indices is misaligned (low address byte)", 2);
}

TEST_F(BlockSelectionRefusals, NameTheWorkspace) {
  plan_ = plan_block_selection(params_.shape, device_caps(), BlockSelectionPath::kSplit);
  ASSERT_GT(plan_.workspace_bytes, 0);
  const DeviceBuffer<unsigned char> memory(static_cast<size_t>(plan_.workspace_bytes));
  workspace_ = {memory.data(), static_cast<size_t>(plan_.workspace_bytes) - 1};
  expect_refusal(LaunchCode::kWorkspaceTooSmall, "the workspace is smaller than the plan asks for",
                 plan_.workspace_bytes - 1);
  workspace_ = {nullptr, static_cast<size_t>(plan_.workspace_bytes)};
  expect_refusal(LaunchCode::kInvalidArgument, "the workspace is null", 0);
  workspace_ = {memory.data() + 8, static_cast<size_t>(plan_.workspace_bytes)};
  expect_refusal(LaunchCode::kInvalidArgument,
                 "the workspace is not 256-byte aligned (low address byte)", 8);
}

TEST_F(BlockSelectionRefusals, NameWhatThePlanWasNotMadeFor) {
  const BlockSelectionPlan good = plan_;
  plan_ = {};
  expect_refusal(LaunchCode::kInvalidArgument, "the plan has no path", 0);
  plan_ = good;
  plan_.num_splits = 3;
  expect_refusal(LaunchCode::kInvalidArgument, "the plan's num_splits does not fit its path", 3);
  plan_ = good;
  plan_.slice_len = 500;
  expect_refusal(LaunchCode::kInvalidArgument, "the plan is for shorter rows", 500);
  plan_ = plan_block_selection(params_.shape, device_caps(), BlockSelectionPath::kSplit);
  plan_.workspace_bytes = 16;
  expect_refusal(LaunchCode::kInvalidArgument, "the plan is for fewer rows or a smaller k", 16);
}

TEST_F(BlockSelectionRefusals, ZeroRowsAreFineAndQueueNothing) {
  const BlockSelectionParams empty{.shape = {.num_rows = 0, .row_len = 8, .k = 4}};
  EXPECT_TRUE(launch_block_selection(empty, {}, {}, stream_.get()).is_ok());
}

}  // namespace
}  // namespace ifr::kernels

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (ifr::kernels::test::count_devices() == 0) {
    return ifr::kernels::test::kExitSkipped;
  }
  return RUN_ALL_TESTS();
}
