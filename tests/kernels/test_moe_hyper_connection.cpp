// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/hyper_connection.h"
#include "interframe_kernels/moe.h"
#include "kernels/operator_testing.h"

#include <memory>

namespace ifr::kernels::testing {
namespace {

// y = W x in float64.
std::vector<double> product64(const TypedMatrix& w, const std::vector<double>& x) {
  std::vector<double> y;
  for (int64_t n = 0; n < w.view.num_rows; ++n) {
    double sum = 0.0;
    for (int64_t k = 0; k < w.view.row_len; ++k) {
      sum += x[size_of(k)] * w.at(n, k);
    }
    y.push_back(sum);
  }
  return y;
}

struct MixCase {
  int64_t tokens, streams, hidden, rank;
  bool has_inject;
};

class HyperConnectionMix : public ::testing::TestWithParam<MixCase> {};

TEST_P(HyperConnectionMix, MatchesFloat64) {
  const ParamType& shape = GetParam();
  const int64_t tokens = shape.tokens;
  const int64_t streams = shape.streams;
  const int64_t hidden = shape.hidden;
  const int64_t rank = shape.rank;
  const bool has_inject = shape.has_inject;
  const int64_t width = streams * hidden;
  const std::vector<float> s = random_floats(tokens * width, 1, 2.0F);
  const std::vector<float> norm = random_floats(width, 2, 0.1F);
  const TypedMatrix down = random_matrix(DataType::kBf16, rank, width, 3, 0.3F);
  const TypedMatrix up = random_matrix(DataType::kF32, width, rank, 4, 0.3F);
  const TypedMatrix inject = random_matrix(DataType::kBf16, streams, width, 5, 0.3F);
  // The answer is all of mixed, then all of inject.
  const std::vector<float> answer = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    std::vector<float> mixed = unwritten(tokens * hidden);
    std::vector<float> injects = unwritten(has_inject ? tokens * streams : 0);
    std::vector<float> scratch =
        unwritten(hyper_connection_scratch_len(tokens, streams, hidden, rank));
    in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
      HyperConnectionMixParams params;
      params.streams = s.data() + begin * width;
      params.norm_weight = norm.data();
      params.down = down.view;
      params.up = up.view;
      if (has_inject) {
        params.inject_weight = inject.view;
        params.inject = injects.data() + begin * streams;
      }
      params.mixed = mixed.data() + begin * hidden;
      params.scratch = scratch.data();
      params.num_tokens = end - begin;
      params.num_streams = streams;
      params.hidden = hidden;
      expect_ok(hyper_connection_mix_reference(params, executor));
    });
    mixed.insert(mixed.end(), injects.begin(), injects.end());
    return mixed;
  });
  std::vector<double> expected;
  std::vector<double> expected_inject;
  const auto per_stream = static_cast<double>(streams);
  for (int64_t t = 0; t < tokens; ++t) {
    const std::vector<double> n =
        rms64(s.data() + t * width, norm.data(), streams, hidden, 1e-6F, 1.0, false);
    std::vector<double> d = product64(down, n);
    for (double& value : d) {
      value = silu64(value / per_stream);
    }
    const std::vector<double> g = product64(up, d);
    for (int64_t h = 0; h < hidden; ++h) {
      double sum = 0.0;
      for (int64_t c = 0; c < streams; ++c) {
        sum += sigmoid64(g[size_of(c * hidden + h)]) * n[size_of(c * hidden + h)];
      }
      expected.push_back(sum / per_stream);
    }
    for (const double value : product64(inject, n)) {
      expected_inject.push_back(2.0 * sigmoid64(value / per_stream));
    }
  }
  if (has_inject) {
    expected.insert(expected.end(), expected_inject.begin(), expected_inject.end());
  }
  expect_close(answer, expected, 3e-6);
}

INSTANTIATE_TEST_SUITE_P(Shapes, HyperConnectionMix,
                         ::testing::Values(MixCase{1, 4, 16, 8, true}, MixCase{9, 4, 64, 16, true},
                                           MixCase{9, 3, 21, 5, false}, MixCase{66, 1, 8, 4, true},
                                           MixCase{2, 4, 16, 8, false}));

TEST(HyperConnectionMix, RefusesShapesThatDoNotFit) {
  CpuExecutor executor(1);
  std::vector<float> v(64);
  const TypedMatrix down = random_matrix(DataType::kF32, 2, 8, 1);
  const TypedMatrix up = random_matrix(DataType::kF32, 8, 2, 2);
  HyperConnectionMixParams params;
  expect_ok(hyper_connection_mix_reference(params, executor));
  params.num_tokens = 1;
  params.num_streams = 2;
  params.hidden = 4;
  expect_refused(hyper_connection_mix_reference(params, executor), "null");
  params.streams = params.norm_weight = v.data();
  params.mixed = v.data() + 8;
  params.scratch = v.data() + 16;
  params.down = up.view;
  params.up = up.view;
  expect_refused(hyper_connection_mix_reference(params, executor), "down");
  params.down = down.view;
  params.up = down.view;
  expect_refused(hyper_connection_mix_reference(params, executor), "up");
  params.up = up.view;
  params.inject_weight = down.view;
  expect_refused(hyper_connection_mix_reference(params, executor), "inject");
  params.inject_weight = {};
  expect_ok(hyper_connection_mix_reference(params, executor));
}

TEST(HyperConnectionInject, AddsToEveryStream) {
  CpuExecutor executor(3);
  const std::vector<float> s = random_floats(5 * 3 * 7, 1);
  const std::vector<float> y = random_floats(5 * 7, 2);
  const std::vector<float> inject = random_floats(5 * 3, 3);
  std::vector<float> streams = s;
  expect_ok(hyper_connection_inject_reference({streams.data(), inject.data(), y.data(), 5, 3, 7},
                                              executor));
  for (size_t i = 0; i < s.size(); ++i) {
    EXPECT_FLOAT_EQ(streams[i], s[i] + inject[i / 7] * y[i / 21 * 7 + i % 7]);
  }
  expect_refused(hyper_connection_inject_reference({nullptr, nullptr, nullptr, 1, 3, 7}, executor),
                 "null");
}

struct Routed {
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

Routed route(const std::vector<float>& logits, int64_t experts, int64_t selected,
             RouterWeights mode, CpuExecutor& executor) {
  const auto tokens = static_cast<int64_t>(logits.size()) / experts;
  Routed routed;
  routed.ids.assign(size_of(tokens * selected), -9);
  routed.weights = unwritten(tokens * selected);
  MoeRouterParams params;
  params.logits = logits.data();
  params.expert_ids = routed.ids.data();
  params.weights = routed.weights.data();
  params.num_tokens = tokens;
  params.num_experts = experts;
  params.num_selected = selected;
  params.mode = mode;
  expect_ok(moe_router_reference(params, executor));
  return routed;
}

TEST(MoeRouter, MatchesFloat64) {
  CpuExecutor executor(3);
  for (const RouterWeights mode : {RouterWeights::kSoftmax, RouterWeights::kRenormalised}) {
    const std::vector<float> logits = random_floats(40 * 20, 1, 3.0F);
    const Routed routed = route(logits, 20, 10, mode, executor);
    for (size_t t = 0; t < 40; ++t) {
      std::vector<size_t> order(20);
      for (size_t e = 0; e < 20; ++e) {
        order[e] = e;
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return logits[t * 20 + a] > logits[t * 20 + b]; });
      double all = 0.0;
      double chosen = 0.0;
      for (size_t i = 0; i < 20; ++i) {
        const double p = std::exp(static_cast<double>(logits[t * 20 + order[i]]));
        all += p;
        chosen += i < 10 ? p : 0.0;
      }
      for (size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(routed.ids[t * 10 + i], static_cast<int32_t>(order[i]));
        const double p = std::exp(static_cast<double>(logits[t * 20 + order[i]])) /
                         (mode == RouterWeights::kRenormalised ? chosen : all);
        EXPECT_NEAR(routed.weights[t * 10 + i], p, 1e-6);
      }
    }
  }
}

TEST(MoeRouter, TiesGoToTheLowerExpertAndTooManyAreUnused) {
  CpuExecutor executor(1);
  const Routed equal =
      route(std::vector<float>(20, 1.5F), 20, 10, RouterWeights::kRenormalised, executor);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(equal.ids[i], static_cast<int32_t>(i));
    EXPECT_FLOAT_EQ(equal.weights[i], 0.1F);
  }
  const Routed wide = route(random_floats(20, 2), 20, 32, RouterWeights::kRenormalised, executor);
  EXPECT_EQ(wide.ids[20], -1);
  EXPECT_EQ(wide.ids[31], -1);
  EXPECT_EQ(wide.weights[20], 0.0F);
  const Routed one = route({1.0F, 4.0F, 4.0F}, 3, 1, RouterWeights::kRenormalised, executor);
  EXPECT_EQ(one.ids[0], 1);
  EXPECT_EQ(one.weights[0], 1.0F);
}

TEST(MoeRouter, NanReachesTheWeightsAndIdsStayValid) {
  CpuExecutor executor(1);
  const Routed routed = route({kNan, 1.0F, 2.0F}, 3, 2, RouterWeights::kSoftmax, executor);
  EXPECT_TRUE(std::isnan(routed.weights[0]) && std::isnan(routed.weights[1]));
  EXPECT_NE(routed.ids[0], routed.ids[1]);
  for (const int32_t id : routed.ids) {
    EXPECT_TRUE(id >= 0 && id < 3);
  }
}

struct Experts {
  static constexpr int64_t kExperts = 20;
  static constexpr int64_t kHidden = 64;
  static constexpr int64_t kIntermediate = 32;

  Experts() {
    for (uint32_t e = 0; e < kExperts; ++e) {
      const DataType type = kWeightTypes[e % 5];
      add(gates, gate, type, kIntermediate, kHidden, 3 * e);
      add(ups, up, type, kIntermediate, kHidden, 3 * e + 1);
      add(downs, down, type, kHidden, kIntermediate, 3 * e + 2);
    }
  }

  static void add(std::vector<TypedMatrix>& all, std::vector<WeightMatrix>& views, DataType type,
                  int64_t rows, int64_t columns, uint32_t seed) {
    all.push_back(random_matrix(type, rows, columns, seed, 0.2F));
    views.push_back(all.back().view);  // the bytes move with their vector
  }

  [[nodiscard]] std::vector<double> run64(size_t expert, const std::vector<double>& x) const {
    std::vector<double> inner = product64(gates[expert], x);
    const std::vector<double> u = product64(ups[expert], x);
    for (size_t i = 0; i < inner.size(); ++i) {
      inner[i] = silu64(inner[i]) * u[i];
    }
    return product64(downs[expert], inner);
  }

  LaunchStatus run(const std::vector<float>& x, const std::vector<int32_t>& ids,
                   const std::vector<float>& weights, int64_t begin, int64_t end, int64_t selected,
                   std::vector<float>& y, std::vector<float>& scratch,
                   CpuExecutor& executor) const {
    MoeExpertsParams params;
    params.x = x.data() + begin * kHidden;
    params.expert_ids = ids.data() + begin * selected;
    params.weights = weights.data() + begin * selected;
    params.gate = gate.data();
    params.up = up.data();
    params.down = down.data();
    params.y = y.data() + begin * kHidden;
    void* aligned = scratch.data();
    size_t space = scratch.size() * sizeof(float);
    params.scratch = std::align(64, space - 64, aligned, space);
    params.num_tokens = end - begin;
    params.num_experts = kExperts;
    params.num_selected = selected;
    params.hidden = kHidden;
    params.intermediate = kIntermediate;
    return moe_experts_reference(params, executor);
  }

  // NaN everywhere: results of an earlier call cannot hide.
  static std::vector<float> scratch_for(int64_t tokens, int64_t selected) {
    return unwritten(
        moe_experts_scratch_bytes(tokens, kExperts, selected, kHidden, kIntermediate) / 4 + 32);
  }

  std::vector<TypedMatrix> gates, ups, downs;
  std::vector<WeightMatrix> gate, up, down;
};

// Q04: every token count, and for each the same bits whatever tokens share an expert.
TEST(MoeExperts, MatchesFloat64ForEveryTokenCount) {
  const Experts experts;
  const int64_t selected = 10;
  const int64_t most = 513;
  CpuExecutor executor(2);
  const std::vector<float> x = random_floats(most * Experts::kHidden, 90);
  const Routed routed = route(random_floats(most * Experts::kExperts, 91), Experts::kExperts,
                              selected, RouterWeights::kRenormalised, executor);
  std::vector<float> whole = unwritten(most * Experts::kHidden);
  std::vector<float> scratch = Experts::scratch_for(most, selected);
  expect_ok(
      experts.run(x, routed.ids, routed.weights, 0, most, selected, whole, scratch, executor));
  for (int64_t t = 0; t < most; t += 37) {
    const std::vector<double> row(x.begin() + t * Experts::kHidden,
                                  x.begin() + (t + 1) * Experts::kHidden);
    std::vector<double> expected(Experts::kHidden, 0.0);
    for (int64_t i = 0; i < selected; ++i) {
      const size_t pair = size_of(t * selected + i);
      const std::vector<double> out = experts.run64(size_of(routed.ids[pair]), row);
      for (size_t h = 0; h < out.size(); ++h) {
        expected[h] += routed.weights[pair] * out[h];
      }
    }
    const std::vector<float> actual(whole.begin() + t * Experts::kHidden,
                                    whole.begin() + (t + 1) * Experts::kHidden);
    expect_close(actual, expected, 2e-6, 10.0);  // what cancels is that large
  }
  for (const int64_t tokens : {1, 2, 3, 9, 31, 32, 33, 63, 64, 65, 99, 128, 512}) {
    std::vector<float> y = unwritten(tokens * Experts::kHidden);
    expect_ok(
        experts.run(x, routed.ids, routed.weights, 0, tokens, selected, y, scratch, executor));
    expect_same_bits(y, {whole.begin(), whole.begin() + tokens * Experts::kHidden},
                     std::to_string(tokens));
  }
}

TEST(MoeExperts, GivesOneAnswerForEveryChunking) {
  const Experts experts;
  CpuExecutor setup(1);
  const int64_t tokens = 70;
  const std::vector<float> x = random_floats(tokens * Experts::kHidden, 92);
  const Routed routed = route(random_floats(tokens * Experts::kExperts, 93), Experts::kExperts, 3,
                              RouterWeights::kSoftmax, setup);
  expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    std::vector<float> y = unwritten(tokens * Experts::kHidden);
    std::vector<float> scratch = Experts::scratch_for(std::min(chunk, tokens), 3);
    in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
      expect_ok(experts.run(x, routed.ids, routed.weights, begin, end, 3, y, scratch, executor));
    });
    return y;
  });
}

TEST(MoeExperts, InvalidExpertsAddNothing) {
  const Experts experts;
  CpuExecutor executor(1);
  const std::vector<float> x = random_floats(2 * Experts::kHidden, 94);
  std::vector<float> scratch = Experts::scratch_for(2, 4);
  std::vector<float> y = unwritten(2 * Experts::kHidden);
  std::vector<float> expected = y;
  const std::vector<float> weights(8, 0.5F);
  const int32_t huge = std::numeric_limits<int32_t>::max();
  expect_ok(
      experts.run(x, {-1, 3, 20, huge, huge, -1, 20, -7}, weights, 0, 2, 4, y, scratch, executor));
  expect_ok(experts.run(x, {3}, weights, 0, 1, 1, expected, scratch, executor));
  for (size_t h = 0; h < Experts::kHidden; ++h) {
    EXPECT_EQ(y[h], expected[h]);
    EXPECT_EQ(y[Experts::kHidden + h], 0.0F);
  }
}

TEST(MoeExperts, RefusesExpertsOfAnotherShape) {
  Experts experts;
  CpuExecutor executor(1);
  const std::vector<float> x = random_floats(Experts::kHidden, 95);
  std::vector<float> scratch = Experts::scratch_for(1, 1);
  std::vector<float> y = unwritten(Experts::kHidden);
  experts.down[7] = experts.up[7];
  expect_refused(experts.run(x, {0}, {1.0F}, 0, 1, 1, y, scratch, executor), "expert");
  experts.down[7].data = nullptr;
  expect_refused(experts.run(x, {0}, {1.0F}, 0, 1, 1, y, scratch, executor), "null");
  expect_ok(experts.run(x, {0}, {1.0F}, 0, 0, 1, y, scratch, executor));
}

TEST(MoeSharedAdd, ScalesByItsGate) {
  CpuExecutor executor(2);
  const std::vector<float> shared = random_floats(6 * 9, 1);
  const std::vector<float> y = random_floats(6 * 9, 2);
  const std::vector<float> gate = random_floats(6, 3, 3.0F);
  std::vector<float> sum = y;
  expect_ok(moe_shared_add_reference({sum.data(), shared.data(), gate.data(), 6, 9}, executor));
  std::vector<double> expected;
  for (size_t i = 0; i < y.size(); ++i) {
    expected.push_back(y[i] + sigmoid64(gate[i / 9]) * shared[i]);
  }
  expect_close(sum, expected, 1e-6);
  expect_refused(moe_shared_add_reference({nullptr, nullptr, nullptr, 6, 9}, executor), "null");
}

}  // namespace
}  // namespace ifr::kernels::testing
