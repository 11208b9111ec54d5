// SPDX-License-Identifier: Apache-2.0
#include "common/launch.cuh"
#include "indexer/block_selection/params_check.h"
#include "indexer/block_selection/traits.cuh"

namespace ifr::kernels {
namespace {

using namespace block_selection;

// The closed table of kernels: two sizes of k, three stages, three sizes of cluster.
template <Stage kStage>
Kernel row_kernel_for(int32_t k) {
  return k <= 512 ? row_kernel<RowTraits<512>, kStage>() : row_kernel<RowTraits<2048>, kStage>();
}

template <int kBlocks>
Kernel cluster_kernel_for(int32_t k) {
  return k <= 512 ? cluster_kernel<ClusterTraits<512, kBlocks>>()
                  : cluster_kernel<ClusterTraits<2048, kBlocks>>();
}

// Null when there is no cluster of that size.
Kernel cluster_kernel_for(int32_t k, int32_t num_blocks) {
  switch (num_blocks) {
    case 2:
      return cluster_kernel_for<2>(k);
    case 4:
      return cluster_kernel_for<4>(k);
    case 8:
      return cluster_kernel_for<8>(k);
    default:
      return nullptr;
  }
}

LaunchStatus check_device_pointers(const BlockSelectionParams& params,
                                   const BlockSelectionPlan& plan, const Workspace& workspace) {
  if (!is_aligned(params.scores, sizeof(uint4))) {
    return refuse_alignment("scores is not 16-byte aligned (low address byte)", params.scores);
  }
  if (params.scores_stride % kSliceAlignment != 0) {
    return refuse(LaunchCode::kInvalidArgument, "scores_stride is not a multiple of 4",
                  params.scores_stride);
  }
  const auto size_bytes = static_cast<int64_t>(workspace.size_bytes);
  if (plan.workspace_bytes > size_bytes) {
    return refuse(LaunchCode::kWorkspaceTooSmall, "the workspace is smaller than the plan asks for",
                  size_bytes);
  }
  if (plan.workspace_bytes > 0 && workspace.data == nullptr) {
    return refuse(LaunchCode::kInvalidArgument, "the workspace is null", 0);
  }
  if (plan.workspace_bytes > 0 && !is_aligned(workspace.data, 256)) {
    return refuse_alignment("the workspace is not 256-byte aligned (low address byte)",
                            workspace.data);
  }
  return {};
}

// A plan made for another shape would run into memory that is not there.
LaunchStatus check_plan(const BlockSelectionShape& shape, const BlockSelectionPlan& plan) {
  const bool is_cluster = plan.path == BlockSelectionPath::kCluster;
  const bool is_split = plan.path == BlockSelectionPath::kSplit;
  if (!is_cluster && !is_split && plan.path != BlockSelectionPath::kBlock) {
    return refuse(LaunchCode::kInvalidArgument, "the plan has no path",
                  static_cast<int64_t>(plan.path));
  }
  const bool fits_path = is_cluster ? cluster_kernel_for(shape.k, plan.num_splits) != nullptr
                         : is_split ? plan.num_splits >= 2 && plan.num_splits <= kMaxSplits
                                    : plan.num_splits == 1;
  if (!fits_path) {
    return refuse(LaunchCode::kInvalidArgument, "the plan's num_splits does not fit its path",
                  plan.num_splits);
  }
  if (plan.slice_len * plan.num_splits < shape.row_len) {
    return refuse(LaunchCode::kInvalidArgument, "the plan is for shorter rows", plan.slice_len);
  }
  const int64_t slice_key_bytes =
      shape.num_rows * plan.num_splits * int64_t{shape.k} * static_cast<int64_t>(sizeof(uint64_t));
  if (is_split && plan.workspace_bytes < slice_key_bytes) {
    return refuse(LaunchCode::kInvalidArgument, "the plan is for fewer rows or a smaller k",
                  plan.workspace_bytes);
  }
  return {};
}

LaunchStatus launch_rows(Kernel kernel, int64_t num_blocks, const Arguments& arguments,
                         cudaStream_t stream) {
  static_assert(RowTraits<512>::kThreads == RowTraits<2048>::kThreads);
  return cuda::launch(kernel, {.num_blocks = num_blocks, .num_threads = RowTraits<512>::kThreads},
                      arguments, stream);
}

}  // namespace

LaunchStatus launch_block_selection(const BlockSelectionParams& params,
                                    const BlockSelectionPlan& plan, Workspace workspace,
                                    cudaStream_t stream) {
  const BlockSelectionShape& shape = params.shape;
  if (const LaunchStatus status = check_params(params); !status.is_ok() || shape.num_rows == 0) {
    return status;
  }
  if (const LaunchStatus status = check_plan(shape, plan); !status.is_ok()) {
    return status;
  }
  if (const LaunchStatus status = check_device_pointers(params, plan, workspace); !status.is_ok()) {
    return status;
  }
  const Arguments arguments{.scores = params.scores,
                            .scores_stride = params.scores_stride,
                            .live_counts = params.live_counts,
                            .row_len = static_cast<int32_t>(shape.row_len),
                            .k = shape.k,
                            .num_splits = plan.num_splits,
                            .slice_keys = static_cast<uint64_t*>(workspace.data),
                            .indices = params.indices,
                            .counts = params.counts,
                            .chosen_scores = params.chosen_scores};
  if (plan.path == BlockSelectionPath::kCluster) {
    static_assert(ClusterTraits<512, 8>::kThreads == ClusterTraits<2048, 2>::kThreads);
    return cuda::launch(
        cluster_kernel_for(shape.k, plan.num_splits),
        {.num_blocks = shape.num_rows * plan.num_splits,
         .num_threads = ClusterTraits<512, 8>::kThreads,
         .dynamic_shared_bytes = plan.slice_len * static_cast<int64_t>(sizeof(uint32_t)),
         .blocks_per_cluster = plan.num_splits},
        arguments, stream);
  }
  if (plan.path == BlockSelectionPath::kBlock) {
    return launch_rows(row_kernel_for<Stage::kWhole>(shape.k), shape.num_rows, arguments, stream);
  }
  if (const LaunchStatus status = launch_rows(row_kernel_for<Stage::kSlice>(shape.k),
                                              shape.num_rows * plan.num_splits, arguments, stream);
      !status.is_ok()) {
    return status;
  }
  return launch_rows(row_kernel_for<Stage::kMerge>(shape.k), shape.num_rows, arguments, stream);
}

}  // namespace ifr::kernels
