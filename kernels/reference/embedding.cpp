// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/embedding.h"

#include <cmath>
#include <cstring>

#include "interframe_kernels/cpu_executor.h"
#include "reference/number_format.h"
#include "reference/operator_support.h"

namespace ifr::kernels {
namespace {

void decode_q8_0(const uint8_t* block, float* y) {
  const float scale = load_f16_scalar(block);
  for (int i = 0; i < 32; ++i) {
    y[i] = static_cast<float>(static_cast<int8_t>(block[2 + i])) * scale;
  }
}

void decode_q4_1(const uint8_t* block, float* y) {
  const float scale = load_f16_scalar(block);
  const float minimum = load_f16_scalar(block + 2);
  for (int i = 0; i < 16; ++i) {
    const uint8_t codes = block[4 + i];
    y[i] = std::fma(static_cast<float>(codes & 15), scale, minimum);
    y[16 + i] = std::fma(static_cast<float>(codes >> 4), scale, minimum);
  }
}

}  // namespace

void decode_row(const WeightMatrix& weight, int64_t row, float* y) {
  const auto* p = static_cast<const uint8_t*>(weight.data) + row * row_bytes(weight);
  const int64_t len = weight.row_len;
  switch (weight.type) {
    case DataType::kF32:
      std::memcpy(y, p, static_cast<size_t>(len) * sizeof(float));
      return;
    case DataType::kF16:
      for (int64_t i = 0; i < len; ++i) {
        y[i] = load_f16_scalar(p + 2 * i);
      }
      return;
    case DataType::kBf16:
      for (int64_t i = 0; i < len; ++i) {
        uint16_t bits;
        std::memcpy(&bits, p + 2 * i, sizeof(bits));
        y[i] = float_from_bf16(bits);
      }
      return;
    case DataType::kQ8_0:
      for (int64_t i = 0; i < len; i += 32, p += 34) {
        decode_q8_0(p, y + i);
      }
      return;
    case DataType::kQ4_1:
      for (int64_t i = 0; i < len; i += 32, p += 20) {
        decode_q4_1(p, y + i);
      }
      return;
    default:
      return;  // not a weight type: refused before
  }
}

LaunchStatus embedding_reference(const EmbeddingParams& params, CpuExecutor& executor) {
  if (params.num_tokens == 0) {
    return {};
  }
  if (const LaunchStatus status = check_weight(params.table); !status.is_ok()) {
    return status;
  }
  if (params.num_tokens < 0 || params.num_copies < 1) {
    return invalid("num_tokens or num_copies", params.num_tokens);
  }
  if (params.ids == nullptr || params.y == nullptr) {
    return invalid("ids or y is null");
  }
  for (int64_t t = 0; t < params.num_tokens; ++t) {
    if (params.ids[t] < 0 || params.ids[t] >= params.table.num_rows) {
      return invalid("token id outside the vocabulary", params.ids[t]);
    }
  }
  const int64_t hidden = params.table.row_len;
  for_each_item(executor, params.num_tokens, hidden * params.num_copies, [&](int64_t t) {
    float* y = params.y + t * params.num_copies * hidden;
    decode_row(params.table, params.ids[t], y);
    for (int64_t c = 1; c < params.num_copies; ++c) {
      std::memcpy(y + c * hidden, y, static_cast<size_t>(hidden) * sizeof(float));
    }
  });
  return {};
}

}  // namespace ifr::kernels
