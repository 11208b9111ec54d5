// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/elementwise.h"
#include "interframe_kernels/rms_norm.h"
#include "interframe_kernels/rotary.h"
#include "kernels/operator_testing.h"

namespace ifr::kernels::testing {
namespace {

TEST(RmsNorm, MatchesFloat64ForBothCentres) {
  for (const int64_t len : {1, 15, 16, 17, 64, 576}) {
    for (const NormCentre centre : {NormCentre::kAsIs, NormCentre::kZero}) {
      SCOPED_TRACE(len);
      const std::vector<float> x = random_floats(5 * 3 * len, 1, 3.0F);
      const std::vector<float> weight = random_floats(3 * len, 2);
      const std::vector<float> y = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
        std::vector<float> out = unwritten(5 * 3 * len);
        in_chunks(5, chunk, [&](int64_t begin, int64_t end) {
          RmsNormParams params =
              rms_norm_contiguous(x.data() + begin * 3 * len, weight.data(),
                                  out.data() + begin * 3 * len, end - begin, 3, len);
          params.eps = 1e-5F;
          params.centre = centre;
          expect_ok(rms_norm_reference(params, executor));
        });
        return out;
      });
      std::vector<double> expected;
      for (int64_t t = 0; t < 5; ++t) {
        const std::vector<double> row = rms64(x.data() + t * 3 * len, weight.data(), 3, len, 1e-5F,
                                              centre == NormCentre::kZero ? 1.0 : 0.0, false);
        expected.insert(expected.end(), row.begin(), row.end());
      }
      expect_close(y, expected, 1e-6);
    }
  }
}

TEST(RmsNorm, ReadsHeadsInsideAWiderRow) {
  // Per head [query 8 | gate 8], two heads, one weight for both; written contiguously.
  const std::vector<float> x = random_floats(3 * 32, 3);
  const std::vector<float> weight = random_floats(8, 4);
  std::vector<float> y = unwritten(3 * 16);
  RmsNormParams params;
  params.x = x.data();
  params.weight = weight.data();
  params.y = y.data();
  params.num_tokens = 3;
  params.num_groups = 2;
  params.group_len = 8;
  params.x_row_stride = 32;
  params.x_group_stride = 16;
  params.y_row_stride = 16;
  params.y_group_stride = 8;
  params.centre = NormCentre::kZero;
  CpuExecutor executor(2);
  expect_ok(rms_norm_reference(params, executor));
  std::vector<double> expected;
  for (int64_t i = 0; i < 6; ++i) {
    const std::vector<double> head =
        rms64(x.data() + i * 16, weight.data(), 1, 8, params.eps, 1.0, true);
    expected.insert(expected.end(), head.begin(), head.end());
  }
  expect_close(y, expected, 1e-6);
}

TEST(RmsNorm, ZerosStayZeroAndLargeValuesStayFinite) {
  CpuExecutor executor(1);
  const std::vector<float> weight(2560, 1.0F);
  std::vector<float> x(2 * 2560, 0.0F);
  std::fill(x.begin() + 2560, x.end(), 300.0F);
  expect_ok(rms_norm_reference(rms_norm_contiguous(x.data(), weight.data(), x.data(), 2, 1, 2560),
                               executor));
  EXPECT_EQ(x[0], 0.0F);
  EXPECT_NEAR(x[2560], 1.0F, 1e-6);
}

TEST(RmsNorm, RefusesNullAndEmpty) {
  CpuExecutor executor(1);
  std::vector<float> v(4);
  expect_ok(rms_norm_reference(rms_norm_contiguous(nullptr, nullptr, nullptr, 0, 1, 4), executor));
  expect_refused(
      rms_norm_reference(rms_norm_contiguous(nullptr, v.data(), v.data(), 1, 1, 4), executor),
      "null");
  expect_refused(
      rms_norm_reference(rms_norm_contiguous(v.data(), v.data(), v.data(), 1, 1, 0), executor),
      "group_len");
}

TEST(GatedRmsNorm, MatchesFloat64ForBothGates) {
  for (const GateActivation activation : {GateActivation::kSigmoid, GateActivation::kSilu}) {
    const std::vector<float> x = random_floats(7 * 2 * 24, 5);
    const std::vector<float> z = random_floats(7 * 2 * 24, 6, 3.0F);
    const std::vector<float> weight = random_floats(24, 7);
    const std::vector<float> y = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
      std::vector<float> out = unwritten(7 * 48);
      in_chunks(7, chunk, [&](int64_t begin, int64_t end) {
        GatedRmsNormParams params;
        params.x = x.data() + begin * 48;
        params.z = z.data() + begin * 48;
        params.weight = weight.data();
        params.y = out.data() + begin * 48;
        params.num_tokens = end - begin;
        params.num_heads = 2;
        params.head_dim = 24;
        params.activation = activation;
        expect_ok(gated_rms_norm_reference(params, executor));
      });
      return out;
    });
    std::vector<double> expected = rms64(x.data(), weight.data(), 14, 24, 1e-6F, 0.0, true);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] *= activation == GateActivation::kSilu ? silu64(z[i]) : sigmoid64(z[i]);
    }
    expect_close(y, expected, 2e-6);
  }
}

TEST(Rotary, TurnsBothPairingsAndLeavesTheRest) {
  const int64_t dim = 20;
  const int64_t rotary_dim = 8;
  std::vector<float> frequency(4);
  rotary_inverse_frequencies(10000.0, rotary_dim, frequency.data());
  for (const RotaryPairing pairing : {RotaryPairing::kHalves, RotaryPairing::kAdjacent}) {
    const std::vector<float> x = random_floats(70 * 3 * dim, 8);
    const std::vector<float> y = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
      std::vector<float> out = x;
      in_chunks(70, chunk, [&](int64_t begin, int64_t end) {
        RotaryParams params;
        params.x = out.data() + begin * 3 * dim;
        params.inverse_frequency = frequency.data();
        params.num_tokens = end - begin;
        params.num_heads = 3;
        params.head_stride = dim;
        params.row_stride = 3 * dim;
        params.rotary_dim = rotary_dim;
        params.first_position = 1000 + begin;
        params.pairing = pairing;
        expect_ok(rotary_reference(params, executor));
      });
      return out;
    });
    std::vector<double> expected(x.begin(), x.end());
    for (int64_t head = 0; head < 210; ++head) {
      for (int64_t i = 0; i < rotary_dim / 2; ++i) {
        const int64_t position = 1000 + head / 3;
        const double angle = static_cast<float>(position) * frequency[size_of(i)];
        const int64_t a = pairing == RotaryPairing::kHalves ? i : 2 * i;
        const int64_t b = pairing == RotaryPairing::kHalves ? i + rotary_dim / 2 : 2 * i + 1;
        const double xa = x[size_of(head * dim + a)];
        const double xb = x[size_of(head * dim + b)];
        expected[size_of(head * dim + a)] = xa * std::cos(angle) - xb * std::sin(angle);
        expected[size_of(head * dim + b)] = xb * std::cos(angle) + xa * std::sin(angle);
      }
    }
    expect_close(y, expected, 3e-7);
  }
}

TEST(Rotary, RoundsFrequencyAndAngleToFloat32) {
  std::vector<float> frequency(32);
  rotary_inverse_frequencies(1e7, 64, frequency.data());
  EXPECT_EQ(frequency[0], 1.0F);
  for (int64_t i = 0; i < 32; ++i) {
    const double exact = std::pow(1e7, -2.0 * static_cast<double>(i) / 64.0);
    EXPECT_NEAR(frequency[size_of(i)] / exact, 1.0, 2e-7);
  }
  std::vector<float> x(64, 0.0F);
  x[1] = 1.0F;
  RotaryParams params;
  params.x = x.data();
  params.inverse_frequency = frequency.data();
  params.num_tokens = 1;
  params.num_heads = 1;
  params.row_stride = 64;
  params.rotary_dim = 64;
  params.first_position = 262143;
  CpuExecutor executor(1);
  expect_ok(rotary_reference(params, executor));
  const float angle = 262143.0F * frequency[1];
  EXPECT_EQ(x[1], static_cast<float>(std::cos(static_cast<double>(angle))));
  EXPECT_EQ(x[33], static_cast<float>(std::sin(static_cast<double>(angle))));
}

TEST(Rotary, RefusesOddDimensions) {
  CpuExecutor executor(1);
  std::vector<float> x(8);
  RotaryParams params;
  params.x = x.data();
  params.inverse_frequency = x.data();
  params.num_tokens = 1;
  params.num_heads = 1;
  params.row_stride = 8;
  params.rotary_dim = 3;
  expect_refused(rotary_reference(params, executor), "rotary_dim");
  params.rotary_dim = 4;
  params.first_position = -1;
  expect_refused(rotary_reference(params, executor), "first_position");
  params.first_position = 0;
  params.x = nullptr;
  expect_refused(rotary_reference(params, executor), "null");
}

TEST(Elementwise, MatchesFloat64) {
  const int64_t tokens = 9;
  const int64_t width = 33;
  const std::vector<float> rows = random_floats(tokens * 2 * width, 9, 4.0F);  // [gate | up]
  const std::vector<float> y = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    std::vector<float> out = unwritten(tokens * width);
    in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
      SwigluParams params;
      params.gate = rows.data() + begin * 2 * width;
      params.up = params.gate + width;
      params.y = out.data() + begin * width;
      params.num_tokens = end - begin;
      params.width = width;
      params.gate_row_stride = 2 * width;
      params.up_row_stride = 2 * width;
      expect_ok(swiglu_reference(params, executor));
    });
    return out;
  });
  std::vector<double> expected;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      const size_t at = size_of(t * 2 * width + i);
      expected.push_back(silu64(rows[at]) * rows[at + size_of(width)]);
    }
  }
  expect_close(y, expected, 1e-6);

  CpuExecutor executor(3);
  std::vector<float> sum = rows;
  expect_ok(residual_add_reference({sum.data(), rows.data(), tokens * 2 * width}, executor));
  std::vector<float> activated = unwritten(tokens * 2 * width);
  expect_ok(silu_reference({rows.data(), activated.data(), tokens * 2 * width, 0.25F}, executor));
  std::vector<double> silus;
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(sum[i], 2.0F * rows[i]);
    silus.push_back(silu64(0.25 * rows[i]));
  }
  expect_close(activated, silus, 1e-6);
}

TEST(Elementwise, GateStandsBesideTheQueryHeadByHead) {
  const int64_t dim = 6;
  const std::vector<float> q_and_gate = random_floats(4 * 3 * 2 * dim, 10, 2.0F);
  const std::vector<float> x = random_floats(4 * 3 * dim, 11);
  std::vector<float> y = x;
  SigmoidGateParams params;
  params.x = y.data();
  params.gate = q_and_gate.data() + dim;
  params.num_tokens = 4;
  params.num_heads = 3;
  params.head_dim = dim;
  params.gate_row_stride = 3 * 2 * dim;
  params.gate_head_stride = 2 * dim;
  CpuExecutor executor(2);
  expect_ok(sigmoid_gate_reference(params, executor));
  std::vector<double> expected;
  for (int64_t i = 0; i < 4 * 3 * dim; ++i) {
    const double gate = q_and_gate[size_of(i / dim * 2 * dim + dim + i % dim)];
    expected.push_back(x[size_of(i)] * sigmoid64(gate));
  }
  expect_close(y, expected, 1e-6);
}

TEST(Elementwise, ExtremesAndRefusals) {
  CpuExecutor executor(1);
  std::vector<float> x = {-1e4F, 1e4F, 0.0F, -0.0F};
  expect_ok(silu_reference({x.data(), x.data(), 4, 1.0F}, executor));
  EXPECT_EQ(x[0], 0.0F);
  EXPECT_EQ(x[1], 1e4F);
  EXPECT_EQ(x[2], 0.0F);
  expect_ok(silu_reference({}, executor));
  expect_ok(swiglu_reference({}, executor));
  expect_ok(sigmoid_gate_reference({}, executor));
  expect_ok(residual_add_reference({}, executor));
  expect_refused(silu_reference({nullptr, x.data(), 4, 1.0F}, executor), "null");
  expect_refused(residual_add_reference({x.data(), nullptr, 4}, executor), "null");
  expect_refused(residual_add_reference({x.data(), x.data(), -4}, executor), "num_elements");
  SwigluParams swiglu;
  swiglu.num_tokens = 1;
  swiglu.width = 1;
  expect_refused(swiglu_reference(swiglu, executor), "null");
  SigmoidGateParams gate;
  gate.num_tokens = 1;
  expect_refused(sigmoid_gate_reference(gate, executor), "head");
}

}  // namespace
}  // namespace ifr::kernels::testing
