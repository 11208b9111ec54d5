// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/linear.h"

#include "interframe_kernels/embedding.h"
#include "kernels/operator_testing.h"
#include "reference/vector_ops.h"

namespace ifr::kernels::testing {
namespace {

std::vector<double> product64(const std::vector<float>& x, const TypedMatrix& w, int64_t tokens) {
  std::vector<double> y;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t n = 0; n < w.view.num_rows; ++n) {
      double sum = 0.0;
      for (int64_t k = 0; k < w.view.row_len; ++k) {
        sum += x[size_of(t * w.view.row_len + k)] * w.at(n, k);
      }
      y.push_back(sum);
    }
  }
  return y;
}

std::vector<float> run_linear(const std::vector<float>& x, const WeightMatrix& weight,
                              int64_t tokens, CpuExecutor& executor, int64_t chunk) {
  std::vector<float> y = unwritten(tokens * weight.num_rows);
  in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
    LinearParams params;
    params.x = x.data() + begin * weight.row_len;
    params.weight = weight;
    params.y = y.data() + begin * weight.num_rows;
    params.num_tokens = end - begin;
    expect_ok(linear_reference(params, executor));
  });
  return y;
}

struct Shape {
  int64_t tokens, rows, len;
};

TEST(Linear, MatchesFloat64ForEveryTypeAndShape) {
  const Shape shapes[] = {{1, 1, 32},  {1, 7, 64},   {2, 9, 96},     {3, 17, 576},
                          {5, 33, 96}, {9, 8, 1536}, {67, 13, 1600}, {130, 5, 64}};
  for (const DataType type : kWeightTypes) {
    for (const Shape& s : shapes) {
      SCOPED_TRACE(std::string(data_type_name(type)) + " " + std::to_string(s.tokens) + "x" +
                   std::to_string(s.rows) + "x" + std::to_string(s.len));
      const std::vector<float> x = random_floats(s.tokens * s.len, 1);
      const TypedMatrix w = random_matrix(type, s.rows, s.len, 2);
      const std::vector<float> y = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
        return run_linear(x, w.view, s.tokens, executor, chunk);
      });
      expect_close(y, product64(x, w, s.tokens), 2e-6, std::sqrt(static_cast<double>(s.len)));
    }
  }
}

TEST(Linear, TakesRowLengthsThatFillNoVector) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBf16}) {
    for (const int64_t len : {1, 15, 16, 17, 31, 33, 47, 769, 785}) {
      SCOPED_TRACE(std::string(data_type_name(type)) + " " + std::to_string(len));
      const std::vector<float> x = random_floats(6 * len, 3);
      const TypedMatrix w = random_matrix(type, 11, len, 4);
      const std::vector<float> y = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
        return run_linear(x, w.view, 6, executor, chunk);
      });
      expect_close(y, product64(x, w, 6), 2e-6, std::sqrt(static_cast<double>(len)));
    }
  }
}

TEST(Linear, EveryInstructionSetGivesTheSameBits) {
  const VectorOps* sets[] = {vector_ops_avx2(), vector_ops_avx512()};
  for (const DataType type : kWeightTypes) {
    for (const Shape& s : {Shape{1, 13, 96}, Shape{3, 13, 96}, Shape{70, 13, 864}}) {
      const std::vector<float> x = random_floats(s.tokens * s.len, 5);
      const TypedMatrix w = random_matrix(type, s.rows, s.len, 6);
      LinearTile tile;
      tile.x = x.data();
      tile.weight = w.bytes.data();
      tile.type = type;
      tile.num_tokens = s.tokens;
      tile.row_len = s.len;
      tile.row_bytes = row_bytes(w.view);
      tile.x_row_stride = s.len;
      tile.y_row_stride = s.rows;
      tile.row_end = s.rows;
      std::vector<float> expected = unwritten(s.tokens * s.rows);
      tile.y = expected.data();
      vector_ops_portable().linear(tile);
      for (const VectorOps* ops : sets) {
        if (ops != nullptr) {
          std::vector<float> y = unwritten(s.tokens * s.rows);
          tile.y = y.data();
          ops->linear(tile);
          expect_same_bits(y, expected, std::string(ops->name) + " " + data_type_name(type));
        }
      }
    }
  }
}

TEST(Linear, AddsTheBiasPicksRowsAndKeepsStrides) {
  const std::vector<float> x = random_floats(4 * 40, 7);
  const TypedMatrix w = random_matrix(DataType::kBf16, 5, 32, 8);
  const std::vector<float> bias = random_floats(5, 9);
  const std::vector<int32_t> rows = {3, 0, 3};
  CpuExecutor executor(2);
  std::vector<float> y(3 * 7, -1.0F);
  LinearParams params;
  params.x = x.data();
  params.x_rows = rows.data();
  params.weight = w.view;
  params.bias = bias.data();
  params.y = y.data();
  params.num_tokens = 3;
  params.x_row_stride = 40;
  params.y_row_stride = 7;
  expect_ok(linear_reference(params, executor));
  for (size_t t = 0; t < 3; ++t) {
    for (size_t n = 0; n < 5; ++n) {
      double sum = bias[n];
      for (size_t k = 0; k < 32; ++k) {
        sum += x[size_of(rows[t]) * 40 + k] * w.values[n * 32 + k];
      }
      EXPECT_NEAR(y[t * 7 + n], sum, 1e-5);
    }
    EXPECT_EQ(y[t * 7 + 5], -1.0F);
    EXPECT_EQ(y[t * 7 + 6], -1.0F);
  }
}

TEST(Linear, RefusesWhatItCannotRead) {
  CpuExecutor executor(1);
  const TypedMatrix w = random_matrix(DataType::kQ8_0, 2, 32, 1);
  std::vector<float> buffer(64);
  LinearParams good;
  good.x = buffer.data();
  good.y = buffer.data() + 32;
  good.weight = w.view;
  good.num_tokens = 1;
  expect_ok(linear_reference(good, executor));

  LinearParams params = good;
  params.num_tokens = 0;
  params.x = nullptr;
  expect_ok(linear_reference(params, executor));
  params = good;
  params.x = nullptr;
  expect_refused(linear_reference(params, executor), "x or y");
  params = good;
  params.weight.row_len = 48;
  expect_refused(linear_reference(params, executor), "row length");
  params = good;
  params.weight.type = DataType::kI32;
  expect_refused(linear_reference(params, executor), "type");
  params = good;
  params.weight.data = nullptr;
  expect_refused(linear_reference(params, executor), "data");
  params = good;
  params.num_tokens = -1;
  expect_refused(linear_reference(params, executor), "num_tokens");
}

TEST(Linear, CostCountsWeightsOnce) {
  LinearParams params;
  params.weight = {nullptr, DataType::kQ4_1, 64, 32};
  params.num_tokens = 3;
  EXPECT_EQ(linear_cost(params).bytes, 64 * 20 + 4 * 3 * (32 + 64));
  EXPECT_EQ(linear_cost(params).flops, 2 * 3 * 64 * 32);
}

TEST(Embedding, DecodesAndRepeatsRows) {
  for (const DataType type : kWeightTypes) {
    const TypedMatrix table = random_matrix(type, 9, 64, 10);
    const std::vector<int32_t> ids = {8, 0, 3, 3};
    const std::vector<float> y = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
      std::vector<float> out = unwritten(4 * 2 * 64);
      in_chunks(4, chunk, [&](int64_t begin, int64_t end) {
        EmbeddingParams params;
        params.ids = ids.data() + begin;
        params.table = table.view;
        params.y = out.data() + begin * 2 * 64;
        params.num_tokens = end - begin;
        params.num_copies = 2;
        expect_ok(embedding_reference(params, executor));
      });
      return out;
    });
    for (int64_t t = 0; t < 4; ++t) {
      for (int64_t i = 0; i < 128; ++i) {
        const double expected = table.at(ids[size_of(t)], i % 64);
        EXPECT_EQ(y[size_of(t * 128 + i)], static_cast<float>(expected)) << data_type_name(type);
      }
    }
  }
}

TEST(Embedding, DecodesSpecialHalfNumbers) {
  const uint16_t bits[] = {0x0001, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x8000, 0x7E00};
  const WeightMatrix table = {bits, DataType::kF16, 1, 8};
  float y[8];
  decode_row(table, 0, y);
  EXPECT_EQ(y[0], 5.9604645e-08F);
  EXPECT_EQ(y[1], -6.0975552e-05F);
  EXPECT_EQ(y[2], 6.1035156e-05F);
  EXPECT_EQ(y[3], 65504.0F);
  EXPECT_EQ(y[4], kInf);
  EXPECT_EQ(y[5], -kInf);
  EXPECT_TRUE(y[6] == 0.0F && std::signbit(y[6]));
  EXPECT_TRUE(std::isnan(y[7]));
}

TEST(Embedding, RefusesIdsOutsideTheTable) {
  CpuExecutor executor(1);
  const TypedMatrix table = random_matrix(DataType::kF32, 3, 4, 1);
  for (const int32_t bad : {-1, 3, std::numeric_limits<int32_t>::max()}) {
    const int32_t ids[] = {0, bad};
    std::vector<float> y = unwritten(8);
    EmbeddingParams params;
    params.ids = ids;
    params.table = table.view;
    params.y = y.data();
    params.num_tokens = 2;
    const LaunchStatus status = embedding_reference(params, executor);
    expect_refused(status, "token id");
    EXPECT_EQ(status.value, bad);
    EXPECT_TRUE(std::isnan(y[0]));
  }
}

}  // namespace
}  // namespace ifr::kernels::testing
