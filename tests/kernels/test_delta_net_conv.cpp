// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/causal_conv.h"
#include "interframe_kernels/gated_delta_net.h"
#include "kernels/operator_testing.h"

namespace ifr::kernels::testing {
namespace {

struct ConvShape {
  int64_t tokens, channels, taps, dilation;
  ConvActivation activation;
};

class CausalConv : public ::testing::TestWithParam<ConvShape> {};

TEST_P(CausalConv, MatchesFloat64AndCarriesItsState) {
  const ParamType& shape = GetParam();
  const int64_t tokens = shape.tokens;
  const int64_t channels = shape.channels;
  const int64_t taps = shape.taps;
  const int64_t dilation = shape.dilation;
  const ConvActivation activation = shape.activation;
  const int64_t stride = channels + 2;
  const std::vector<float> x = random_floats(tokens * stride, 1);
  const std::vector<float> weight = random_floats(channels * taps, 2);
  const int64_t state_rows = causal_conv_state_rows(taps, dilation);
  // The answer is the output and then the state.
  const std::vector<float> answer = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    std::vector<float> y = unwritten(tokens * channels);
    std::vector<float> state(size_of(state_rows * channels), 0.0F);
    in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
      CausalConvParams params;
      params.x = x.data() + begin * stride;
      params.weight = weight.data();
      params.state = state.data();
      params.y = y.data() + begin * channels;
      params.num_tokens = end - begin;
      params.num_channels = channels;
      params.num_taps = taps;
      params.dilation = dilation;
      params.x_row_stride = stride;
      params.activation = activation;
      expect_ok(causal_conv_reference(params, executor));
    });
    y.insert(y.end(), state.begin(), state.end());
    return y;
  });
  const auto input = [&](int64_t t, int64_t c) {
    return t < 0 ? 0.0 : static_cast<double>(x[size_of(t * stride + c)]);
  };
  std::vector<double> expected;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0.0;
      for (int64_t j = 0; j < taps; ++j) {
        sum += weight[size_of(c * taps + j)] * input(t - (taps - 1 - j) * dilation, c);
      }
      expected.push_back(activation == ConvActivation::kSilu ? silu64(sum) : sum);
    }
  }
  for (int64_t i = 0; i < state_rows; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      expected.push_back(input(tokens - state_rows + i, c));
    }
  }
  expect_close(answer, expected, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CausalConv,
                         ::testing::Values(ConvShape{20, 5, 4, 1, ConvActivation::kSilu},
                                           ConvShape{33, 130, 4, 3, ConvActivation::kSilu},
                                           ConvShape{9, 64, 1, 1, ConvActivation::kNone},
                                           ConvShape{2, 65, 4, 3, ConvActivation::kNone},
                                           ConvShape{17, 3, 5, 2, ConvActivation::kNone}));

TEST(CausalConv, RefusesBadShapes) {
  CpuExecutor executor(1);
  std::vector<float> v(16);
  CausalConvParams params;
  expect_ok(causal_conv_reference(params, executor));
  params.num_tokens = 1;
  expect_refused(causal_conv_reference(params, executor), "num_channels");
  params.num_channels = 2;
  expect_refused(causal_conv_reference(params, executor), "num_taps");
  params.num_taps = 2;
  params.dilation = 0;
  expect_refused(causal_conv_reference(params, executor), "dilation");
  params.dilation = 1;
  params.x = v.data();
  params.weight = v.data();
  params.y = v.data() + 8;
  expect_refused(causal_conv_reference(params, executor), "state");
}

struct DeltaShape {
  int64_t tokens, key_heads, value_heads, key_dim, value_dim;
};

struct DeltaInputs {
  explicit DeltaInputs(const DeltaShape& s)
      : shape(s),
        qkv(random_floats(s.tokens * row_len(), 1)),
        a(random_floats(s.tokens * s.value_heads, 2, 2.0F)),
        b(random_floats(s.tokens * s.value_heads, 3, 2.0F)),
        a_log(random_floats(s.value_heads, 4)),
        dt_bias(random_floats(s.value_heads, 5)) {
    // Head 0 of the middle token: exp overflows float32, softplus is the number itself.
    a[size_of(s.tokens / 2 * s.value_heads)] = 120.0F;
    a_log[0] = -8.0F;
  }

  [[nodiscard]] int64_t row_len() const {
    return 2 * shape.key_heads * shape.key_dim + shape.value_heads * shape.value_dim;
  }

  DeltaShape shape;
  std::vector<float> qkv, a, b, a_log, dt_bias;
};

// Output, then state, of the recurrence in float64.
std::vector<double> delta64(const DeltaInputs& in) {
  const int64_t tokens = in.shape.tokens;
  const int64_t key_heads = in.shape.key_heads;
  const int64_t value_heads = in.shape.value_heads;
  const int64_t key_dim = in.shape.key_dim;
  const int64_t value_dim = in.shape.value_dim;
  std::vector<double> out(size_of(tokens * value_heads * value_dim));
  std::vector<double> state(size_of(value_heads * key_dim * value_dim), 0.0);
  const auto normalised = [&](const float* x, double factor) {
    double squares = 1e-6;
    for (int64_t i = 0; i < key_dim; ++i) {
      squares += static_cast<double>(x[i]) * x[i];
    }
    std::vector<double> y;
    for (int64_t i = 0; i < key_dim; ++i) {
      y.push_back(x[i] / std::sqrt(squares) * factor);
    }
    return y;
  };
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t h = 0; h < value_heads; ++h) {
      const float* row = in.qkv.data() + t * in.row_len();
      const int64_t key_head = h / (value_heads / key_heads);
      const std::vector<double> q =
          normalised(row + key_head * key_dim, 1.0 / std::sqrt(static_cast<double>(key_dim)));
      const std::vector<double> k = normalised(row + (key_heads + key_head) * key_dim, 1.0);
      const float* v = row + 2 * key_heads * key_dim + h * value_dim;
      const size_t gate = size_of(t * value_heads + h);
      const double step =
          std::log1p(std::exp(static_cast<double>(in.a[gate]) + in.dt_bias[size_of(h)]));
      const double decay = std::exp(-std::exp(static_cast<double>(in.a_log[size_of(h)])) * step);
      double* m = state.data() + h * key_dim * value_dim;
      for (int64_t j = 0; j < value_dim; ++j) {
        double seen = 0.0;
        for (int64_t i = 0; i < key_dim; ++i) {
          m[i * value_dim + j] *= decay;
          seen += m[i * value_dim + j] * k[size_of(i)];
        }
        const double delta = sigmoid64(in.b[gate]) * (v[j] - seen);
        double o = 0.0;
        for (int64_t i = 0; i < key_dim; ++i) {
          m[i * value_dim + j] += k[size_of(i)] * delta;
          o += m[i * value_dim + j] * q[size_of(i)];
        }
        out[gate * size_of(value_dim) + size_of(j)] = o;
      }
    }
  }
  out.insert(out.end(), state.begin(), state.end());
  return out;
}

class GatedDeltaNet : public ::testing::TestWithParam<DeltaShape> {};

TEST_P(GatedDeltaNet, MatchesFloat64AndCarriesItsState) {
  const DeltaInputs in(GetParam());
  const int64_t tokens = in.shape.tokens;
  const int64_t key_heads = in.shape.key_heads;
  const int64_t value_heads = in.shape.value_heads;
  const int64_t key_dim = in.shape.key_dim;
  const int64_t value_dim = in.shape.value_dim;
  const std::vector<float> answer = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    std::vector<float> out = unwritten(tokens * value_heads * value_dim);
    std::vector<float> state(size_of(value_heads * key_dim * value_dim), 0.0F);
    std::vector<float> scratch = unwritten(gated_delta_net_scratch_len(value_heads, key_dim));
    in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
      GatedDeltaNetParams params;
      params.qkv = in.qkv.data() + begin * in.row_len();
      params.a = in.a.data() + begin * value_heads;
      params.b = in.b.data() + begin * value_heads;
      params.a_log = in.a_log.data();
      params.dt_bias = in.dt_bias.data();
      params.state = state.data();
      params.out = out.data() + begin * value_heads * value_dim;
      params.scratch = scratch.data();
      params.num_tokens = end - begin;
      params.num_key_heads = key_heads;
      params.num_value_heads = value_heads;
      params.key_dim = key_dim;
      params.value_dim = value_dim;
      expect_ok(gated_delta_net_reference(params, executor));
    });
    out.insert(out.end(), state.begin(), state.end());
    return out;
  });
  expect_close(answer, delta64(in), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GatedDeltaNet,
                         ::testing::Values(DeltaShape{1, 1, 1, 4, 3}, DeltaShape{63, 2, 4, 16, 16},
                                           DeltaShape{65, 2, 6, 32, 20},
                                           DeltaShape{130, 1, 3, 128, 128}));

TEST(GatedDeltaNet, RefusesBadShapes) {
  CpuExecutor executor(1);
  GatedDeltaNetParams params;
  expect_ok(gated_delta_net_reference(params, executor));
  params.num_tokens = 1;
  expect_refused(gated_delta_net_reference(params, executor), "key_dim");
  params.key_dim = 4;
  params.value_dim = 4;
  params.num_key_heads = 2;
  params.num_value_heads = 3;
  expect_refused(gated_delta_net_reference(params, executor), "multiple");
  params.num_value_heads = 4;
  expect_refused(gated_delta_net_reference(params, executor), "null");
}

}  // namespace
}  // namespace ifr::kernels::testing
