// SPDX-License-Identifier: Apache-2.0
#include "interframe_kernels/ple.h"
#include "interframe_kernels/sampling.h"
#include "kernels/operator_testing.h"

#include <map>

namespace ifr::kernels::testing {
namespace {

constexpr int32_t kEos = 2;

struct HashShape {
  int64_t ngram_size = 3;
  int64_t heads = 2;  // per n-gram order
};

struct HashTables {
  explicit HashTables(const HashShape& shape) {
    std::mt19937_64 generator(1);
    for (int64_t j = 0; j < shape.ngram_size; ++j) {
      multipliers.push_back(static_cast<int64_t>((generator() >> 1) | 1U));
    }
    int64_t sum = 0;
    for (int64_t i = 0; i < (shape.ngram_size - 1) * shape.heads; ++i) {
      primes.push_back(211 + 2 * i);
      offsets.push_back(sum);
      sum += primes.back();
    }
  }
  std::vector<int64_t> multipliers, primes, offsets;
};

// The ids by the definition: replace first, then hash.
std::vector<int64_t> hash_by_definition(const std::vector<int32_t>& tokens, const HashShape& shape,
                                        const HashTables& tables) {
  std::vector<int64_t> ids;
  for (int64_t t = 0; t < static_cast<int64_t>(tokens.size()); ++t) {
    for (int64_t n = 2; n <= shape.ngram_size; ++n) {
      for (int64_t i = 0; i < shape.heads; ++i) {
        uint64_t mixed = 0;
        for (int64_t j = 0; j < n; ++j) {
          int64_t token = t - j < 0 ? kEos : tokens[size_of(t - j)];
          for (int64_t left = 1; left <= j && t - left >= 0; ++left) {
            token = tokens[size_of(t - left)] == kEos ? kEos : token;
          }
          mixed ^=
              static_cast<uint64_t>(token) * static_cast<uint64_t>(tables.multipliers[size_of(j)]);
        }
        const size_t head = size_of((n - 2) * shape.heads + i);
        const int64_t prime = tables.primes[head];
        const int64_t rest = (static_cast<int64_t>(mixed) % prime + prime) % prime;
        ids.push_back(rest + tables.offsets[head]);
      }
    }
  }
  return ids;
}

TEST(NgramHash, MatchesTheDefinitionForEveryChunking) {
  for (const HashShape& shape : {HashShape{2, 1}, HashShape{3, 8}, HashShape{5, 3}}) {
    const HashTables tables(shape);
    std::mt19937 generator(3);
    std::vector<int32_t> tokens(90);
    std::generate(tokens.begin(), tokens.end(), [&] {
      return generator() % 6 == 0 ? kEos : static_cast<int32_t>(generator() % 248320);
    });
    tokens[40] = tokens[41] = kEos;
    const int64_t heads = (shape.ngram_size - 1) * shape.heads;
    const std::vector<int64_t> ids = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
      std::vector<int64_t> out(tokens.size() * size_of(heads), -1);
      std::vector<int32_t> window(size_of(shape.ngram_size - 1), kEos);
      in_chunks(90, chunk, [&](int64_t begin, int64_t end) {
        NgramHashParams params;
        params.tokens = tokens.data() + begin;
        params.multipliers = tables.multipliers.data();
        params.primes = tables.primes.data();
        params.offsets = tables.offsets.data();
        params.window = window.data();
        params.ids = out.data() + begin * heads;
        params.num_tokens = end - begin;
        params.ngram_size = shape.ngram_size;
        params.heads_per_ngram = shape.heads;
        params.eos_token = kEos;
        expect_ok(ngram_hash_reference(params, executor));
      });
      EXPECT_EQ(window.back(), tokens.back());
      return out;
    });
    EXPECT_EQ(ids, hash_by_definition(tokens, shape, tables));
  }
}

TEST(NgramHash, RefusesBadTables) {
  CpuExecutor executor(1);
  const HashShape shape;
  HashTables tables(shape);
  int32_t tokens[2] = {5, 6};
  int64_t ids[8];
  NgramHashParams params;
  expect_ok(ngram_hash_reference(params, executor));
  params.num_tokens = 1;
  expect_refused(ngram_hash_reference(params, executor), "ngram_size");
  params.ngram_size = shape.ngram_size;
  params.heads_per_ngram = shape.heads;
  expect_refused(ngram_hash_reference(params, executor), "null");
  params.tokens = tokens;
  params.window = tokens;
  params.multipliers = tables.multipliers.data();
  params.offsets = tables.offsets.data();
  params.primes = tables.primes.data();
  params.ids = ids;
  tables.primes[1] = 0;
  expect_refused(ngram_hash_reference(params, executor), "prime");
}

TEST(PleGate, MatchesFloat64) {
  const int64_t tokens = 11;
  const int64_t streams = 3;
  const int64_t hidden = 37;
  std::vector<float> key = random_floats(tokens * streams * hidden, 1);
  const std::vector<float> query = random_floats(tokens * streams * hidden, 2);
  const std::vector<float> value = random_floats(tokens * hidden, 3);
  std::fill_n(key.begin(), hidden, 0.0F);            // a score of exactly 0
  std::fill_n(key.begin() + hidden, hidden, 1e-9F);  // one below the least
  const std::vector<float> u = expect_one_answer([&](CpuExecutor& executor, int64_t chunk) {
    std::vector<float> out = unwritten(tokens * streams * hidden);
    in_chunks(tokens, chunk, [&](int64_t begin, int64_t end) {
      PleGateParams params;
      params.key = key.data() + begin * streams * hidden;
      params.query = query.data() + begin * streams * hidden;
      params.value = value.data() + begin * hidden;
      params.u = out.data() + begin * streams * hidden;
      params.num_tokens = end - begin;
      params.num_streams = streams;
      params.hidden = hidden;
      expect_ok(ple_gate_reference(params, executor));
    });
    return out;
  });
  std::vector<double> expected;
  for (int64_t i = 0; i < tokens * streams; ++i) {
    double score = 0.0;
    for (int64_t h = 0; h < hidden; ++h) {
      score += static_cast<double>(key[size_of(i * hidden + h)]) * query[size_of(i * hidden + h)];
    }
    score /= std::sqrt(static_cast<double>(hidden));
    const double sign = score > 0 ? 1.0 : score < 0 ? -1.0 : 0.0;
    const double gate = sigmoid64(sign * std::sqrt(std::max(std::fabs(score), 1e-6)));
    for (int64_t h = 0; h < hidden; ++h) {
      expected.push_back(gate * value[size_of(i / streams * hidden + h)]);
    }
  }
  expect_close(u, expected, 1e-6);
  CpuExecutor executor(1);
  expect_refused(ple_gate_reference({nullptr, nullptr, nullptr, nullptr, 1, 1, 1}, executor),
                 "null");
  expect_ok(ple_gate_reference({}, executor));
}

int32_t argmax(const std::vector<float>& logits) {
  CpuExecutor executor(1);
  int32_t id = -9;
  ArgmaxParams params;
  params.logits = logits.data();
  params.ids = &id;
  params.num_tokens = 1;
  params.vocab_len = static_cast<int64_t>(logits.size());
  expect_ok(argmax_reference(params, executor));
  return id;
}

TEST(Argmax, LowestIdOfATieAndNeverNan) {
  EXPECT_EQ(argmax({1, 3, 3, 2}), 1);
  EXPECT_EQ(argmax({kNan, -5, kNan, -4}), 3);
  EXPECT_EQ(argmax({0.0F, -0.0F}), 0);
  EXPECT_EQ(argmax({-0.0F, 0.0F}), 0);
  EXPECT_EQ(argmax({1, kInf, kInf}), 1);
  EXPECT_EQ(argmax({-kInf, -kInf}), -1);
  EXPECT_EQ(argmax({kNan}), -1);
  EXPECT_EQ(argmax({-kInf, -3e38F}), 1);
}

TEST(Argmax, TakesRowsOfAnyStride) {
  CpuExecutor executor(3);
  const std::vector<float> logits = random_floats(50 * 1003, 1);
  std::vector<int32_t> ids(50, -9);
  ArgmaxParams params;
  params.logits = logits.data();
  params.ids = ids.data();
  params.num_tokens = 50;
  params.vocab_len = 1000;
  params.row_stride = 1003;
  expect_ok(argmax_reference(params, executor));
  for (int64_t t = 0; t < 50; ++t) {
    const auto row = logits.begin() + t * 1003;
    EXPECT_EQ(ids[size_of(t)], std::max_element(row, row + 1000) - row);
  }
  params.vocab_len = 0;
  expect_refused(argmax_reference(params, executor), "vocab_len");
}

class Sampler {
 public:
  explicit Sampler(std::vector<float> logits)
      : logits_(std::move(logits)), scratch_(2 * logits_.size()) {}

  int32_t draw(const SamplingOptions& options, int64_t position = 0) {
    int32_t id = -9;
    SampleParams params;
    params.logits = logits_.data();
    params.id = &id;
    params.scratch = scratch_.data();
    params.vocab_len = static_cast<int64_t>(logits_.size());
    params.position = position;
    params.options = options;
    expect_ok(sample_reference(params, executor_));
    return id;
  }

  std::map<int32_t, int64_t> count(const SamplingOptions& options, int64_t draws) {
    std::map<int32_t, int64_t> counts;
    for (int64_t i = 0; i < draws; ++i) {
      ++counts[draw(options, i)];
    }
    return counts;
  }

 private:
  CpuExecutor executor_{1};
  std::vector<float> logits_;
  std::vector<uint64_t> scratch_;  // 16 bytes a logit
};

TEST(Sample, TemperatureZeroIsTheLowestIdOfTheTie) {
  Sampler sampler({1, 3, 3, 2});
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(sampler.draw({0.0F, 40, 0.9F, seed}), 1);
    for (const float tiny : {1e-8F, 1e-30F}) {
      const int32_t id = sampler.draw({tiny, 40, 0.9F, seed});
      EXPECT_TRUE(id == 1 || id == 2) << id;
    }
  }
}

TEST(Sample, AtLeastOneCandidateStays) {
  Sampler sampler({1, 3, 3, 2});
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(sampler.draw({1.0F, 1, 1.0F, seed}), 1);
    EXPECT_EQ(sampler.draw({1.0F, 0, 0.0F, seed}), 1);
    EXPECT_EQ(sampler.draw({1.0F, 1, 0.0F, seed}), 1);
    EXPECT_EQ(sampler.draw({100.0F, 4, 1e-9F, seed}), 1);
  }
}

TEST(Sample, FrequenciesFollowTheProbabilities) {
  Sampler sampler({std::log(0.5F), std::log(0.3F), std::log(0.2F)});
  const int64_t draws = 40000;
  const auto share = [&](const SamplingOptions& options) {
    std::vector<double> shares(3);
    for (const auto& [id, count] : sampler.count(options, draws)) {
      shares[size_of(id)] = static_cast<double>(count) / static_cast<double>(draws);
    }
    return shares;
  };
  const auto expect_shares = [&](const SamplingOptions& options, double a, double b, double c) {
    const std::vector<double> shares = share(options);
    EXPECT_NEAR(shares[0], a, 0.012);
    EXPECT_NEAR(shares[1], b, 0.012);
    EXPECT_NEAR(shares[2], c, 0.012);
  };
  expect_shares({1.0F, 0, 1.0F, 42}, 0.5, 0.3, 0.2);
  expect_shares({1.0F, 3, 1.0F, 42}, 0.5, 0.3, 0.2);
  expect_shares({1.0F, 100, 1.0F, 42}, 0.5, 0.3, 0.2);
  expect_shares({1.0F, std::numeric_limits<int32_t>::max(), 1.0F, 42}, 0.5, 0.3, 0.2);
  expect_shares({1.0F, 2, 1.0F, 42}, 0.625, 0.375, 0.0);
  expect_shares({1.0F, 0, 0.7F, 42}, 0.625, 0.375, 0.0);
  expect_shares({1.0F, 0, 0.81F, 42}, 0.5, 0.3, 0.2);
  expect_shares({1.0F, 2, 0.6F, 42}, 1.0, 0.0, 0.0);  // the nucleus of what top_k left
  expect_shares({0.5F, 0, 1.0F, 42}, 25.0 / 38, 9.0 / 38, 4.0 / 38);
}

TEST(Sample, ARareTokenStaysPossible) {
  Sampler sampler({std::log(1.0F - 1e-6F), std::log(1e-6F)});
  const auto counts = sampler.count({1.0F, 0, 1.0F, 7}, 10000000);
  EXPECT_GE(counts.at(1), 1);
  EXPECT_LE(counts.at(1), 40);
}

TEST(Sample, DependsOnSeedAndPositionOnly) {
  Sampler sampler(random_floats(500, 1));
  Sampler other(random_floats(500, 1));
  const SamplingOptions options = {0.8F, 40, 0.95F, 42};
  std::vector<int32_t> forward;
  for (int64_t p = 0; p < 64; ++p) {
    forward.push_back(sampler.draw(options, p));
  }
  for (int64_t p = 63; p >= 0; --p) {
    EXPECT_EQ(other.draw(options, p), forward[size_of(p)]);
  }
  EXPECT_GT(sampler.count(options, 200).size(), 5U);
  EXPECT_NE(sampling_uniform(1, 0), sampling_uniform(2, 0));
  EXPECT_NE(sampling_uniform(1, 0), sampling_uniform(1, 1));
  double sum = 0.0;
  for (int64_t p = 0; p < 10000; ++p) {
    const double u = sampling_uniform(9, p);
    ASSERT_TRUE(u >= 0.0 && u < 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Sample, NanAndInfinityAreNeverDrawnWrongly) {
  EXPECT_EQ(Sampler({kNan, -kInf, kNan}).draw({1.0F, 0, 1.0F, 1}), -1);
  EXPECT_EQ(Sampler({-kInf, -kInf}).draw({1.0F, 5, 0.5F, 1}), -1);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(Sampler({kNan, 2.0F, -kInf}).draw({1.0F, 0, 1.0F, seed}), 1);
    EXPECT_EQ(Sampler({kNan, 2.0F, -kInf}).draw({1.0F, 3, 0.99F, seed}), 1);
    EXPECT_EQ(Sampler({5.0F, kInf, 4.0F}).draw({1.0F, 0, 1.0F, seed}), 1);
    EXPECT_EQ(Sampler({3e38F, -3e38F}).draw({1e-30F, 0, 1.0F, seed}), 0);
  }
}

TEST(Sample, CheckNamesTheWrongOption) {
  EXPECT_EQ(sampling_check({}), SamplingFault::kNone);
  EXPECT_EQ(sampling_check({0.8F, 40, 0.9F, 1}), SamplingFault::kNone);
  EXPECT_EQ(sampling_check({1.0F, std::numeric_limits<int32_t>::max(), 0.0F, 1}),
            SamplingFault::kNone);
  for (const float bad : {-1.0F, kNan, kInf, -kInf, -1e-30F}) {
    EXPECT_EQ(sampling_check({bad, 0, 1.0F, 1}), SamplingFault::kTemperature) << bad;
  }
  EXPECT_EQ(sampling_check({1.0F, -1, 1.0F, 1}), SamplingFault::kTopK);
  for (const float bad : {-0.1F, 1.5F, kNan, kInf}) {
    EXPECT_EQ(sampling_check({1.0F, 0, bad, 1}), SamplingFault::kTopP) << bad;
  }
}

TEST(Sample, RefusesWrongOptionsAndNull) {
  CpuExecutor executor(1);
  const float logits[] = {1.0F, 2.0F};
  uint64_t scratch[4];
  int32_t id = -9;
  const auto run = [&](const SamplingOptions& options) {
    SampleParams params;
    params.logits = logits;
    params.id = &id;
    params.scratch = scratch;
    params.vocab_len = 2;
    params.options = options;
    return sample_reference(params, executor);
  };
  expect_refused(run({-1.0F, 0, 1.0F, 1}), "temperature");
  expect_refused(run({1.0F, -1, 1.0F, 1}), "top_k");
  expect_refused(run({1.0F, 0, 2.0F, 1}), "top_p");
  EXPECT_EQ(id, -9);
  expect_ok(run({1.0F, 0, 1.0F, 1}));
  expect_refused(sample_reference({}, executor), "vocab_len");
}

}  // namespace
}  // namespace ifr::kernels::testing
