// SPDX-License-Identifier: Apache-2.0
// Times block selection inside a CUDA graph, as decoding runs it.
//
//   bench_block_selection [--json FILE]
//
// A graph holds a chain of launches; one sample is the time of a graph over the launches in it.
// warm: every launch reads the same scores. cold: launches take turns over at least four times the
// L2's size, so that each reads from device memory.
#include "block_selection_cases.h"
#include "common/device_caps.h"
#include "device_test.cuh"
#include "interframe_kernels/block_selection.h"

#include <algorithm>
#include <string>

namespace ifr::kernels {
namespace {

// Device copy on an H200, read and written bytes, 2026-12-01: 4.3 TB/s; reads alone reach less.
constexpr double kFloorBytesPerUs = 4.2e6;
constexpr int kSamples = 200;

struct BenchCase {
  BlockSelectionShape shape;
  BlockSelectionPath path = BlockSelectionPath::kAuto;
  test::Scores scores = test::Scores::kNormal;
};

const BenchCase kCases[] = {
    {{1, 65536, 512}},
    {{8, 65536, 512}},
    {{1, 262144, 2048}},
    {{8, 262144, 2048}},
    {{1, 8192, 512}},
    {{1, 4096, 512}},
    {{64, 65536, 512}},
    {{2048, 32768, 512}},
    {{1, 65536, 512}, BlockSelectionPath::kSplit},
    {{8, 65536, 512}, BlockSelectionPath::kSplit},
    {{1, 262144, 2048}, BlockSelectionPath::kSplit},
    {{1, 65536, 512}, BlockSelectionPath::kBlock},
    {{1, 65536, 512}, BlockSelectionPath::kAuto, test::Scores::kRelu},
    {{1, 65536, 512}, BlockSelectionPath::kAuto, test::Scores::kAllZero},
    {{8, 65536, 512}, BlockSelectionPath::kAuto, test::Scores::kAllZero},
};

const char* path_name(BlockSelectionPath path) {
  switch (path) {
    case BlockSelectionPath::kBlock:
      return "block";
    case BlockSelectionPath::kSplit:
      return "split";
    case BlockSelectionPath::kCluster:
      return "cluster";
    case BlockSelectionPath::kAuto:
      break;
  }
  return "auto";
}

const char* scores_name(test::Scores scores) {
  return scores == test::Scores::kRelu      ? "relu"
         : scores == test::Scores::kAllZero ? "zeros"
                                            : "normal";
}

struct Timing {
  double median_us = 0;
  double p5_us = 0;
  double p95_us = 0;
};

Timing summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    return samples[static_cast<size_t>(part * static_cast<double>(samples.size() - 1))];
  };
  return {.median_us = at(0.5), .p5_us = at(0.05), .p95_us = at(0.95)};
}

// One sample a graph run, the graphs in turn.
Timing time_graphs(const std::vector<test::Graph>& graphs, int launches_per_graph,
                   const test::Stream& stream) {
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  test::require(cudaEventCreate(&start), "event");
  test::require(cudaEventCreate(&stop), "event");
  for (const test::Graph& graph : graphs) {
    graph.run(stream);
  }
  stream.wait();
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    test::require(cudaEventRecord(start, stream.get()), "event");
    graphs[static_cast<size_t>(i) % graphs.size()].run(stream);
    test::require(cudaEventRecord(stop, stream.get()), "event");
    test::require(cudaEventSynchronize(stop), "event");
    float ms = 0;
    test::require(cudaEventElapsedTime(&ms, start, stop), "event");
    samples.push_back(static_cast<double>(ms) * 1000.0 / launches_per_graph);
  }
  test::require(cudaEventDestroy(start), "event");
  test::require(cudaEventDestroy(stop), "event");
  return summarise(samples);
}

struct Result {
  BlockSelectionPlan plan;
  Timing warm;
  Timing cold;
};

class Bench {
 public:
  explicit Bench(const DeviceCaps& caps)
      : caps_(caps), pool_(static_cast<size_t>(std::max<int64_t>(pool_bytes(), 300 << 20) / 4)) {}

  Result run(const BenchCase& c) {
    const BlockSelectionShape& shape = c.shape;
    const int64_t set_len = shape.num_rows * shape.row_len;
    const auto pool_len = static_cast<int64_t>(pool_.bytes() / sizeof(float));
    fill_pool(c, std::min(pool_len, std::max(set_len, int64_t{1} << 20)));
    const int64_t num_sets = std::max<int64_t>(1, pool_len / set_len);
    const auto output_len = static_cast<size_t>(shape.num_rows * shape.k);
    const test::DeviceBuffer<int32_t> indices(output_len);
    const test::DeviceBuffer<int32_t> counts(static_cast<size_t>(shape.num_rows));
    Result result{.plan = plan_block_selection(shape, caps_, c.path), .warm = {}, .cold = {}};
    const auto workspace_bytes = static_cast<size_t>(result.plan.workspace_bytes);
    const test::DeviceBuffer<unsigned char> workspace(workspace_bytes);
    const int launches = shape.num_rows > 100 ? 4 : 20;
    const auto graph_from = [&](int64_t first_set, int64_t sets) {
      return test::Graph(stream_, [&](cudaStream_t stream) {
        for (int i = 0; i < launches; ++i) {
          const BlockSelectionParams params{
              .shape = shape,
              .scores = pool_.data() + (first_set + i) % sets * set_len,
              .scores_stride = shape.row_len,
              .live_counts = nullptr,
              .indices = indices.data(),
              .counts = counts.data(),
              .chosen_scores = nullptr};
          const LaunchStatus status = launch_block_selection(
              params, result.plan, {workspace.data(), workspace_bytes}, stream);
          if (!status.is_ok()) {
            std::fprintf(stderr, "launch: %s (%lld)\n", status.what,
                         static_cast<long long>(status.value));
            std::exit(1);
          }
        }
      });
    };
    std::vector<test::Graph> warm;
    warm.push_back(graph_from(0, 1));
    result.warm = time_graphs(warm, launches, stream_);
    std::vector<test::Graph> cold;
    for (int64_t set = 0; set < num_sets; set += launches) {
      cold.push_back(graph_from(set, num_sets));
    }
    result.cold = time_graphs(cold, launches, stream_);
    return result;
  }

 private:
  [[nodiscard]] int64_t pool_bytes() const { return 4 * int64_t{caps_.l2_bytes}; }

  // A few million scores, repeated through the pool.
  void fill_pool(const BenchCase& c, int64_t len) {
    std::mt19937 random(1);
    std::vector<float> values(static_cast<size_t>(std::min<int64_t>(len, 1 << 22)));
    test::fill_row(c.scores, c.shape.k, random, values.data(), static_cast<int64_t>(values.size()));
    const size_t pool_len = pool_.bytes() / sizeof(float);
    for (size_t at = 0; at < pool_len; at += values.size()) {
      const size_t part = std::min(values.size(), pool_len - at);
      test::require(cudaMemcpy(pool_.data() + at, values.data(), part * sizeof(float),
                               cudaMemcpyHostToDevice),
                    "upload");
    }
    test::require(cudaDeviceSynchronize(), "upload");
  }

  DeviceCaps caps_;
  test::DeviceBuffer<float> pool_;
  test::Stream stream_;
};

void print_timing(std::FILE* json, const char* name, const Timing& timing) {
  std::fprintf(json, "\"%s\": {\"median_us\": %.3f, \"p5_us\": %.3f, \"p95_us\": %.3f}", name,
               timing.median_us, timing.p5_us, timing.p95_us);
}

int run_bench(const char* json_path) {
  DeviceCaps caps;
  if (const LaunchStatus status = cuda::query_device_caps(0, caps); !status.is_ok()) {
    std::fprintf(stderr, "%s (driver code %d)\n", status.what, status.driver_code);
    return 1;
  }
  std::FILE* json = json_path != nullptr ? std::fopen(json_path, "w") : nullptr;
  if (json_path != nullptr && json == nullptr) {
    std::fprintf(stderr, "cannot write %s\n", json_path);
    return 1;
  }
  Bench bench(caps);
  std::printf("%5s %7s %5s %-7s %-8s %3s | %8s %8s %8s | %8s %8s %8s | %8s %7s %7s\n", "rows",
              "length", "k", "scores", "path", "n", "warm us", "p5", "p95", "cold us", "p5", "p95",
              "GB/s", "floor", "% floor");
  if (json != nullptr) {
    std::fprintf(json, "[");
  }
  bool first = true;
  for (const BenchCase& c : kCases) {
    const Result result = bench.run(c);
    const auto bytes = static_cast<double>(block_selection_cost(c.shape).bytes);
    const double floor_us = bytes / kFloorBytesPerUs;
    std::printf(
        "%5lld %7lld %5d %-7s %-8s %3d | %8.2f %8.2f %8.2f | %8.2f %8.2f %8.2f | %8.1f %7.2f "
        "%6.1f%%\n",
        static_cast<long long>(c.shape.num_rows), static_cast<long long>(c.shape.row_len),
        c.shape.k, scores_name(c.scores), path_name(result.plan.path), result.plan.num_splits,
        result.warm.median_us, result.warm.p5_us, result.warm.p95_us, result.cold.median_us,
        result.cold.p5_us, result.cold.p95_us, bytes / result.cold.median_us / 1000.0, floor_us,
        100.0 * floor_us / result.cold.median_us);
    if (json != nullptr) {
      std::fprintf(json,
                   "%s\n  {\"rows\": %lld, \"row_len\": %lld, \"k\": %d, \"scores\": \"%s\", "
                   "\"path\": \"%s\", \"forced\": %s, \"num_splits\": %d, \"bytes\": %.0f, "
                   "\"floor_us\": %.4f, ",
                   first ? "" : ",", static_cast<long long>(c.shape.num_rows),
                   static_cast<long long>(c.shape.row_len), c.shape.k, scores_name(c.scores),
                   path_name(result.plan.path),
                   c.path == BlockSelectionPath::kAuto ? "false" : "true", result.plan.num_splits,
                   bytes, floor_us);
      print_timing(json, "warm", result.warm);
      std::fprintf(json, ", ");
      print_timing(json, "cold", result.cold);
      std::fprintf(json, "}");
    }
    first = false;
  }
  if (json != nullptr) {
    std::fprintf(json, "\n]\n");
    std::fclose(json);
  }
  return 0;
}

}  // namespace
}  // namespace ifr::kernels

int main(int argc, char** argv) {
  const char* json_path = nullptr;
  if (argc == 3 && std::string(argv[1]) == "--json") {
    json_path = argv[2];
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: bench_block_selection [--json FILE]\n");
    return 2;
  }
  if (ifr::kernels::test::count_devices() == 0) {
    return ifr::kernels::test::kExitSkipped;
  }
  return ifr::kernels::run_bench(json_path);
}
