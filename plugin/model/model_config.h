// SPDX-License-Identifier: Apache-2.0
// What a model is, as typed and checked numbers: every field is inside the limits below, every
// division between fields that the mathematics needs has no rest, every real number is finite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"

namespace ifr {

// Above these a file is refused: far beyond any real model, small enough that products of two of
// them fit 64 bits.
inline constexpr int32_t kMaxLayers = 512;
inline constexpr int32_t kMaxHidden = 1 << 18;
inline constexpr int32_t kMaxHeads = 4096;
inline constexpr int32_t kMaxHeadDim = 4096;
inline constexpr int32_t kMaxIntermediate = 1 << 20;
inline constexpr int32_t kMaxExperts = 8192;
inline constexpr int32_t kMaxVocab = 1 << 22;
inline constexpr int32_t kMaxContext = 1 << 30;

// The `llama` architecture (GGUF).
struct LlamaConfig {
  int32_t vocab_size = 0;      // rows of the embedding; may exceed the vocabulary (padding)
  int32_t context_length = 0;  // positions it was trained for; reserves nothing
  int32_t hidden_size = 0;
  int32_t num_layers = 0;
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;       // divides num_heads
  int32_t head_dim = 0;           // of queries, keys and values; not always hidden_size / num_heads
  int32_t rotary_dim = 0;         // first channels of a head that rotate; even, <= head_dim
  int32_t intermediate_size = 0;  // of the feed-forward block
  double rope_theta = 10000.0;
  float rms_norm_eps = 0.0F;
  bool tie_word_embeddings = false;  // no `output.weight`: the embedding is the head
};

enum class LayerKind : uint8_t { kLinearAttention, kSparseAttention };
enum class GateActivation : uint8_t { kSigmoid, kSilu };

// The hashed n-gram embedding of a Qwen4ExpConfig; one table a layer of `layers`.
struct PleConfig {
  std::vector<int32_t> layers;  // 0-based decoder layers, ascending, no repeats; empty: no PLE
  int32_t embed_dim = 0;        // of all heads together; num_heads() divides it
  int32_t conv_kernel = 4;
  int32_t ngram_size = 3;  // longest n-gram, >= 2
  int32_t heads_per_ngram = 8;
  int64_t vocab_size_base = 20'000'000;  // primes start here
  int32_t vocab_divisor = 128;           // `make_ngram_vocab_size_divisible_by`
  int32_t split_parts = 512;             // shards of a table in the checkpoint
  uint64_t seed = 1234;

  [[nodiscard]] int32_t num_heads() const { return (ngram_size - 1) * heads_per_ngram; }
  [[nodiscard]] int32_t head_channels() const { return embed_dim / num_heads(); }
};

// The sparse hybrid decoder, `qwen4_exp_text` (or the text model of `qwen4_exp`).
struct Qwen4ExpConfig {
  int32_t vocab_size = 0;
  int32_t context_length = 0;  // `max_position_embeddings`
  int32_t hidden_size = 0;
  int32_t num_layers = 0;
  std::vector<LayerKind> layer_kinds;  // [num_layers]
  float rms_norm_eps = 1e-6F;
  bool tie_word_embeddings = false;
  std::optional<int32_t> bos_token_id;
  std::vector<int32_t> eos_token_ids;  // the first is the one n-grams see; not empty when PLE is on

  // Hyper-connections.
  int32_t hc_count = 4;  // residual streams, >= 2
  int32_t hc_lowrank = 320;

  // Sparse attention and its indexer (0 where no layer is sparse and the keys are absent).
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;  // divides num_heads
  int32_t head_dim = 0;
  int32_t rotary_dim = 0;  // even, <= head_dim and <= indexer_head_dim
  double rope_theta = 10000.0;
  int32_t indexer_num_heads = 0;
  int32_t indexer_head_dim = 0;
  int32_t indexer_budget = 0;          // tokens; a multiple of the ratio
  int32_t indexer_compress_ratio = 0;  // tokens a block

  // Gated delta net.
  int32_t linear_num_key_heads = 16;
  int32_t linear_num_value_heads = 32;  // a multiple of the key heads
  int32_t linear_key_head_dim = 128;
  int32_t linear_value_head_dim = 128;
  int32_t linear_conv_kernel = 4;
  GateActivation output_gate = GateActivation::kSilu;

  // Mixture of experts.
  int32_t num_experts = 0;
  int32_t num_experts_per_token = 0;
  int32_t expert_intermediate_size = 0;
  int32_t shared_intermediate_size = 0;
  bool normalize_expert_weights = true;  // `norm_topk_prob`

  PleConfig ple;

  // Channels of the delta net's convolution: all q, all k, all v.
  [[nodiscard]] int32_t linear_conv_channels() const {
    return 2 * linear_num_key_heads * linear_key_head_dim +
           linear_num_value_heads * linear_value_head_dim;
  }
  // Index among the PLE layers, or -1.
  [[nodiscard]] int32_t ple_index_of_layer(int32_t layer_idx) const;
  [[nodiscard]] bool has_layer_of_kind(LayerKind kind) const;
};

struct ModelConfig {
  std::variant<LlamaConfig, Qwen4ExpConfig> arch;
  std::string name;  // `general.name` of GGUF; "" when absent

  [[nodiscard]] const LlamaConfig* llama() const { return std::get_if<LlamaConfig>(&arch); }
  [[nodiscard]] const Qwen4ExpConfig* qwen4_exp() const {
    return std::get_if<Qwen4ExpConfig>(&arch);
  }
  [[nodiscard]] const char* arch_name() const;  // "llama", "qwen4_exp"
  [[nodiscard]] int32_t vocab_size() const;
  [[nodiscard]] int32_t context_length() const;
  [[nodiscard]] int32_t hidden_size() const;
  [[nodiscard]] int32_t num_layers() const;
};

// The text of a config.json; `path` is for messages.
[[nodiscard]] Expected<ModelConfig> parse_config_json(const std::string& text,
                                                      const std::string& path);

}  // namespace ifr
