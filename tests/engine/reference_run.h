// SPDX-License-Identifier: Apache-2.0
// A model folder with golden.safetensors (scripts and format: the reference models' README), run
// through the engine in chunks.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine_fixture.h"
#include "golden_file.h"

namespace ifr::test {

enum class Cutting { kBySteps, kInsideStep };

struct ReferenceOutput {
  std::vector<float> prefill_logits;  // [T, vocab]
  std::vector<float> decode_logits;   // [D, vocab]
  SelectionRecorder recorder;
};

inline bool run_reference(const LoadedEngine& loaded, const GoldenFile& golden, int32_t chunk,
                          int32_t num_threads, Cutting cutting, ReferenceOutput& out) {
  const std::vector<int32_t> prompt = golden.values<int32_t>("input_ids");
  const std::vector<int32_t> decode = golden.values<int32_t>("decode_ids");
  const size_t vocab = loaded.vocab();
  out.prefill_logits.assign(prompt.size() * vocab, NAN);
  out.decode_logits.assign(decode.size() * vocab, NAN);
  kernels::CpuExecutor executor(num_threads);
  const auto sequence = loaded.sequence(static_cast<int32_t>(prompt.size() + decode.size()));
  const auto workspace = loaded.workspace(chunk);
  if (sequence == nullptr || workspace == nullptr) {
    return false;
  }
  const StepOptions options = {.logits_rows = LogitsRows::kAll, .observer = &out.recorder};
  const size_t step_tokens = cutting == Cutting::kBySteps ? static_cast<size_t>(chunk)
                                                          : std::max<size_t>(1, prompt.size());
  for (size_t begin = 0; begin < prompt.size(); begin += step_tokens) {
    const size_t count = std::min(step_tokens, prompt.size() - begin);
    const Status status = loaded.engine->step(
        *sequence, *workspace, executor, std::span(prompt).subspan(begin, count), options,
        std::span(out.prefill_logits).subspan(begin * vocab, count * vocab));
    if (!status.is_ok()) {
      ADD_FAILURE() << status.message();
      return false;
    }
  }
  for (size_t i = 0; i < decode.size(); ++i) {
    const Status status =
        loaded.engine->step(*sequence, *workspace, executor, std::span(decode).subspan(i, 1),
                            {.logits_rows = LogitsRows::kLast, .observer = &out.recorder},
                            std::span(out.decode_logits).subspan(i * vocab, vocab));
    if (!status.is_ok()) {
      ADD_FAILURE() << status.message();
      return false;
    }
  }
  return true;
}

// Rows of a golden mask that differ from ours.
inline size_t count_wrong_rows(const ReferenceOutput& output, const GoldenFile& golden,
                               const std::string& name, int32_t layer, int32_t first_position,
                               int32_t ratio) {
  const TensorInfo* tensor = golden.find(name);
  if (tensor == nullptr) {
    ADD_FAILURE() << "no tensor " << name;
    return 1;
  }
  const std::vector<uint8_t> expected = golden.values<uint8_t>(name);
  const size_t num_columns = static_cast<size_t>(tensor->shape[1]);
  size_t num_wrong = 0;
  for (int64_t row = 0; row < tensor->shape[0]; ++row) {
    const std::vector<uint8_t> ours =
        output.recorder.mask(layer, first_position + static_cast<int32_t>(row), ratio, num_columns);
    if (std::memcmp(ours.data(), expected.data() + static_cast<size_t>(row) * num_columns,
                    num_columns) != 0) {
      ++num_wrong;
    }
  }
  return num_wrong;
}

// Logits within 2e-5 and every selection equal.
inline void expect_matches(const LoadedEngine& loaded, const GoldenFile& golden,
                           const ReferenceOutput& output) {
  const double prefill =
      relative_error(output.prefill_logits, golden.values<float>("prefill_logits"));
  const double decode = relative_error(output.decode_logits, golden.values<float>("decode_logits"));
  EXPECT_LE(prefill, 2e-5);
  EXPECT_LE(decode, 2e-5);
  ::testing::Test::RecordProperty("prefill_error", std::to_string(prefill));
  std::printf("  relative error: prefill %.2e, decode %.2e\n", prefill, decode);
  const EngineInfo& info = loaded.engine->info();
  const int32_t num_prompt = static_cast<int32_t>(golden.find("input_ids")->shape[0]);
  for (const int32_t layer : info.selecting_layers) {
    const std::string prefix = "layer." + std::to_string(layer);
    EXPECT_EQ(count_wrong_rows(output, golden, prefix + ".selected", layer, 0,
                               info.selection_block_tokens),
              0U)
        << prefix;
    EXPECT_EQ(count_wrong_rows(output, golden, prefix + ".decode_selected", layer, num_prompt,
                               info.selection_block_tokens),
              0U)
        << prefix;
  }
  EXPECT_EQ(output.recorder.num_bad_spans, 0);
}

inline void expect_same_bits(const ReferenceOutput& a, const ReferenceOutput& b) {
  ASSERT_EQ(a.prefill_logits.size(), b.prefill_logits.size());
  EXPECT_EQ(std::memcmp(a.prefill_logits.data(), b.prefill_logits.data(),
                        a.prefill_logits.size() * sizeof(float)),
            0);
  EXPECT_EQ(std::memcmp(a.decode_logits.data(), b.decode_logits.data(),
                        a.decode_logits.size() * sizeof(float)),
            0);
  EXPECT_TRUE(a.recorder.selections == b.recorder.selections);
}

// Everything that a folder with goldens is held against.
inline void check_reference_folder(const std::string& folder) {
  const LoadedEngine loaded(folder);
  ASSERT_TRUE(loaded.is_ok());
  const GoldenFile golden(folder + "/golden.safetensors");
  ASSERT_NE(golden.find("input_ids"), nullptr);
  ReferenceOutput first;
  ASSERT_TRUE(run_reference(loaded, golden, 64, 1, Cutting::kBySteps, first));
  expect_matches(loaded, golden, first);
  struct Case {
    int32_t chunk;
    int32_t num_threads;
    Cutting cutting;
  };
  for (const Case& c : {Case{1, 2, Cutting::kBySteps}, Case{7, 3, Cutting::kInsideStep},
                        Case{64, 3, Cutting::kBySteps}, Case{1024, 2, Cutting::kBySteps}}) {
    SCOPED_TRACE("chunk " + std::to_string(c.chunk) + ", threads " + std::to_string(c.num_threads));
    ReferenceOutput other;
    ASSERT_TRUE(run_reference(loaded, golden, c.chunk, c.num_threads, c.cutting, other));
    expect_same_bits(first, other);
  }
}

}  // namespace ifr::test
