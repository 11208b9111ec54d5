// SPDX-License-Identifier: Apache-2.0
// Hashed n-gram embedding of one layer: rows gathered from a store, then a gated, convolved
// addition to the residual streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/weight_matrix.h"
#include "memory/embedding_store.h"
#include "model/model_config.h"
#include "model/ngram_constants.h"

namespace ifr {

struct PleShape {
  int32_t num_streams = 0;
  int32_t hidden = 0;
  int32_t embed_dim = 0;
  int32_t ngram_size = 0;
  int32_t heads_per_ngram = 0;
  int32_t conv_taps = 0;
  int32_t eos_token = 0;
  float eps = 0.0F;

  [[nodiscard]] int32_t num_heads() const { return (ngram_size - 1) * heads_per_ngram; }
  [[nodiscard]] int32_t head_channels() const { return embed_dim / num_heads(); }
  [[nodiscard]] int64_t width() const { return int64_t{num_streams} * hidden; }
};

struct PleWeights {
  kernels::WeightMatrix key;          // [C * H, embed_dim]
  kernels::WeightMatrix value;        // [H, embed_dim]
  const float* norm_key = nullptr;    // [C * H]
  const float* norm_query = nullptr;  // [C * H]
  const float* norm_conv = nullptr;   // [C * H]
  const float* conv = nullptr;        // [C * H, taps]
  NgramConstants constants;
  kernels::DataType row_type = kernels::DataType::kBf16;
  std::unique_ptr<EmbeddingStore> store;

  // Opens the store too: its shards stay in `file`, which outlives it.
  [[nodiscard]] Status plan(WeightPlan& plan, const ModelFile& file, const std::string& prefix,
                            const PleShape& shape, NgramConstants ngram_constants);
};

// Of one layer and sequence; zero at the start.
struct PleState {
  float* conv = nullptr;  // [(taps - 1) * ngram_size, C * H]
  void lay_out(const PleShape& shape, ScratchLayout& layout);
};

// What gather_ple leaves for run_ple; one a PLE layer.
struct PleGathered {
  float* rows = nullptr;      // [T, embed_dim]
  int32_t* window = nullptr;  // [ngram_size - 1]: the sequence's token window after the cut
  void lay_out(const PleShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

struct PleGatherScratch {
  int64_t* row_ids = nullptr;      // [T, heads]
  std::byte* row_bytes = nullptr;  // [T, heads, bytes of a row]
  void lay_out(const PleShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

struct PleScratch {
  float* key = nullptr;        // [T, C * H]
  float* value = nullptr;      // [T, H]
  float* query = nullptr;      // [T, C * H]
  float* convolved = nullptr;  // [T, C * H]
  void lay_out(const PleShape& shape, int64_t max_tokens, ScratchLayout& layout);
};

// Reads the rows of token_ids after `window`. Changes nothing of the sequence; errors are the
// store's.
[[nodiscard]] Status gather_ple(const StepContext& context, const PleShape& shape,
                                const PleWeights& weights, std::span<const int32_t> token_ids,
                                const int32_t* window, const PleGathered& gathered,
                                const PleGatherScratch& scratch);

// streams [T, C * H] += the layer's embedding; advances the state by T tokens.
[[nodiscard]] Status run_ple(const StepContext& context, const PleShape& shape,
                             const PleWeights& weights, const PleState& state,
                             const PleGathered& gathered, float* streams,
                             const PleScratch& scratch);

}  // namespace ifr
