// SPDX-License-Identifier: Apache-2.0
// Block selection: the k best of each row of float32 scores, in rank order.
//
//   live    = min(max(live_counts[r], 0), row_len)
//   count   = min(k, live)
//   indices = the first `count` of 0..live-1 sorted by (score descending, index ascending)
//
// Order of scores: +inf first, then falling; -0 equals +0; denormals are not flushed; every NaN
// equals every other and ranks below -inf, yet its index stays a valid choice. So each row gives
// `count` different indices below `live`, whatever its scores, and the result is one bit pattern
// for one input on every path, device and run.
#pragma once

#include <cstdint>

#include "interframe_kernels/launch.h"

namespace ifr::kernels {

class CpuExecutor;

inline constexpr int32_t kBlockSelectionMaxK = 2048;
inline constexpr int64_t kBlockSelectionMaxRowLen = 262144;
inline constexpr int64_t kBlockSelectionMaxRows = 1 << 20;

struct BlockSelectionShape {
  int64_t num_rows = 0;  // 0..kBlockSelectionMaxRows
  int64_t row_len = 0;   // 0..kBlockSelectionMaxRowLen
  int32_t k = 0;         // 1..kBlockSelectionMaxK
};

struct BlockSelectionParams {
  BlockSelectionShape shape;

  // Inputs. Entries at or beyond a row's live count are never read. `scores` may be null when no
  // entry can be live (row_len 0).
  const float* scores = nullptr;         // [num_rows, scores_stride]
  int64_t scores_stride = 0;             // elements from row to row, >= row_len
  const int32_t* live_counts = nullptr;  // [num_rows], clamped to 0..row_len; null: row_len each

  // Outputs, written whole; none may overlap another or an input. Inputs must hold still meanwhile.
  int32_t* indices = nullptr;      // [num_rows, k]; -1 from the row's count on
  int32_t* counts = nullptr;       // [num_rows]
  float* chosen_scores = nullptr;  // [num_rows, k] or null; -0 becomes +0, a NaN becomes
                                   // 0x7fc00000, -inf from the row's count on
};

// Limits of the shape alone; names the value that is outside.
LaunchStatus check_block_selection_shape(const BlockSelectionShape& shape);

// Bytes read (live entries counted as row_len) and written once; no floating-point work.
[[nodiscard]] OperatorCost block_selection_cost(const BlockSelectionShape& shape);

// CPU, over rows in parallel; exact, allocates nothing. Pointers need natural alignment only. Not
// reentrant for one executor. Errors as for launch_block_selection; nothing is written then.
LaunchStatus block_selection_reference(const BlockSelectionParams& params, CpuExecutor& executor);

// How the device does it. kAuto is for callers; tests and benches force the others.
enum class BlockSelectionPath : int32_t {
  kAuto = 0,
  kBlock = 1,    // one thread block a row
  kSplit = 2,    // several blocks a row, then one a row over what they kept; two launches
  kCluster = 3,  // one cluster of blocks a row; compute capability 9.0 and newer
};

struct BlockSelectionPlan {
  BlockSelectionPath path = BlockSelectionPath::kAuto;
  int32_t num_splits = 1;       // thread blocks a row
  int64_t slice_len = 0;        // most entries of a row that one block takes
  int64_t workspace_bytes = 0;  // what launch_block_selection will ask for
};

// True when the device can run this shape on this path (kAuto: on any).
[[nodiscard]] bool block_selection_supported(const BlockSelectionShape& shape,
                                             const DeviceCaps& caps,
                                             BlockSelectionPath path = BlockSelectionPath::kAuto);

// Pure function of its arguments. Requires block_selection_supported for the same arguments; plans
// kAuto's own choice otherwise.
[[nodiscard]] BlockSelectionPlan plan_block_selection(
    const BlockSelectionShape& shape, const DeviceCaps& caps,
    BlockSelectionPath path = BlockSelectionPath::kAuto);

[[nodiscard]] int64_t block_selection_workspace_bytes(const BlockSelectionShape& shape,
                                                      const DeviceCaps& caps);

// Device pointers; `scores` 16-byte aligned with scores_stride a multiple of 4, the others 4-byte
// aligned. `plan` comes from plan_block_selection for this shape on this device. Queues on `stream`
// and returns; may be captured into a graph. Zero rows: kOk, nothing queued. On an error nothing
// has been queued, but for kDriver on a plan of two launches.
LaunchStatus launch_block_selection(const BlockSelectionParams& params,
                                    const BlockSelectionPlan& plan, Workspace workspace,
                                    cudaStream_t stream);

}  // namespace ifr::kernels
