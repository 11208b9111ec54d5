// SPDX-License-Identifier: Apache-2.0
// The CPU operators at the shapes of SmolLM2-135M and of the sparse hybrid decoder, on one thread:
// GB/s and GFLOP/s are an operator's own cost over its processor time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "interframe_kernels/block_selection.h"
#include "interframe_kernels/block_sparse_attention.h"
#include "interframe_kernels/causal_conv.h"
#include "interframe_kernels/cpu_executor.h"
#include "interframe_kernels/elementwise.h"
#include "interframe_kernels/gated_delta_net.h"
#include "interframe_kernels/hyper_connection.h"
#include "interframe_kernels/indexer.h"
#include "interframe_kernels/linear.h"
#include "interframe_kernels/moe.h"
#include "interframe_kernels/paged_attention.h"
#include "interframe_kernels/ple.h"
#include "interframe_kernels/rms_norm.h"
#include "interframe_kernels/rotary.h"
#include "interframe_kernels/sampling.h"
#include "interframe_kernels/sparse_attention.h"

namespace ifr::kernels {
namespace {

std::vector<float> random_floats(int64_t count, float scale = 1.0F) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return uniform(generator); });
  return values;
}

// A typed matrix of any bytes that decode to finite numbers; speed does not depend on them.
struct Weight {
  Weight(DataType type, int64_t rows, int64_t columns)
      : bytes(static_cast<size_t>(tensor_bytes(type, rows * columns)), 0x2C),
        view{bytes.data(), type, rows, columns} {}
  std::vector<uint8_t> bytes;
  WeightMatrix view;
};

template <typename F>
void measure(benchmark::State& state, const OperatorCost& cost, F&& run) {
  for (auto _ : state) {
    if (const LaunchStatus status = run(); !status.is_ok()) {
      state.SkipWithError(status.what);
      return;
    }
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["GB/s"] = benchmark::Counter(static_cast<double>(cost.bytes) * rounds * 1e-9,
                                              benchmark::Counter::kIsRate);
  state.counters["GFLOP/s"] = benchmark::Counter(static_cast<double>(cost.flops) * rounds * 1e-9,
                                                 benchmark::Counter::kIsRate);
}

// Arguments: type, tokens, N, K.
void BM_linear(benchmark::State& state) {
  CpuExecutor executor(1);
  const Weight weight(static_cast<DataType>(state.range(0)), state.range(2), state.range(3));
  const std::vector<float> x = random_floats(state.range(1) * state.range(3));
  std::vector<float> y(static_cast<size_t>(state.range(1) * state.range(2)));
  LinearParams params;
  params.x = x.data();
  params.weight = weight.view;
  params.y = y.data();
  params.num_tokens = state.range(1);
  state.SetLabel(data_type_name(weight.view.type));
  measure(state, linear_cost(params), [&] { return linear_reference(params, executor); });
}

void linear_shapes(benchmark::internal::Benchmark* bench) {
  const auto q4_1 = static_cast<int64_t>(DataType::kQ4_1);
  const auto bf16 = static_cast<int64_t>(DataType::kBf16);
  bench->ArgNames({"type", "T", "N", "K"});
  for (const int64_t tokens : {1, 2, 8, 64, 512}) {
    bench->Args({q4_1, tokens, 1536, 576});
    bench->Args({q4_1, tokens, 576, 1536});
    bench->Args({bf16, tokens, 2560, 2560});
  }
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kQ8_0}) {
    bench->Args({static_cast<int64_t>(type), 1, 1536, 576});
    bench->Args({static_cast<int64_t>(type), 64, 1536, 576});
  }
  bench->Args({static_cast<int64_t>(DataType::kQ8_0), 1, 49152, 576});
}
BENCHMARK(BM_linear)->Apply(linear_shapes);

// Arguments: tokens, groups, group length.
void BM_rms_norm(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t width = state.range(1) * state.range(2);
  const std::vector<float> weight = random_floats(width);
  const std::vector<float> x = random_floats(state.range(0) * width);
  std::vector<float> y(x.size());
  const RmsNormParams params = rms_norm_contiguous(x.data(), weight.data(), y.data(),
                                                   state.range(0), state.range(1), state.range(2));
  measure(state, rms_norm_cost(params), [&] { return rms_norm_reference(params, executor); });
}
BENCHMARK(BM_rms_norm)->Args({1, 1, 576})->Args({64, 4, 2560});

// Arguments: tokens, heads, rotary channels.
void BM_rotary(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t dim = state.range(2);
  std::vector<float> x = random_floats(state.range(0) * state.range(1) * dim);
  std::vector<float> frequency(static_cast<size_t>(dim / 2));
  rotary_inverse_frequencies(10000.0, dim, frequency.data());
  RotaryParams params;
  params.x = x.data();
  params.inverse_frequency = frequency.data();
  params.num_tokens = state.range(0);
  params.num_heads = state.range(1);
  params.head_stride = dim;
  params.row_stride = state.range(1) * dim;
  params.rotary_dim = dim;
  params.first_position = 1000;
  measure(state, rotary_cost(params), [&] { return rotary_reference(params, executor); });
}
BENCHMARK(BM_rotary)->Args({1, 12, 64})->Args({64, 12, 64});

void BM_swiglu(benchmark::State& state) {
  CpuExecutor executor(1);
  const std::vector<float> gate = random_floats(state.range(0) * 1536, 4.0F);
  std::vector<float> y(gate.size());
  SwigluParams params;
  params.gate = gate.data();
  params.up = gate.data();
  params.y = y.data();
  params.num_tokens = state.range(0);
  params.width = 1536;
  measure(state, swiglu_cost(params), [&] { return swiglu_reference(params, executor); });
}
BENCHMARK(BM_swiglu)->Arg(1)->Arg(64);

// A cache of `tokens` tokens in order.
struct Cache {
  Cache(int64_t tokens, int64_t kv_heads, int64_t dim)
      : keys(random_floats((tokens + 63) / 64 * 64 * kv_heads * dim)), values(keys) {
    table.resize(static_cast<size_t>((tokens + 63) / 64));
    std::iota(table.begin(), table.end(), 0);
    view.key_pool = keys.data();
    view.value_pool = values.data();
    view.page_stride = kPageTokens * kv_heads * dim;
    view.block_table = table.data();
    view.num_pages = static_cast<int64_t>(table.size());
    view.num_kv_heads = kv_heads;
    view.head_dim = dim;
  }
  std::vector<float> keys;
  std::vector<float> values;
  std::vector<int32_t> table;
  PagedKvCache view;
};

// Arguments: new tokens, tokens before them; the heads of SmolLM2.
void BM_paged_attention(benchmark::State& state) {
  CpuExecutor executor(1);
  Cache cache(state.range(0) + state.range(1), 3, 64);
  const std::vector<float> q = random_floats(state.range(0) * 9 * 64);
  std::vector<float> out(q.size());
  PagedAttentionParams params;
  params.cache = cache.view;
  params.q = q.data();
  params.out = out.data();
  params.num_tokens = state.range(0);
  params.num_heads = 9;
  params.first_position = state.range(1);
  measure(state, paged_attention_cost(params),
          [&] { return paged_attention_reference(params, executor); });
}
BENCHMARK(BM_paged_attention)->Args({1, 1023})->Args({64, 0})->Args({64, 960});

// Argument: tokens; 24 heads on 2 of 256 channels, 2051 selected.
void BM_sparse_attention(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t context = 8192;
  const int64_t width = 2051;
  Cache cache(context + state.range(0), 2, 256);
  const std::vector<float> q = random_floats(state.range(0) * 24 * 256);
  std::vector<float> out(q.size());
  std::mt19937 generator(2);
  std::vector<int32_t> selected(static_cast<size_t>(state.range(0) * width));
  std::generate(selected.begin(), selected.end(),
                [&] { return static_cast<int32_t>(generator() % context); });
  const std::vector<int32_t> counts(static_cast<size_t>(state.range(0)), width);
  SparseAttentionParams params;
  params.cache = cache.view;
  params.q = q.data();
  params.selected = selected.data();
  params.counts = counts.data();
  params.out = out.data();
  params.num_tokens = state.range(0);
  params.num_heads = 24;
  params.max_selected = width;
  params.first_position = context;
  measure(state, sparse_attention_cost(params),
          [&] { return sparse_attention_reference(params, executor); });
}
BENCHMARK(BM_sparse_attention)->Arg(1);

// Arguments: tokens, position of the first, blocks of 16 a query may attend; choosing and
// attending.
void BM_block_sparse_attention(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t tokens = state.range(0);
  const int64_t end = tokens + state.range(1);
  Cache cache(end, 3, 64);
  const std::vector<float> q = random_floats(tokens * 9 * 64);
  const std::vector<float> means = random_floats(end / 16 * 3 * 64);
  std::vector<int32_t> blocks(static_cast<size_t>(tokens * 3 * state.range(2)));
  std::vector<uint64_t> scratch(blocks.size());
  std::vector<float> out(q.size());
  const BlockSparseSelectParams select = {.q = q.data(),
                                          .means = means.data(),
                                          .blocks = blocks.data(),
                                          .scratch = scratch.data(),
                                          .num_tokens = tokens,
                                          .num_heads = 9,
                                          .num_kv_heads = 3,
                                          .head_dim = 64,
                                          .block_tokens = 16,
                                          .max_blocks = state.range(2),
                                          .num_first_blocks = 1,
                                          .num_recent_blocks = state.range(2) / 8,
                                          .first_position = state.range(1)};
  const BlockSparseAttentionParams attention = {.cache = cache.view,
                                                .q = q.data(),
                                                .blocks = blocks.data(),
                                                .out = out.data(),
                                                .num_tokens = tokens,
                                                .num_heads = 9,
                                                .block_tokens = 16,
                                                .max_blocks = state.range(2),
                                                .first_position = state.range(1)};
  const OperatorCost chosen = block_sparse_select_cost(select);
  const OperatorCost attended = block_sparse_attention_cost(attention);
  measure(state, {chosen.bytes + attended.bytes, chosen.flops + attended.flops}, [&] {
    const LaunchStatus status = block_sparse_select_reference(select, executor);
    return status.is_ok() ? block_sparse_attention_reference(attention, executor) : status;
  });
}
BENCHMARK(BM_block_sparse_attention)
    ->Args({1, 2047, 128})
    ->Args({1, 2047, 32})
    ->Args({1, 2047, 16})
    ->Args({64, 1984, 128})
    ->Args({64, 1984, 16});

// Arguments: tokens, complete blocks.
void BM_indexer_score(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t blocks = state.range(1);
  const std::vector<float> q = random_floats(state.range(0) * 4 * 128);
  const std::vector<float> keys = random_floats((blocks + 64) * 128);
  std::vector<float> scores(static_cast<size_t>(state.range(0) * (blocks + 64)));
  std::vector<int32_t> live(static_cast<size_t>(state.range(0)));
  IndexerScoreParams params;
  params.q = q.data();
  params.block_keys = keys.data();
  params.scores = scores.data();
  params.live_counts = live.data();
  params.num_tokens = state.range(0);
  params.num_heads = 4;
  params.key_dim = 128;
  params.num_blocks = blocks + 64;
  params.score_stride = blocks + 64;
  params.ratio = 4;
  params.first_position = 4 * blocks;
  measure(state, indexer_score_cost(params),
          [&] { return indexer_score_reference(params, executor); });
}
BENCHMARK(BM_indexer_score)->Args({1, 8192})->Args({16, 8192});

// Argument: tokens; 10240 channels, 4 taps.
void BM_causal_conv(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t channels = 10240;
  const std::vector<float> x = random_floats(state.range(0) * channels);
  const std::vector<float> weight = random_floats(channels * 4);
  std::vector<float> y(x.size());
  std::vector<float> carried(static_cast<size_t>(3 * channels));
  CausalConvParams params;
  params.x = x.data();
  params.weight = weight.data();
  params.state = carried.data();
  params.y = y.data();
  params.num_tokens = state.range(0);
  params.num_channels = channels;
  params.num_taps = 4;
  params.activation = ConvActivation::kSilu;
  measure(state, causal_conv_cost(params), [&] { return causal_conv_reference(params, executor); });
}
BENCHMARK(BM_causal_conv)->Arg(1)->Arg(64);

// Argument: tokens; 16 key and 48 value heads of 128.
void BM_gated_delta_net(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t tokens = state.range(0);
  const std::vector<float> qkv = random_floats(tokens * (2 * 16 + 48) * 128);
  const std::vector<float> gates = random_floats(tokens * 48);
  const std::vector<float> heads = random_floats(48);
  std::vector<float> carried(48 * 128 * 128);
  std::vector<float> out(static_cast<size_t>(tokens * 48 * 128));
  std::vector<float> scratch(static_cast<size_t>(gated_delta_net_scratch_len(48, 128)));
  GatedDeltaNetParams params;
  params.qkv = qkv.data();
  params.a = gates.data();
  params.b = gates.data();
  params.a_log = heads.data();
  params.dt_bias = heads.data();
  params.state = carried.data();
  params.out = out.data();
  params.scratch = scratch.data();
  params.num_tokens = tokens;
  params.num_key_heads = 16;
  params.num_value_heads = 48;
  params.key_dim = 128;
  params.value_dim = 128;
  measure(state, gated_delta_net_cost(params),
          [&] { return gated_delta_net_reference(params, executor); });
}
BENCHMARK(BM_gated_delta_net)->Arg(1)->Arg(16);

// Argument: tokens; 4 streams of 2560, rank 320.
void BM_hyper_connection_mix(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t tokens = state.range(0);
  const int64_t width = 4 * 2560;
  const std::vector<float> streams = random_floats(tokens * width);
  const std::vector<float> norm = random_floats(width);
  const Weight down(DataType::kBf16, 320, width);
  const Weight up(DataType::kBf16, width, 320);
  const Weight inject_weight(DataType::kBf16, 4, width);
  std::vector<float> mixed(static_cast<size_t>(tokens * 2560));
  std::vector<float> inject(static_cast<size_t>(tokens * 4));
  std::vector<float> scratch(
      static_cast<size_t>(hyper_connection_scratch_len(tokens, 4, 2560, 320)));
  HyperConnectionMixParams params;
  params.streams = streams.data();
  params.norm_weight = norm.data();
  params.down = down.view;
  params.up = up.view;
  params.inject_weight = inject_weight.view;
  params.mixed = mixed.data();
  params.inject = inject.data();
  params.scratch = scratch.data();
  params.num_tokens = tokens;
  params.num_streams = 4;
  params.hidden = 2560;
  measure(state, hyper_connection_mix_cost(params),
          [&] { return hyper_connection_mix_reference(params, executor); });
}
BENCHMARK(BM_hyper_connection_mix)->Arg(1)->Arg(16);

// Argument: tokens; 64 experts, top 10, hidden 2560, width 640.
void BM_moe_experts(benchmark::State& state) {
  CpuExecutor executor(1);
  const int64_t tokens = state.range(0);
  const int64_t experts = 64;
  const int64_t selected = 10;
  const Weight inner(DataType::kQ4_1, 640, 2560);
  const Weight outer(DataType::kQ4_1, 2560, 640);
  const std::vector<WeightMatrix> inners(experts, inner.view);
  const std::vector<WeightMatrix> outers(experts, outer.view);
  const std::vector<float> x = random_floats(tokens * 2560);
  const std::vector<float> weights(static_cast<size_t>(tokens * selected), 0.1F);
  std::vector<int32_t> ids(weights.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>(i * 7 % static_cast<size_t>(experts));
  }
  std::vector<float> y(x.size());
  std::vector<float> scratch(static_cast<size_t>(
      moe_experts_scratch_bytes(tokens, experts, selected, 2560, 640) / 4 + 16));
  MoeExpertsParams params;
  params.x = x.data();
  params.expert_ids = ids.data();
  params.weights = weights.data();
  params.gate = inners.data();
  params.up = inners.data();
  params.down = outers.data();
  params.y = y.data();
  params.scratch = scratch.data();
  params.num_tokens = tokens;
  params.num_experts = experts;
  params.num_selected = selected;
  params.hidden = 2560;
  params.intermediate = 640;
  measure(state, moe_experts_cost(params, DataType::kQ4_1),
          [&] { return moe_experts_reference(params, executor); });
}
BENCHMARK(BM_moe_experts)->Arg(1)->Arg(64);

// Arguments: vocabulary, top_k.
void BM_sample(benchmark::State& state) {
  CpuExecutor executor(1);
  const std::vector<float> logits = random_floats(state.range(0), 8.0F);
  std::vector<uint64_t> scratch(static_cast<size_t>(sample_scratch_bytes(state.range(0)) / 8));
  int32_t id = 0;
  SampleParams params;
  params.logits = logits.data();
  params.id = &id;
  params.scratch = scratch.data();
  params.vocab_len = state.range(0);
  params.options = {0.8F, static_cast<int32_t>(state.range(1)), 0.95F, 1};
  measure(state, sample_cost(params), [&] {
    ++params.position;
    return sample_reference(params, executor);
  });
}
BENCHMARK(BM_sample)->Args({49152, 0})->Args({49152, 40});

}  // namespace
}  // namespace ifr::kernels

BENCHMARK_MAIN();
