// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/block_sparse_attention.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "interframe_kernels/paged_attention.h"
#include "kernels/attention_testing.h"
#include "kernels/operator_testing.h"

namespace ifr::kernels::testing {
namespace {

struct Case {
  int64_t tokens, heads, kv_heads, dim, block, max_blocks, first, recent;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  std::ostringstream name;
  name << "t" << c.tokens << "_h" << c.heads << "of" << c.kv_heads << "_d" << c.dim << "_b"
       << c.block << "x" << c.max_blocks << "_f" << c.first << "_r" << c.recent;
  return name.str();
}

// A sequence with its index, fed in pieces as an engine would.
class Feed {
 public:
  explicit Feed(const Case& shape)
      : shape_(shape),
        q(random_floats(shape.tokens * shape.heads * shape.dim, 1, 2.0F)),
        key(random_floats(shape.tokens * shape.kv_heads * shape.dim, 2)),
        value(random_floats(shape.tokens * shape.kv_heads * shape.dim, 3)),
        cache_(shape.tokens, shape.kv_heads, shape.dim),
        means(unwritten(shape.tokens / shape.block * shape.kv_heads * shape.dim)),
        blocks(size_of(shape.tokens * shape.kv_heads * shape.max_blocks), -7),
        scores(unwritten(shape.tokens * shape.kv_heads * shape.max_blocks)),
        scratch_(blocks.size()),
        out(unwritten(shape.tokens * shape.heads * shape.dim)) {}

  void feed(int64_t begin, int64_t end, CpuExecutor& executor) {
    cache_.write(key, value, begin, end, executor);
    expect_ok(block_mean_update_reference(update(begin, end), executor));
    expect_ok(block_sparse_select_reference(select(begin, end), executor));
    expect_ok(block_sparse_attention_reference(attention(begin, end), executor));
  }

  BlockMeanUpdateParams update(int64_t begin, int64_t end) {
    return {.cache = cache_.view(),
            .means = means.data(),
            .num_tokens = end - begin,
            .first_position = begin,
            .block_tokens = shape_.block,
            .block_capacity = shape_.tokens / shape_.block};
  }

  BlockSparseSelectParams select(int64_t begin, int64_t end) {
    const int64_t offset = begin * shape_.kv_heads * shape_.max_blocks;
    return {.q = q.data() + begin * shape_.heads * shape_.dim,
            .means = means.data(),
            .blocks = blocks.data() + offset,
            .scores = scores.data() + offset,
            .scratch = scratch_.data() + offset,
            .num_tokens = end - begin,
            .num_heads = shape_.heads,
            .num_kv_heads = shape_.kv_heads,
            .head_dim = shape_.dim,
            .block_tokens = shape_.block,
            .max_blocks = shape_.max_blocks,
            .num_first_blocks = shape_.first,
            .num_recent_blocks = shape_.recent,
            .first_position = begin};
  }

  BlockSparseAttentionParams attention(int64_t begin, int64_t end) {
    return {.cache = cache_.view(),
            .q = q.data() + begin * shape_.heads * shape_.dim,
            .blocks = blocks.data() + begin * shape_.kv_heads * shape_.max_blocks,
            .out = out.data() + begin * shape_.heads * shape_.dim,
            .num_tokens = end - begin,
            .num_heads = shape_.heads,
            .block_tokens = shape_.block,
            .max_blocks = shape_.max_blocks,
            .first_position = begin};
  }

  Cache& cache() { return cache_; }
  [[nodiscard]] std::vector<int32_t> row(int64_t token, int64_t kv_head) const {
    const auto* at = blocks.data() + (token * shape_.kv_heads + kv_head) * shape_.max_blocks;
    return {at, at + shape_.max_blocks};
  }

 private:
  Case shape_;

 public:
  std::vector<float> q;
  std::vector<float> key;
  std::vector<float> value;

 private:
  Cache cache_;

 public:
  std::vector<float> means;
  std::vector<int32_t> blocks;
  std::vector<float> scores;

 private:
  std::vector<uint64_t> scratch_;

 public:
  std::vector<float> out;
};

// What a row must choose, from float64 means and dots.
class Expected64 {
 public:
  Expected64(const Case& shape, const Feed& run) : shape_(shape), run_(run) {}

  [[nodiscard]] double score(int64_t token, int64_t kv_head, int64_t block) const {
    double best = -std::numeric_limits<double>::infinity();
    const int64_t group = shape_.heads / shape_.kv_heads;
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      double dot = 0.0;
      for (int64_t d = 0; d < shape_.dim; ++d) {
        double sum = 0.0;
        for (int64_t j = block * shape_.block; j < (block + 1) * shape_.block; ++j) {
          sum += run_.key[size_of((j * shape_.kv_heads + kv_head) * shape_.dim + d)];
        }
        dot += run_.q[size_of((token * shape_.heads + h) * shape_.dim + d)] * sum /
               static_cast<double>(shape_.block);
      }
      best = std::max(best, dot / std::sqrt(static_cast<double>(shape_.dim)));
    }
    return best;
  }

  [[nodiscard]] std::vector<int32_t> blocks(int64_t token, int64_t kv_head) const {
    const auto own = static_cast<int32_t>(token / shape_.block);
    std::set<int32_t> chosen;
    std::vector<std::pair<double, int32_t>> rest;
    for (int32_t b = 0; b <= own; ++b) {
      const bool forced = own < shape_.max_blocks || b < shape_.first || b + shape_.recent >= own;
      if (forced) {
        chosen.insert(b);
      } else {
        rest.emplace_back(-score(token, kv_head, b), b);
      }
    }
    std::sort(rest.begin(), rest.end());
    for (size_t i = 0; i < rest.size() && chosen.size() < size_of(shape_.max_blocks); ++i) {
      chosen.insert(rest[i].second);
    }
    std::vector<int32_t> list(chosen.begin(), chosen.end());
    list.resize(size_of(shape_.max_blocks), -1);
    return list;
  }

 private:
  const Case& shape_;
  const Feed& run_;
};

std::vector<int64_t> tokens_of(const std::vector<int32_t>& blocks, int64_t block_tokens,
                               int64_t position) {
  std::vector<int64_t> tokens;
  for (const int32_t b : blocks) {
    for (int64_t j = b * block_tokens; b >= 0 && j < (b + 1) * block_tokens; ++j) {
      if (j <= position) {
        tokens.push_back(j);
      }
    }
  }
  return tokens;
}

class BlockSparse : public ::testing::TestWithParam<Case> {};

TEST_P(BlockSparse, ChoosesAndAttendsAsFloat64OverChunksAndThreads) {
  const Case& shape = GetParam();
  Feed last(shape);
  (void)expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    Feed run(shape);
    in_chunks(shape.tokens, chunk,
              [&](int64_t begin, int64_t end) { run.feed(begin, end, executor); });
    std::vector<float> all = run.out;
    all.insert(all.end(), run.scores.begin(), run.scores.end());
    all.insert(all.end(), run.means.begin(), run.means.end());
    all.insert(all.end(), run.blocks.begin(), run.blocks.end());
    last = std::move(run);
    return all;
  });
  const Expected64 expected(shape, last);
  const int64_t group = shape.heads / shape.kv_heads;
  std::vector<double> out;
  std::vector<double> scores;
  for (int64_t t = 0; t < shape.tokens; ++t) {
    for (int64_t h = 0; h < shape.kv_heads; ++h) {
      const std::vector<int32_t> blocks = expected.blocks(t, h);
      ASSERT_EQ(last.row(t, h), blocks) << "row " << t << ", key head " << h;
      for (const int32_t b : blocks) {
        const bool complete = b >= 0 && (b + 1) * shape.block <= t + 1;
        scores.push_back(complete ? expected.score(t, h, b)
                                  : -std::numeric_limits<double>::infinity());
      }
      for (int64_t i = 0; i < group; ++i) {
        const float* q = last.q.data() + (t * shape.heads + h * group + i) * shape.dim;
        const std::vector<double> head = attention64(
            q, last.key, last.value, tokens_of(blocks, shape.block, t), shape.kv_heads * shape.dim,
            h * shape.dim, shape.dim, 1.0 / std::sqrt(static_cast<double>(shape.dim)));
        out.insert(out.end(), head.begin(), head.end());
      }
    }
  }
  expect_close(last.out, out, 3e-6);
  expect_close(last.scores, scores, 3e-6);
}

// Lengths about a block, a page and the budget; groups of one, of three and of more heads than one
// pass takes; no first, no recent and no chosen blocks.
INSTANTIATE_TEST_SUITE_P(
    Shapes, BlockSparse,
    ::testing::Values(Case{1, 1, 1, 8, 16, 1, 0, 0}, Case{15, 2, 1, 8, 16, 2, 1, 0},
                      Case{16, 2, 1, 8, 16, 2, 1, 0}, Case{17, 2, 1, 8, 16, 2, 0, 1},
                      Case{65, 3, 3, 8, 4, 5, 1, 2}, Case{129, 9, 3, 16, 16, 4, 1, 1},
                      Case{150, 4, 2, 20, 16, 5, 0, 4}, Case{131, 34, 2, 8, 8, 6, 2, 1},
                      Case{96, 4, 4, 33, 1, 12, 1, 3}, Case{200, 2, 1, 8, 64, 2, 0, 0},
                      Case{300, 6, 2, 16, 2, 100, 1, 2}, Case{170, 2, 2, 8, 16, 3, 1, 1},
                      Case{170, 2, 2, 8, 16, 2, 1, 0}),
    name_of);

TEST(BlockSparse, WithinTheBudgetItIsDenseAttention) {
  constexpr Case kShape{150, 9, 3, 64, 16, 10, 1, 3};
  CpuExecutor executor(2);
  Feed run(kShape);
  run.feed(0, 150, executor);
  std::vector<float> dense = unwritten(150 * 9 * 64);
  PagedAttentionParams params;
  params.cache = run.cache().view();
  params.q = run.q.data();
  params.out = dense.data();
  params.num_tokens = 150;
  params.num_heads = 9;
  expect_ok(paged_attention_reference(params, executor));
  expect_same_bits(run.out, dense, "all rows fit");

  // With a budget of 96 tokens the first 96 rows do, the others differ.
  constexpr Case kSmall{150, 9, 3, 64, 16, 6, 1, 1};
  Feed small(kSmall);
  small.feed(0, 150, executor);
  const auto border = static_cast<std::ptrdiff_t>(96 * 9 * 64);
  expect_same_bits(std::vector<float>(small.out.begin(), small.out.begin() + border),
                   std::vector<float>(dense.begin(), dense.begin() + border), "rows that fit");
  EXPECT_FALSE(std::equal(small.out.begin() + border, small.out.begin() + border + 9 * 64,
                          dense.begin() + border));
}

TEST(BlockSparse, ACacheCutBackNeedsNoRepair) {
  constexpr Case kShape{150, 4, 2, 16, 16, 4, 1, 1};
  CpuExecutor executor(1);
  Feed fresh(kShape);
  fresh.feed(0, 150, executor);
  for (const int64_t cut : {0, 1, 15, 16, 17, 64, 100, 149}) {
    Feed run(kShape);
    std::vector<float> kept = run.key;
    run.key = random_floats(static_cast<int64_t>(kept.size()), 9);
    std::copy_n(kept.begin(), cut * 2 * 16, run.key.begin());
    run.feed(0, 150, executor);  // another continuation
    run.key = kept;
    run.feed(cut, 150, executor);
    expect_same_bits(run.out, fresh.out, "cut at " + std::to_string(cut));
    expect_same_bits(run.means, fresh.means, "means, cut at " + std::to_string(cut));
  }
}

TEST(BlockSparseAttention, ListsMayHoldAnything) {
  constexpr Case kShape{100, 2, 1, 8, 16, 4, 0, 0};
  CpuExecutor executor(1);
  Feed run(kShape);
  run.feed(0, 100, executor);
  const auto attend = [&](std::vector<int32_t> list) {
    std::vector<float> out = unwritten(2 * 8);
    BlockSparseAttentionParams params = run.attention(99, 100);
    params.blocks = list.data();
    params.out = out.data();
    expect_ok(block_sparse_attention_reference(params, executor));
    return out;
  };
  const std::vector<float> plain = attend({1, 3, 6, -1});
  expect_same_bits(attend({1, -1, 3, 6}), plain, "-1 inside");
  expect_same_bits(attend({1, 3, 6, 7}), plain, "a block after the query");
  expect_same_bits(attend({1, 3, 6, std::numeric_limits<int32_t>::max()}), plain, "largest");
  expect_same_bits(attend({-1, -1, -1, -1}), std::vector<float>(16, 0.0F), "nothing");
  std::vector<double> twice;
  for (int64_t h = 0; h < 2; ++h) {
    const std::vector<double> head =
        attention64(run.q.data() + (99 * 2 + h) * 8, run.key, run.value,
                    tokens_of({1, 1, 6}, 16, 99), 8, 0, 8, 1.0 / std::sqrt(8.0));
    twice.insert(twice.end(), head.begin(), head.end());
  }
  expect_close(attend({1, 1, 6, -1}), twice, 3e-6);
}

TEST(BlockSparseAttention, RefusesWhatItCannotDo) {
  constexpr Case kShape{100, 4, 2, 8, 16, 4, 1, 1};
  CpuExecutor executor(1);
  Feed run(kShape);
  run.feed(0, 100, executor);

  BlockMeanUpdateParams update = run.update(0, 100);
  update.block_tokens = 24;
  expect_refused(block_mean_update_reference(update, executor), "divide a page");
  update = run.update(0, 100);
  update.block_capacity = 5;
  update.means = nullptr;
  const LaunchStatus status = block_mean_update_reference(update, executor);
  EXPECT_EQ(status.code, LaunchCode::kWorkspaceTooSmall);
  EXPECT_EQ(status.value, 6);
  update.block_capacity = 6;
  expect_refused(block_mean_update_reference(update, executor), "means is null");
  update.first_position = -1;
  expect_refused(block_mean_update_reference(update, executor), "first_position");
  update = run.update(100, 200);
  expect_refused(block_mean_update_reference(update, executor), "too short");
  update.num_tokens = 0;
  expect_ok(block_mean_update_reference(update, executor));

  BlockSparseSelectParams select = run.select(0, 100);
  select.max_blocks = 2;
  expect_refused(block_sparse_select_reference(select, executor), "max_blocks is below");
  select.max_blocks = 0;
  expect_refused(block_sparse_select_reference(select, executor), "max_blocks");
  select = run.select(0, 100);
  select.num_first_blocks = -1;
  expect_refused(block_sparse_select_reference(select, executor), "num_first_blocks");
  select = run.select(0, 100);
  select.num_heads = 3;
  expect_refused(block_sparse_select_reference(select, executor), "num_heads");
  select = run.select(0, 100);
  select.means = nullptr;
  expect_refused(block_sparse_select_reference(select, executor), "null");
  select.first_position = kBlockSparseMaxBlocks * 16;
  expect_refused(block_sparse_select_reference(select, executor), "more blocks");
  select.num_tokens = 0;
  expect_ok(block_sparse_select_reference(select, executor));

  BlockSparseAttentionParams attention = run.attention(0, 100);
  attention.blocks = nullptr;
  expect_refused(block_sparse_attention_reference(attention, executor), "blocks is null");
  attention.num_tokens = 64;  // all within the budget
  expect_ok(block_sparse_attention_reference(attention, executor));
  attention.max_blocks = kBlockSparseMaxBlocks + 1;
  expect_refused(block_sparse_attention_reference(attention, executor), "max_blocks");
  attention = run.attention(0, 100);
  attention.block_tokens = 0;
  expect_refused(block_sparse_attention_reference(attention, executor), "divide a page");
  attention = run.attention(0, 100);
  attention.out = nullptr;
  expect_refused(block_sparse_attention_reference(attention, executor), "null");
  attention = run.attention(0, 100);
  run.cache().table()[1] = -1;
  expect_refused(block_sparse_attention_reference(attention, executor), "no page");
}

TEST(BlockSparseCost, CountsWhatARowMayRead) {
  constexpr Case kShape{100, 4, 2, 8, 16, 4, 1, 1};
  Feed run(kShape);
  // 64 rows see 1 .. 64 keys, 36 see 64; a key is read once.
  const OperatorCost attention = block_sparse_attention_cost(run.attention(0, 100));
  EXPECT_EQ(attention.flops, 4 * (64 * 65 / 2 + 36 * 64) * 4 * 8);
  EXPECT_EQ(attention.bytes, 8 * (100 * 2 + 100 * 4) * 8);
  EXPECT_EQ(block_mean_update_cost(run.update(10, 40)).flops, 2 * 16 * 2 * 8);
  // Blocks 4 and 5 own 16 rows each, with 2 and 3 to score, block 6 owns 4 with 4.
  EXPECT_EQ(block_sparse_select_cost(run.select(0, 100)).flops,
            2 * (16 * 2 + 16 * 3 + 4 * 4) * 4 * 8);
}

}  // namespace
}  // namespace ifr::kernels::testing
