// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/indexer.h"

#include "interframe_kernels/block_selection.h"
#include "interframe_kernels/rotary.h"
#include "kernels/operator_testing.h"

namespace ifr::kernels::testing {
namespace {

constexpr int64_t kDim = 20;
constexpr int64_t kRotaryDim = 8;
constexpr int64_t kTokens = 131;

struct IndexerInputs {
  IndexerInputs()
      : raw_keys(random_floats(kTokens * (kDim + 3), 1)),
        norm_weight(random_floats(kDim, 2)),
        frequency(kRotaryDim / 2) {
    rotary_inverse_frequencies(10000.0, kRotaryDim, frequency.data());
  }
  std::vector<float> raw_keys;  // rows kDim + 3 apart
  std::vector<float> norm_weight;
  std::vector<float> frequency;
};

// State of one sequence; keys then pending rows.
struct IndexerState {
  IndexerState(const IndexerInputs& in, int64_t block_ratio, int64_t block_capacity)
      : inputs(in),
        ratio(block_ratio),
        capacity(block_capacity),
        keys(unwritten(capacity * kDim)),
        pending(unwritten(ratio * kDim)) {}

  LaunchStatus update(int64_t begin, int64_t end, CpuExecutor& executor) {
    IndexerStateUpdateParams params;
    params.raw_keys = inputs.raw_keys.data() + begin * (kDim + 3);
    params.norm_weight = inputs.norm_weight.data();
    params.inverse_frequency = inputs.frequency.data();
    params.pending = pending.data();
    params.block_keys = keys.data();
    params.num_tokens = end - begin;
    params.key_dim = kDim;
    params.raw_key_stride = kDim + 3;
    params.ratio = ratio;
    params.block_capacity = capacity;
    params.rotary_dim = kRotaryDim;
    params.first_position = begin;
    return indexer_state_update_reference(params, executor);
  }

  const IndexerInputs& inputs;
  int64_t ratio;
  int64_t capacity;
  std::vector<float> keys;
  std::vector<float> pending;
};

class IndexerRatio : public ::testing::TestWithParam<int64_t> {};

TEST_P(IndexerRatio, BlockKeysMatchFloat64ForEveryChunking) {
  const int64_t ratio = GetParam();
  const int64_t blocks = kTokens / ratio;
  const IndexerInputs inputs;
  const std::vector<float> keys = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    IndexerState state(inputs, ratio, blocks);
    in_chunks(kTokens, chunk,
              [&](int64_t begin, int64_t end) { expect_ok(state.update(begin, end, executor)); });
    return state.keys;
  });
  std::vector<double> expected;
  for (int64_t b = 0; b < blocks; ++b) {
    std::vector<float> mean(kDim, 0.0F);
    for (int64_t i = 0; i < ratio; ++i) {
      for (int64_t d = 0; d < kDim; ++d) {
        mean[size_of(d)] += inputs.raw_keys[size_of((b * ratio + i) * (kDim + 3) + d)];
      }
    }
    for (float& value : mean) {
      value /= static_cast<float>(ratio);
    }
    std::vector<double> key =
        rms64(mean.data(), inputs.norm_weight.data(), 1, kDim, 1e-6F, 1.0, true);
    rotate64(key.data(), kRotaryDim, b * ratio, inputs.frequency);
    expected.insert(expected.end(), key.begin(), key.end());
  }
  expect_close(keys, expected, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Ratios, IndexerRatio, ::testing::Values(1, 3, 4, 8, 64));

TEST(IndexerStateUpdate, OverflowIsRefusedWhole) {
  const IndexerInputs inputs;
  CpuExecutor executor(1);
  IndexerState state(inputs, 4, 2);
  expect_ok(state.update(0, 6, executor));
  const std::vector<float> keys = state.keys;
  const std::vector<float> pending = state.pending;
  const LaunchStatus status = state.update(6, 13, executor);
  EXPECT_EQ(status.code, LaunchCode::kWorkspaceTooSmall);
  EXPECT_EQ(status.value, 3);
  expect_same_bits(state.keys, keys, "keys");
  expect_same_bits(state.pending, pending, "pending");
  expect_ok(state.update(6, 11, executor));
  expect_ok(state.update(11, 11, executor));
}

TEST(IndexerQuery, MatchesFloat64) {
  const IndexerInputs inputs;
  const int64_t heads = 3;
  const int64_t stride = heads * kDim + 5;
  const std::vector<float> raw = random_floats(kTokens * stride, 3);
  const std::vector<float> q = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    std::vector<float> out = unwritten(kTokens * heads * kDim);
    in_chunks(kTokens, chunk, [&](int64_t begin, int64_t end) {
      IndexerQueryParams params;
      params.raw_q = raw.data() + begin * stride;
      params.norm_weight = inputs.norm_weight.data();
      params.inverse_frequency = inputs.frequency.data();
      params.q = out.data() + begin * heads * kDim;
      params.num_tokens = end - begin;
      params.num_heads = heads;
      params.key_dim = kDim;
      params.raw_q_stride = stride;
      params.rotary_dim = kRotaryDim;
      params.first_position = begin;
      expect_ok(indexer_query_reference(params, executor));
    });
    return out;
  });
  std::vector<double> expected;
  for (int64_t i = 0; i < kTokens * heads; ++i) {
    std::vector<double> head = rms64(raw.data() + i / heads * stride + i % heads * kDim,
                                     inputs.norm_weight.data(), 1, kDim, 1e-6F, 1.0, true);
    rotate64(head.data(), kRotaryDim, i / heads, inputs.frequency);
    expected.insert(expected.end(), head.begin(), head.end());
  }
  expect_close(q, expected, 1e-6);
}

// Scores rows of tokens first_position .. against block_keys.
std::vector<float> score(const std::vector<float>& q, const std::vector<float>& keys, int64_t heads,
                         int64_t ratio, int64_t first_position, int64_t chunk,
                         CpuExecutor& executor, std::vector<int32_t>* live = nullptr) {
  const auto tokens = static_cast<int64_t>(q.size()) / heads / kDim;
  const auto blocks = static_cast<int64_t>(keys.size()) / kDim;
  std::vector<float> scores(size_of(tokens * (blocks + 1)), -7.0F);
  std::vector<int32_t> counts(size_of(tokens), -1);
  in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
    IndexerScoreParams params;
    params.q = q.data() + begin * heads * kDim;
    params.block_keys = keys.data();
    params.scores = scores.data() + begin * (blocks + 1);
    params.live_counts = counts.data() + begin;
    params.num_tokens = end - begin;
    params.num_heads = heads;
    params.key_dim = kDim;
    params.num_blocks = blocks;
    params.score_stride = blocks + 1;
    params.ratio = ratio;
    params.first_position = first_position + begin;
    expect_ok(indexer_score_reference(params, executor));
  });
  if (live != nullptr) {
    *live = counts;
  }
  return scores;
}

TEST(IndexerScore, MatchesFloat64AndTouchesOnlyLiveBlocks) {
  const int64_t heads = 4;
  const int64_t blocks = 140;
  const int64_t tokens = 140;
  const std::vector<float> q = random_floats(tokens * heads * kDim, 4);
  const std::vector<float> keys = random_floats(blocks * kDim, 5);
  std::vector<int32_t> live;
  const std::vector<float> scores = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    return score(q, keys, heads, 4, 420, chunk, executor, &live);
  });
  std::vector<double> expected;
  for (int64_t t = 0; t < tokens; ++t) {
    EXPECT_EQ(live[size_of(t)], (420 + t + 1) / 4);
    for (int64_t b = 0; b <= blocks; ++b) {
      if (b >= live[size_of(t)]) {
        expected.push_back(-7.0);
        continue;
      }
      double sum = 0.0;
      for (int64_t h = 0; h < heads; ++h) {
        double dot = 0.0;
        for (int64_t d = 0; d < kDim; ++d) {
          dot += static_cast<double>(q[size_of((t * heads + h) * kDim + d)]) *
                 keys[size_of(b * kDim + d)];
        }
        sum += std::max(dot, 0.0);
      }
      expected.push_back(sum / std::sqrt(static_cast<double>(kDim)));
    }
  }
  expect_close(scores, expected, 2e-6);
}

TEST(IndexerScore, NanCountsZeroInfinityStaysNothingIsNegativeZero) {
  CpuExecutor executor(1);
  std::vector<float> q(2 * kDim, 0.0F);
  q[0] = 1.0F;
  q[kDim] = -1.0F;
  std::vector<float> keys(6 * kDim, 0.0F);
  keys[0] = 2.0F;             // head 0: 2, head 1: -2
  keys[kDim] = -0.0F;         // zeros of both signs
  keys[2 * kDim] = kNan;      // NaN in both heads
  keys[3 * kDim] = kInf;      // +inf and -inf
  keys[4 * kDim] = 1e-45F;    // smallest denormal
  keys[5 * kDim + 1] = kNan;  // NaN by 0 * NaN
  const std::vector<float> scores = score(q, keys, 2, 1, 5, 1, executor);
  EXPECT_FLOAT_EQ(scores[0], static_cast<float>(2.0 / std::sqrt(20.0)));
  for (const size_t i : {1U, 2U, 4U, 5U}) {
    EXPECT_EQ(std::bit_cast<uint32_t>(scores[i]), 0U) << i;
  }
  EXPECT_EQ(scores[3], kInf);
}

TEST(IndexerScore, QueryOfNanScoresZeroEverywhere) {
  CpuExecutor executor(1);
  const std::vector<float> q(2 * kDim, kNan);
  const std::vector<float> scores = score(q, random_floats(600 * kDim, 6), 2, 1, 599, 1, executor);
  EXPECT_TRUE(std::all_of(scores.begin(), scores.begin() + 600, [](float s) { return s == 0.0F; }));
}

TEST(IndexerScore, RefusesTooFewBlocks) {
  CpuExecutor executor(1);
  std::vector<float> v(8);
  int32_t live = 0;
  IndexerScoreParams params;
  params.q = v.data();
  params.block_keys = v.data();
  params.scores = v.data();
  params.live_counts = &live;
  params.num_tokens = 1;
  params.num_heads = 1;
  params.key_dim = 4;
  params.ratio = 4;
  params.first_position = 7;
  params.score_stride = 2;
  params.num_blocks = 1;
  expect_refused(indexer_score_reference(params, executor), "num_blocks");
  params.num_blocks = 2;
  params.score_stride = 1;
  expect_refused(indexer_score_reference(params, executor), "score_stride");
  params.score_stride = 2;
  params.ratio = 0;
  expect_refused(indexer_score_reference(params, executor), "ratio");
}

// A03: scores of special values reach the selection as different valid indices.
TEST(IndexerScore, SpecialScoresSelectDifferentBlocks) {
  CpuExecutor executor(1);
  const int64_t blocks = 600;
  const int32_t k = 512;
  for (const int64_t num_nan : {0, 1, 100, 600}) {
    std::vector<float> q(2 * kDim, 1.0F);
    std::vector<float> keys = random_floats(blocks * kDim, 7);
    for (int64_t b = 0; b < num_nan; ++b) {
      keys[size_of(b * kDim)] = kNan;
    }
    for (int64_t b = 0; b < 590 && num_nan == 0; ++b) {
      std::fill_n(keys.begin() + b * kDim, kDim, 3e38F);  // dots overflow to +inf
    }
    const std::vector<float> scores = score(q, keys, 2, 1, blocks - 1, 1, executor);
    std::vector<int32_t> indices(size_of(k));
    int32_t count = 0;
    BlockSelectionParams params;
    params.shape = {1, blocks, k};
    params.scores = scores.data();
    params.scores_stride = blocks + 1;
    params.indices = indices.data();
    params.counts = &count;
    expect_ok(block_selection_reference(params, executor));
    EXPECT_EQ(count, k);
    std::sort(indices.begin(), indices.end());
    EXPECT_EQ(std::unique(indices.begin(), indices.end()), indices.end());
    EXPECT_GE(indices.front(), 0);
    EXPECT_LT(indices.back(), blocks);
    if (num_nan == 600 || num_nan == 0) {
      EXPECT_EQ(indices.back(), k - 1);  // all equal: the lower ones
    }
  }
}

struct Expanded {
  std::vector<int32_t> selected;
  int32_t count = -1;
};

Expanded expand(const std::vector<int32_t>& blocks, int64_t ratio, int64_t position) {
  CpuExecutor executor(1);
  const auto max_blocks = static_cast<int64_t>(blocks.size());
  Expanded result;
  result.selected.assign(size_of(selection_max_tokens(max_blocks, ratio)), 77);
  SelectionExpandParams params;
  params.blocks = blocks.data();
  params.selected = result.selected.data();
  params.counts = &result.count;
  params.num_tokens = 1;
  params.max_blocks = max_blocks;
  params.max_selected = static_cast<int64_t>(result.selected.size());
  params.ratio = ratio;
  params.first_position = position;
  expect_ok(selection_expand_reference(params, executor));
  return result;
}

using List = std::vector<int32_t>;

// A02: positions 0 .. 4 and 7 with r 4 and a budget of two blocks.
TEST(SelectionExpand, BlocksInRankOrderThenTail) {
  const int32_t none = -1;
  EXPECT_EQ(expand({none, none}, 4, 0).selected,
            (List{0, none, none, none, none, none, none, none, none, none, none}));
  EXPECT_EQ(expand({none, none}, 4, 2).selected,
            (List{0, 1, 2, none, none, none, none, none, none, none, none}));
  EXPECT_EQ(expand({0, none}, 4, 3).selected,
            (List{0, 1, 2, 3, none, none, none, none, none, none, none}));
  EXPECT_EQ(expand({0, none}, 4, 4).selected,
            (List{0, 1, 2, 3, 4, none, none, none, none, none, none}));
  EXPECT_EQ(expand({1, 0}, 4, 7).selected, (List{4, 5, 6, 7, 0, 1, 2, 3, none, none, none}));
  EXPECT_EQ(expand({2, 0}, 4, 14).selected, (List{8, 9, 10, 11, 0, 1, 2, 3, 12, 13, 14}));
  EXPECT_EQ(expand({2, 0}, 4, 14).count, 11);
  EXPECT_EQ(expand({0, none}, 4, 3).count, 4);
  EXPECT_EQ(expand({none, none}, 4, 0).count, 1);
}

TEST(SelectionExpand, RatioOneAndIncompleteBlocks) {
  EXPECT_EQ(expand({3, 1}, 1, 3).selected, (List{3, 1}));
  EXPECT_EQ(expand({5, 0}, 4, 5).selected, (List{0, 1, 2, 3, 4, 5, -1, -1, -1, -1, -1}));
  EXPECT_EQ(expand({}, 4, 6).selected, (List{4, 5, 6}));
}

TEST(SelectionExpand, FullBudgetAtItsBorder) {
  for (const int64_t position : {2046, 2047, 2048, 2051}) {
    List blocks(512, -1);
    for (int32_t b = 0; b < std::min<int32_t>(512, static_cast<int32_t>(position + 1) / 4); ++b) {
      blocks[size_of(b)] = b;
    }
    const Expanded result = expand(blocks, 4, position);
    const int64_t live = (position + 1) / 4;
    const int64_t tail = position + 1 - 4 * live;
    EXPECT_EQ(result.count, 4 * std::min<int64_t>(live, 512) + tail) << position;
    EXPECT_EQ(result.selected.size(), 2051U);
    EXPECT_EQ(result.selected[0], 0);
  }
}

TEST(SelectionExpand, RefusesShortRows) {
  CpuExecutor executor(1);
  int32_t v[8] = {};
  SelectionExpandParams params;
  params.blocks = v;
  params.selected = v;
  params.counts = v;
  params.num_tokens = 1;
  params.max_blocks = 1;
  params.ratio = 4;
  params.max_selected = 6;
  expect_refused(selection_expand_reference(params, executor), "max_selected");
  params.ratio = 0;
  expect_refused(selection_expand_reference(params, executor), "ratio");
}

}  // namespace
}  // namespace ifr::kernels::testing
