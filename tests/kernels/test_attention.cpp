// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/paged_attention.h"
#include "interframe_kernels/sparse_attention.h"
#include "kernels/attention_testing.h"
#include "kernels/operator_testing.h"

#include <numeric>

namespace ifr::kernels::testing {
namespace {

struct AttentionShape {
  int64_t tokens, heads, kv_heads, dim;
};

class DenseAttention : public ::testing::TestWithParam<AttentionShape> {};

TEST_P(DenseAttention, MatchesFloat64OverPagesAndChunks) {
  const ParamType& shape = GetParam();
  const int64_t tokens = shape.tokens;
  const int64_t heads = shape.heads;
  const int64_t kv_heads = shape.kv_heads;
  const int64_t dim = shape.dim;
  const std::vector<float> q = random_floats(tokens * heads * dim, 1, 2.0F);
  const std::vector<float> key = random_floats(tokens * kv_heads * dim, 2);
  const std::vector<float> value = random_floats(tokens * kv_heads * dim, 3);
  const std::vector<float> out = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    Cache cache(tokens, kv_heads, dim);
    std::vector<float> y = unwritten(tokens * heads * dim);
    in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
      cache.write(key, value, begin, end, executor);
      PagedAttentionParams params;
      params.cache = cache.view();
      params.q = q.data() + begin * heads * dim;
      params.out = y.data() + begin * heads * dim;
      params.num_tokens = end - begin;
      params.num_heads = heads;
      params.first_position = begin;
      expect_ok(paged_attention_reference(params, executor));
    });
    return y;
  });
  std::vector<double> expected;
  for (int64_t i = 0; i < tokens * heads; ++i) {
    const int64_t kv_head = i % heads / (heads / kv_heads);
    const std::vector<double> head =
        attention64(q.data() + i * dim, key, value, up_to(i / heads + 1), kv_heads * dim,
                    kv_head * dim, dim, 1.0 / std::sqrt(static_cast<double>(dim)));
    expected.insert(expected.end(), head.begin(), head.end());
  }
  expect_close(out, expected, 3e-6);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DenseAttention,
                         ::testing::Values(AttentionShape{1, 1, 1, 16}, AttentionShape{63, 2, 1, 8},
                                           AttentionShape{64, 9, 3, 64},
                                           AttentionShape{65, 4, 2, 20},
                                           AttentionShape{130, 4, 4, 33}));

TEST(DenseAttention, RefusesMissingPagesWhole) {
  CpuExecutor executor(1);
  const std::vector<float> row = random_floats(70 * 8, 1);
  Cache cache(70, 1, 8);
  KvCacheWriteParams write;
  write.cache = cache.view();
  write.key = row.data();
  write.value = row.data();
  write.num_tokens = 129;
  expect_refused(kv_cache_write_reference(write, executor), "too short");
  write.num_tokens = 70;
  cache.table()[1] = -1;
  expect_refused(kv_cache_write_reference(write, executor), "no page");
  EXPECT_TRUE(std::isnan(cache.view().key_pool[cache.table()[0] * cache.view().page_stride]));

  std::vector<float> out(8);
  PagedAttentionParams params;
  params.cache = cache.view();
  params.q = row.data();
  params.out = out.data();
  params.num_tokens = 1;
  params.num_heads = 1;
  params.first_position = 69;
  expect_refused(paged_attention_reference(params, executor), "no page");
  params.first_position = 128;
  expect_refused(paged_attention_reference(params, executor), "too short");
  params.first_position = 0;
  params.cache.num_kv_heads = 3;
  expect_refused(paged_attention_reference(params, executor), "page_stride");
  params.cache = cache.view();
  params.num_heads = 0;
  expect_refused(paged_attention_reference(params, executor), "num_heads");
  params.num_tokens = 0;
  expect_ok(paged_attention_reference(params, executor));
}

// Sixteen tokens, two heads on one key head of 8; list tests put what they need on top.
struct SparseFixture : ::testing::Test {
  static constexpr int64_t kTokens = 150;
  static constexpr int64_t kDim = 8;

  SparseFixture()
      : key(random_floats(kTokens * kDim, 1)),
        value(random_floats(kTokens * kDim, 2)),
        q(random_floats(kTokens * 2 * kDim, 3, 2.0F)),
        cache(kTokens, 1, kDim) {
    cache.write(key, value, 0, kTokens, executor);
  }

  // One query row at `position` with the list as given.
  SparseAttentionParams row(const std::vector<int32_t>& list, const int32_t& count,
                            int64_t position, std::vector<float>& out) {
    out = unwritten(2 * kDim);
    SparseAttentionParams params;
    params.cache = cache.view();
    params.q = q.data() + position * 2 * kDim;
    params.selected = list.data();
    params.counts = &count;
    params.out = out.data();
    params.num_tokens = 1;
    params.num_heads = 2;
    params.max_selected = static_cast<int64_t>(list.size());
    params.first_position = position;
    return params;
  }

  std::vector<float> attend(const std::vector<int32_t>& list, int32_t count, int64_t position) {
    std::vector<float> out;
    expect_ok(sparse_attention_reference(row(list, count, position, out), executor));
    return out;
  }

  std::vector<double> expected(const std::vector<int64_t>& list, int64_t position) {
    std::vector<double> both;
    for (int64_t h = 0; h < 2; ++h) {
      const std::vector<double> head = attention64(q.data() + (position * 2 + h) * kDim, key, value,
                                                   list, kDim, 0, kDim, 1.0 / std::sqrt(8.0));
      both.insert(both.end(), head.begin(), head.end());
    }
    return both;
  }

  std::string strict(const std::vector<int32_t>& list, int32_t count, int64_t position) {
    std::vector<float> out;
    const LaunchStatus status = sparse_attention_check_lists(row(list, count, position, out));
    return status.is_ok() ? "" : status.what;
  }

  CpuExecutor executor{2};
  std::vector<float> key;
  std::vector<float> value;
  std::vector<float> q;
  Cache cache;
};

constexpr int32_t kMaxInt = std::numeric_limits<int32_t>::max();

TEST_F(SparseFixture, ListOfRankOrderAndDuplicates) {
  expect_close(attend({149, 3, 70, 0}, 4, 149), expected({149, 3, 70, 0}, 149), 3e-6);
  expect_close(attend({5, 5, 9}, 3, 100), expected({5, 5, 9}, 100), 3e-6);
}

TEST_F(SparseFixture, NothingValidGivesExactZero) {
  const std::vector<float> zero(2 * kDim, 0.0F);
  expect_same_bits(attend({3, 4}, 0, 100), zero, "count 0");
  expect_same_bits(attend({3, 4}, -1, 100), zero, "count -1");
  expect_same_bits(attend({}, 0, 100), zero, "no width");
  expect_same_bits(attend({}, 5, 100), zero, "no width, count 5");
  expect_same_bits(attend({-1, 101, kMaxInt, -7}, 4, 100), zero, "invalid entries");
}

TEST_F(SparseFixture, InvalidEntriesAddNothing) {
  expect_close(attend({3, -1, 70}, 3, 100), expected({3, 70}, 100), 3e-6);
  expect_close(attend({3, 150, 70}, 3, 100), expected({3, 70}, 100), 3e-6);  // the length
  expect_close(attend({3, 101, 70}, 3, 100), expected({3, 70}, 100), 3e-6);  // future
  expect_close(attend({3, 70}, 2 + 5, 100), expected({3, 70}, 100), 3e-6);   // count clamped
  expect_close(attend({3, 70, kMaxInt}, 2, 100), expected({3, 70}, 100), 3e-6);
  cache.table()[1] = -1;  // the page of 64 .. 127
  expect_close(attend({3, 70, 149}, 3, 149), expected({3, 149}, 149), 3e-6);
}

TEST_F(SparseFixture, StrictReadingNamesEachFault) {
  EXPECT_EQ(strict({3, 70}, 2, 100), "");
  EXPECT_EQ(strict({3, 70, kMaxInt}, 2, 100), "");
  EXPECT_EQ(strict({3, 70}, -1, 100), "a count is negative");
  EXPECT_EQ(strict({3, 70}, 7, 100), "a count is above max_selected");
  EXPECT_EQ(strict({3, -1, 70}, 3, 100), "a selected position is negative");
  EXPECT_EQ(strict({3, 101}, 2, 100), "a selected position is after its query");
  EXPECT_EQ(strict({3, 3}, 2, 100), "a selected position is listed twice");
  cache.table()[0] = -1;
  EXPECT_EQ(strict({3}, 1, 100), "a selected position has no page");
}

TEST_F(SparseFixture, LongListsAndChunksGiveOneAnswer) {
  const int64_t width = 140;
  std::mt19937 generator(7);
  std::vector<int32_t> lists;
  std::vector<int32_t> counts;
  for (int32_t t = 0; t < kTokens; ++t) {
    std::vector<int32_t> all(size_of(t + 1));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), generator);
    all.resize(size_of(width), -1);
    lists.insert(lists.end(), all.begin(), all.end());
    counts.push_back(t % 14 == 0 ? 0 : std::min<int32_t>(t + 1, width));
  }
  const std::vector<float> out = expect_one_answer([&](CpuExecutor& threads, int64_t chunk) {
    std::vector<float> y = unwritten(kTokens * 2 * kDim);
    in_chunks(kTokens, chunk, [&](int64_t begin, int64_t end) {
      SparseAttentionParams params;
      params.cache = cache.view();
      params.q = q.data() + begin * 2 * kDim;
      params.selected = lists.data() + begin * width;
      params.counts = counts.data() + begin;
      params.out = y.data() + begin * 2 * kDim;
      params.num_tokens = end - begin;
      params.num_heads = 2;
      params.max_selected = width;
      params.first_position = begin;
      expect_ok(sparse_attention_reference(params, threads));
    });
    return y;
  });
  std::vector<double> all;
  for (int64_t t = 0; t < kTokens; ++t) {
    const auto* list = lists.data() + t * width;
    const std::vector<double> both =
        expected(std::vector<int64_t>(list, list + counts[size_of(t)]), t);
    all.insert(all.end(), both.begin(), both.end());
  }
  expect_close(out, all, 3e-6);
}

// Keys whose dot with the query is the score wanted; values 1, 2, 3, ... or as given.
std::vector<float> attend_scores(const std::vector<float>& scores, const std::vector<float>& values,
                                 const std::vector<int32_t>& list) {
  const auto tokens = static_cast<int64_t>(scores.size());
  CpuExecutor executor(1);
  Cache cache(tokens, 1, 1);
  cache.write(scores, values, 0, tokens, executor);
  const float q = 1.0F;
  float out = kNan;
  const auto count = static_cast<int32_t>(list.size());
  SparseAttentionParams params;
  params.cache = cache.view();
  params.q = &q;
  params.selected = list.data();
  params.counts = &count;
  params.out = &out;
  params.num_tokens = 1;
  params.num_heads = 1;
  params.max_selected = count;
  params.first_position = tokens - 1;
  expect_ok(sparse_attention_reference(params, executor));
  return {out};
}

TEST(SparseAttention, VeryLowScoresKeepTheirWeights) {
  EXPECT_EQ(attend_scores({-60000.0F, 0.0F}, {3.0F, 9.0F}, {0})[0], 3.0F);
  EXPECT_EQ(attend_scores({-1e30F, 0.0F}, {3.0F, 9.0F}, {0})[0], 3.0F);
  EXPECT_NEAR(attend_scores({-60000.0F, -60001.0F}, {1.0F, 0.0F}, {0, 1})[0], 0.731059, 1e-6);
  EXPECT_NEAR(attend_scores({-60000.0F, -60001.0F}, {0.0F, 1.0F}, {0, 1})[0], 0.268941, 1e-6);
  EXPECT_EQ(attend_scores({-20000.0F, 100.0F}, {5.0F, 100.0F}, {0})[0], 5.0F);
}

TEST(SparseAttention, ARisingMaximumAcrossRunsKeepsTheSum) {
  // 64 keys at 0 with value 1, then one at 88 with value 0: 64 e^-88 / (64 e^-88 + 1).
  std::vector<float> scores(65, 0.0F);
  std::vector<float> values(65, 1.0F);
  scores[64] = 88.0F;
  values[64] = 0.0F;
  std::vector<int32_t> list(65);
  std::iota(list.begin(), list.end(), 0);
  const double weight = 64.0 * std::exp(-88.0);
  EXPECT_NEAR(attend_scores(scores, values, list)[0] / (weight / (weight + 1.0)), 1.0, 1e-5);
}

}  // namespace
}  // namespace ifr::kernels::testing
