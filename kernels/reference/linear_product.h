// SPDX-License-Identifier: Apache-2.0
// A linear product as other operators run it inside themselves.
#pragma once

#include "interframe_kernels/linear.h"
#include "reference/vector_ops.h"

namespace ifr::kernels {

// Checked parameters to the tile of all columns.
inline LinearTile linear_tile(const LinearParams& params) {
  LinearTile tile;
  tile.x = params.x;
  tile.x_rows = params.x_rows;
  tile.weight = static_cast<const uint8_t*>(params.weight.data);
  tile.bias = params.bias;
  tile.y = params.y;
  tile.type = params.weight.type;
  tile.num_tokens = params.num_tokens;
  tile.row_len = params.weight.row_len;
  tile.row_bytes = row_bytes(params.weight);
  tile.x_row_stride = params.x_row_stride == 0 ? params.weight.row_len : params.x_row_stride;
  tile.y_row_stride = params.y_row_stride == 0 ? params.weight.num_rows : params.y_row_stride;
  tile.row_begin = 0;
  tile.row_end = params.weight.num_rows;
  return tile;
}

}  // namespace ifr::kernels
