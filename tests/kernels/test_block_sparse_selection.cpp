// SPDX-License-Identifier: Apache-2.0
// Which blocks block_sparse_select takes when scores tie, are not numbers or are many.
#include "interframe_kernels/block_sparse_attention.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/operator_testing.h"

namespace ifr::kernels::testing {
namespace {

// One query of a head of width 1 over blocks of one token: a block's score is its key.
std::vector<int32_t> choose(const std::vector<float>& keys, float q, int64_t max_blocks,
                            int64_t first = 0, std::vector<float>* scores = nullptr) {
  const auto tokens = static_cast<int64_t>(keys.size());
  std::vector<int32_t> blocks(size_of(max_blocks), -7);
  std::vector<uint64_t> scratch(blocks.size());
  CpuExecutor executor(1);
  BlockSparseSelectParams params;
  params.q = &q;
  params.means = keys.data();
  params.blocks = blocks.data();
  params.scores = scores == nullptr ? nullptr : scores->data();
  params.scratch = scratch.data();
  params.num_tokens = 1;
  params.num_heads = 1;
  params.num_kv_heads = 1;
  params.head_dim = 1;
  params.block_tokens = 1;
  params.max_blocks = max_blocks;
  params.num_first_blocks = first;
  params.first_position = tokens - 1;
  expect_ok(block_sparse_select_reference(params, executor));
  return blocks;
}

TEST(BlockSparseSelection, TiesGoToTheLowerBlock) {
  EXPECT_EQ(choose(std::vector<float>(9, 2.0F), 1.0F, 4), (std::vector<int32_t>{0, 1, 2, 8}));
  EXPECT_EQ(choose({-0.0F, 0.0F, -0.0F, 0.0F, -0.0F, 5.0F}, 1.0F, 3),
            (std::vector<int32_t>{0, 1, 5}));
  EXPECT_EQ(choose({1, 3, 2, 3, 2, 2, 0}, 1.0F, 4), (std::vector<int32_t>{1, 2, 3, 6}));
  EXPECT_EQ(choose({1, 1, 1, 1, 9, 0}, 1.0F, 2), (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(choose({1, 2, 3, 4, 5, 0}, 1.0F, 1), (std::vector<int32_t>{5}));
}

TEST(BlockSparseSelection, NotANumberComesLastAndInfinityFirst) {
  EXPECT_EQ(choose({kNan, 1, kNan, 2, 3, 0}, 1.0F, 4), (std::vector<int32_t>{1, 3, 4, 5}));
  EXPECT_EQ(choose({kNan, -1, kNan, -kInf, kInf, 0}, 1.0F, 5),
            (std::vector<int32_t>{0, 1, 2, 4, 5}));  // NaN as -inf: the lower block
  EXPECT_EQ(choose({1, kInf, 3, kInf, kInf, 0}, 1.0F, 3), (std::vector<int32_t>{1, 3, 5}));
  EXPECT_EQ(choose(std::vector<float>(8, kNan), 1.0F, 3), (std::vector<int32_t>{0, 1, 7}));
  EXPECT_EQ(choose(std::vector<float>(8, 1.0F), kNan, 3), (std::vector<int32_t>{0, 1, 7}));
  EXPECT_EQ(choose({1e-45F, 2e-45F, 3e-45F, 0}, 1.0F, 2), (std::vector<int32_t>{2, 3}));
  std::vector<float> scores(4, 7.0F);
  EXPECT_EQ(choose({kNan, 1, 5, 4, 0, 2}, 1.0F, 4, 1, &scores), (std::vector<int32_t>{0, 2, 3, 5}));
  EXPECT_EQ(scores, (std::vector<float>{-kInf, 5.0F, 4.0F, 2.0F}));
}

TEST(BlockSparseSelection, ManyBlocksGiveDifferentValidOnes) {
  for (const int64_t count : {511, 512, 513, 4097}) {
    std::vector<float> keys = random_floats(count, 5);
    for (size_t i = 0; i < keys.size(); i += 3) {
      keys[i] = keys[i / 2];  // ties across the border of what is kept
    }
    std::vector<int32_t> order(size_of(count - 1));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return keys[size_of(a)] > keys[size_of(b)]; });
    order.resize(127);
    order.push_back(static_cast<int32_t>(count - 1));
    std::sort(order.begin(), order.end());
    EXPECT_EQ(choose(keys, 1.0F, 128), order) << count;
  }
}

}  // namespace
}  // namespace ifr::kernels::testing
