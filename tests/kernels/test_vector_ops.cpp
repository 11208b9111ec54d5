// SPDX-License-Identifier: Apache-2.0
// Inner loops: against float64, and the same bits from every instruction set of this machine.
#include "reference/vector_ops.h"

#include "kernels/operator_testing.h"

namespace ifr::kernels::testing {
namespace {

std::vector<const VectorOps*> instruction_sets() {
  std::vector<const VectorOps*> sets = {&vector_ops_portable()};
  for (const VectorOps* ops : {vector_ops_avx2(), vector_ops_avx512()}) {
    if (ops != nullptr) {
      sets.push_back(ops);
    }
  }
  return sets;
}

// produce(ops) -> a vector; equal in bits for every instruction set. Returns it.
template <typename F>
std::vector<float> expect_same_everywhere(F&& produce) {
  std::vector<float> expected = produce(vector_ops_portable());
  for (const VectorOps* ops : instruction_sets()) {
    expect_same_bits(produce(*ops), expected, ops->name);
  }
  return expected;
}

TEST(VectorOps, TheChosenSetIsOneOfThisMachine) {
  EXPECT_EQ(&vector_ops(), instruction_sets().back());
}

TEST(VectorOps, DotsOfEveryLength) {
  for (const int64_t len : {1, 7, 16, 17, 64, 100, 256}) {
    for (const int64_t num_rows : {1, 3, 4, 16, 37}) {
      const std::vector<float> a = random_floats(len, 1);
      const std::vector<float> rows = random_floats(num_rows * len, 2);
      std::vector<const float*> pointers;
      std::vector<double> expected;
      for (int64_t r = 0; r < num_rows; ++r) {
        pointers.push_back(rows.data() + r * len);
        double sum = 0.0;
        for (int64_t i = 0; i < len; ++i) {
          sum += static_cast<double>(a[size_of(i)]) * rows[size_of(r * len + i)];
        }
        expected.push_back(sum);
      }
      const std::vector<float> dots = expect_same_everywhere([&](const VectorOps& ops) {
        std::vector<float> out = unwritten(num_rows);
        ops.dot_rows(a.data(), pointers.data(), num_rows, len, out.data());
        return out;
      });
      expect_close(dots, expected, 2e-6);
      EXPECT_EQ(vector_ops().dot(a.data(), rows.data(), len), dots[0]);
    }
  }
}

TEST(VectorOps, WeightedRowsOfEveryWidth) {
  for (const int64_t len : {1, 15, 16, 64, 83, 128}) {
    for (const int64_t num_rows : {0, 1, 2, 5, 64}) {
      const std::vector<float> start = random_floats(len, 1);
      const std::vector<float> weights = random_floats(num_rows, 2);
      const std::vector<float> rows = random_floats(num_rows * len, 3);
      std::vector<const float*> pointers;
      std::vector<double> expected(start.begin(), start.end());
      for (double& value : expected) {
        value *= 0.5;
      }
      for (int64_t r = 0; r < num_rows; ++r) {
        pointers.push_back(rows.data() + r * len);
        for (int64_t i = 0; i < len; ++i) {
          expected[size_of(i)] +=
              static_cast<double>(weights[size_of(r)]) * rows[size_of(r * len + i)];
        }
      }
      const std::vector<float> y = expect_same_everywhere([&](const VectorOps& ops) {
        std::vector<float> out = start;
        ops.weighted_rows(out.data(), 0.5F, weights.data(), pointers.data(), num_rows, len);
        return out;
      });
      expect_close(y, expected, 2e-6);
    }
  }
}

TEST(VectorOps, ExponentialsReachDenormalsAndZero) {
  std::vector<float> x;
  x.reserve(3000);
  for (int i = 0; i < 2960; ++i) {
    x.push_back(-0.0371F * static_cast<float>(i));
  }
  for (const float value : {-0.0F, -1e-30F, -87.3F, -87.4F, -103.9F, -104.0F, -1e30F, -kInf}) {
    x.push_back(value);
  }
  const std::vector<float> y = expect_same_everywhere([&](const VectorOps& ops) {
    std::vector<float> out = x;
    const float sum = ops.exp_rows(out.data(), 0.0F, static_cast<int64_t>(out.size()));
    out.push_back(sum);
    return out;
  });
  double sum = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    sum += exact;
    EXPECT_NEAR(y[i], exact, 1.5e-7 * exact + 1.5e-45) << x[i];
  }
  EXPECT_NEAR(y.back() / sum, 1.0, 1e-6);
  float nan = kNan;
  EXPECT_TRUE(std::isnan(vector_ops().exp_rows(&nan, 0.0F, 1)));
  EXPECT_EQ(y[x.size() - 1], 0.0F);
}

TEST(VectorOps, DeltaStepsAgree) {
  for (const int64_t value_dim : {3, 16, 40, 64, 150}) {
    const int64_t key_dim = 9;
    const std::vector<float> state = random_floats(key_dim * value_dim, 1);
    const std::vector<float> q = random_floats(key_dim, 2);
    const std::vector<float> k = random_floats(key_dim, 3);
    const std::vector<float> v = random_floats(value_dim, 4);
    expect_same_everywhere([&](const VectorOps& ops) {
      std::vector<float> answer = state;
      answer.resize(size_of((key_dim + 1) * value_dim), kNan);
      DeltaStep step;
      step.state = answer.data();
      step.q = q.data();
      step.k = k.data();
      step.v = v.data();
      step.out = answer.data() + key_dim * value_dim;
      step.decay = 0.9F;
      step.beta = 0.4F;
      step.key_dim = key_dim;
      step.value_dim = value_dim;
      ops.delta_step(step);
      return answer;
    });
  }
}

}  // namespace
}  // namespace ifr::kernels::testing
