// SPDX-License-Identifier: Apache-2.0
// qwen4_exp against what Hugging Face transformers computed for the reference models.
#include <cstdlib>

#include "base/platform.h"
#include "reference_run.h"

namespace ifr::test {

namespace {

void check_reference_model(const char* name) {
  const char* root = std::getenv("IFR_REFERENCE_DIR");
  if (root == nullptr) {
    GTEST_SKIP() << "set IFR_REFERENCE_DIR to a folder that holds the unpacked reference models "
                    "tiny/ and geometry/";
  }
  check_reference_folder(std::string(root) + "/" + name);
}

TEST(Qwen4Exp, MicroMatchesTransformers) {
  const LoadedEngine loaded(IFR_SOURCE_DIR "/assets/micro");
  ASSERT_TRUE(loaded.is_ok());
  const GoldenFile golden(IFR_SOURCE_DIR "/tests/golden/micro/golden.safetensors");
  ReferenceOutput first;
  ASSERT_TRUE(run_reference(loaded, golden, 64, 1, Cutting::kBySteps, first));
  expect_matches(loaded, golden, first);
  for (const int32_t num_threads : {1, 2, 3}) {
    for (const int32_t chunk : {1, 2, 3, 5, 7, 63, 64, 65, 1024}) {
      for (const Cutting cutting : {Cutting::kBySteps, Cutting::kInsideStep}) {
        SCOPED_TRACE("chunk " + std::to_string(chunk) + ", threads " + std::to_string(num_threads));
        ReferenceOutput other;
        ASSERT_TRUE(run_reference(loaded, golden, chunk, num_threads, cutting, other));
        expect_same_bits(first, other);
      }
    }
  }
}

TEST(Qwen4Exp, TinyMatchesTransformers) {
  check_reference_model("tiny");
}

TEST(Qwen4Exp, GeometryMatchesTransformers) {
  check_reference_model("geometry");
}

// Every operator of this architecture is told of.
TEST(Qwen4Exp, ObserverSeesEveryOperator) {
  const LoadedEngine loaded(IFR_SOURCE_DIR "/assets/micro");
  ASSERT_TRUE(loaded.is_ok());
  const GoldenFile golden(IFR_SOURCE_DIR "/tests/golden/micro/golden.safetensors");
  ReferenceOutput out;
  ASSERT_TRUE(run_reference(loaded, golden, 64, 1, Cutting::kBySteps, out));
  for (int32_t id = 0; id < static_cast<int32_t>(OperatorId::kCount); ++id) {
    const bool expected = id != static_cast<int32_t>(OperatorId::kAttention) &&
                          id != static_cast<int32_t>(OperatorId::kSampling);
    EXPECT_EQ(out.recorder.seen[static_cast<size_t>(id)], expected)
        << operator_name(static_cast<OperatorId>(id));
  }
  const auto& selection = out.recorder.selections.at({3, 128});
  EXPECT_EQ(selection.num_visible_blocks, 32);
  EXPECT_EQ(selection.blocks.size(), 8U);
  EXPECT_TRUE(std::is_sorted(selection.scores.rbegin(), selection.scores.rend()));
}

}  // namespace

}  // namespace ifr::test
