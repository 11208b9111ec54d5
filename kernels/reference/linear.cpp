// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/linear.h"

#include "interframe_kernels/cpu_executor.h"
#include "reference/linear_product.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

// Columns of one step: the rows that a tile decodes together.
constexpr int64_t kStepRows = 8;
constexpr int64_t kRangesPerThread = 6;

}  // namespace

LaunchStatus linear_reference(const LinearParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_weight(params.weight); !status.is_ok()) {
    return status;
  }
  if (params.num_tokens < 0) {
    return invalid("num_tokens", params.num_tokens);
  }
  if (params.x == nullptr || params.y == nullptr) {
    return invalid("x or y is null");
  }
  const VectorOps& ops = vector_ops();
  const LinearTile whole = linear_tile(params);
  const int64_t num_steps = (params.weight.num_rows + kStepRows - 1) / kStepRows;
  const int64_t step_work = kStepRows * params.weight.row_len * params.num_tokens;
  // Long ranges read x from memory less often; several a thread even out their speeds.
  const int64_t grain =
      std::max(range_grain(step_work), num_steps / (kRangesPerThread * executor.num_threads()));
  executor.parallel_for(num_steps, grain, [&](int64_t begin, int64_t end) {
    LinearTile tile = whole;
    tile.row_begin = begin * kStepRows;
    tile.row_end = std::min(end * kStepRows, params.weight.num_rows);
    ops.linear(tile);
  });
  return {};
}

}  // namespace ifr::kernels
