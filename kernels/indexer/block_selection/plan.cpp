// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/block_selection.h"

#include "indexer/block_selection/limits.h"

#include <algorithm>

namespace ifr::kernels {
namespace {

using namespace block_selection;

[[nodiscard]] int64_t slice_len(int64_t row_len, int32_t num_splits) {
  const int64_t even = (row_len + num_splits - 1) / num_splits;
  return (even + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment;
}

[[nodiscard]] bool cluster_fits(const BlockSelectionShape& shape, const DeviceCaps& caps,
                                int32_t num_blocks) {
  const int64_t shared_bytes =
      kClusterStaticSharedBytes +
      slice_len(shape.row_len, num_blocks) * static_cast<int64_t>(sizeof(uint32_t));
  return caps.compute_capability >= 90 && shared_bytes <= caps.max_shared_bytes_per_block;
}

// Blocks a cluster: as many as leave one multiprocessor a block, but enough for a row to fit. 0
// when no cluster holds a row.
[[nodiscard]] int32_t cluster_blocks(const BlockSelectionShape& shape, const DeviceCaps& caps) {
  int32_t num_blocks = kMaxClusterBlocks;
  while (num_blocks > 2 && shape.num_rows * num_blocks > caps.num_sms &&
         cluster_fits(shape, caps, num_blocks / 2)) {
    num_blocks /= 2;
  }
  return cluster_fits(shape, caps, num_blocks) ? num_blocks : 0;
}

// Slices a row: each long enough that its block discards most of what it reads.
[[nodiscard]] int32_t split_blocks(const BlockSelectionShape& shape, const DeviceCaps& caps) {
  const int64_t shortest_slice = std::max<int64_t>(kShortestSlice, 4 * int64_t{shape.k});
  const int64_t for_device = caps.num_sms / std::max<int64_t>(1, shape.num_rows);
  const int64_t for_row = shape.row_len / shortest_slice;
  return static_cast<int32_t>(std::clamp<int64_t>(std::min(for_device, for_row), 1, kMaxSplits));
}

[[nodiscard]] BlockSelectionPath choose_path(const BlockSelectionShape& shape,
                                             const DeviceCaps& caps) {
  if (shape.row_len <= kLongestShortRow) {
    return BlockSelectionPath::kBlock;
  }
  const bool few_rows = shape.num_rows * 2 <= caps.num_sms;
  if (few_rows && cluster_blocks(shape, caps) > 0) {
    return BlockSelectionPath::kCluster;
  }
  return split_blocks(shape, caps) > 1 ? BlockSelectionPath::kSplit : BlockSelectionPath::kBlock;
}

}  // namespace

bool block_selection_supported(const BlockSelectionShape& shape, const DeviceCaps& caps,
                               BlockSelectionPath path) {
  if (!check_block_selection_shape(shape).is_ok() || caps.compute_capability < 80) {
    return false;
  }
  return path != BlockSelectionPath::kCluster || cluster_blocks(shape, caps) > 0;
}

BlockSelectionPlan plan_block_selection(const BlockSelectionShape& shape, const DeviceCaps& caps,
                                        BlockSelectionPath path) {
  if (path == BlockSelectionPath::kAuto || !block_selection_supported(shape, caps, path)) {
    path = choose_path(shape, caps);
  }
  BlockSelectionPlan plan{.path = path, .num_splits = 1, .slice_len = 0, .workspace_bytes = 0};
  if (path == BlockSelectionPath::kCluster) {
    plan.num_splits = cluster_blocks(shape, caps);
  } else if (path == BlockSelectionPath::kSplit) {
    plan.num_splits = std::max(2, split_blocks(shape, caps));
    plan.workspace_bytes = shape.num_rows * plan.num_splits * int64_t{shape.k} *
                           static_cast<int64_t>(sizeof(uint64_t));
  }
  plan.slice_len = slice_len(shape.row_len, plan.num_splits);
  return plan;
}

int64_t block_selection_workspace_bytes(const BlockSelectionShape& shape, const DeviceCaps& caps) {
  return plan_block_selection(shape, caps).workspace_bytes;
}

}  // namespace ifr::kernels
