// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "model/ngram_constants.h"
#include "model/tensor_check.h"
#include "model/text_check.h"

namespace ifr {

namespace {

constexpr TensorRole kPlain = TensorRole::kPlain;

class Qwen4ExpTensors {
 public:
  Qwen4ExpTensors(const Qwen4ExpConfig& config, TensorChecker& checker)
      : config_(config),
        checker_(checker),
        hidden_(config.hidden_size),
        streams_len_(int64_t{config.hc_count} * config.hidden_size) {}

  Status check();

 private:
  Status hyper_connection(const std::string& at);
  Status delta_net(const std::string& at);
  Status sparse_attention(const std::string& at);
  Status experts(const std::string& at);
  Status mlp(const std::string& at, int64_t inner);
  Status ple(const std::string& at, int32_t ple_idx);
  Status ngram_shards(const std::string& at, const NgramConstants& constants);
  Status buffer(const std::string& name, const std::vector<int64_t>& values);
  Status refuse_biases() const;

  Status need(const std::string& name, const std::vector<int64_t>& shape) {
    return checker_.need(name, shape, kPlain);
  }

  const Qwen4ExpConfig& config_;
  TensorChecker& checker_;
  int64_t hidden_;
  int64_t streams_len_;
};

Status Qwen4ExpTensors::check() {
  const std::string& prefix = checker_.model().tensor_prefix();
  IFR_TRY(need(prefix + "embed_tokens.weight", {config_.vocab_size, hidden_}));
  if (!config_.tie_word_embeddings) {
    IFR_TRY(need("lm_head.weight", {config_.vocab_size, hidden_}));
  }
  const std::string mixer = prefix + "hyper_connection_mixer.";
  IFR_TRY(hyper_connection(mixer));
  for (int32_t layer = 0; layer < config_.num_layers; ++layer) {
    const std::string at = prefix + "layers." + std::to_string(layer) + ".";
    for (const char* block : {"attn_hyper_connection.", "mlp_hyper_connection."}) {
      IFR_TRY(hyper_connection(at + block));
      IFR_TRY(need(at + block + "block_inject_weight.weight", {config_.hc_count, streams_len_}));
    }
    if (config_.layer_kinds[static_cast<size_t>(layer)] == LayerKind::kLinearAttention) {
      IFR_TRY(delta_net(at + "linear_attn."));
    } else {
      IFR_TRY(sparse_attention(at + "self_attn."));
    }
    IFR_TRY(experts(at + "mlp."));
    const int32_t ple_idx = config_.ple_index_of_layer(layer);
    if (ple_idx >= 0) {
      IFR_TRY(ple(at + "ple.", ple_idx));
    }
  }
  return refuse_biases();
}

Status Qwen4ExpTensors::hyper_connection(const std::string& at) {
  IFR_TRY(need(at + "hc_norm.weight", {streams_len_}));
  IFR_TRY(need(at + "input_mix_weight_down.weight", {config_.hc_lowrank, streams_len_}));
  return need(at + "input_mix_weight_up.weight", {streams_len_, config_.hc_lowrank});
}

Status Qwen4ExpTensors::delta_net(const std::string& at) {
  const int64_t channels = config_.linear_conv_channels();
  const int64_t num_heads = config_.linear_num_value_heads;
  const int64_t value_len = num_heads * config_.linear_value_head_dim;
  IFR_TRY(need(at + "in_proj_qkv.weight", {channels, hidden_}));
  IFR_TRY(need(at + "in_proj_z.weight", {value_len, hidden_}));
  IFR_TRY(need(at + "in_proj_b.weight", {num_heads, hidden_}));
  IFR_TRY(need(at + "in_proj_a.weight", {num_heads, hidden_}));
  IFR_TRY(need(at + "conv1d.weight", {channels, 1, config_.linear_conv_kernel}));
  IFR_TRY(need(at + "A_log", {num_heads}));
  IFR_TRY(need(at + "dt_bias", {num_heads}));
  IFR_TRY(need(at + "norm.weight", {config_.linear_value_head_dim}));
  return need(at + "out_proj.weight", {hidden_, value_len});
}

Status Qwen4ExpTensors::sparse_attention(const std::string& at) {
  const int64_t head_dim = config_.head_dim;
  const int64_t query_len = config_.num_heads * head_dim;
  const int64_t key_len = config_.num_kv_heads * head_dim;
  const int64_t index_dim = config_.indexer_head_dim;
  IFR_TRY(need(at + "q_proj.weight", {2 * query_len, hidden_}));  // query and gate of each head
  IFR_TRY(need(at + "k_proj.weight", {key_len, hidden_}));
  IFR_TRY(need(at + "v_proj.weight", {key_len, hidden_}));
  IFR_TRY(need(at + "o_proj.weight", {hidden_, query_len}));
  IFR_TRY(need(at + "q_norm.weight", {head_dim}));
  IFR_TRY(need(at + "k_norm.weight", {head_dim}));
  IFR_TRY(need(at + "indexer.index_qk_proj.weight",
               {(config_.indexer_num_heads + 1) * index_dim, hidden_}));
  IFR_TRY(need(at + "indexer.q_layernorm.weight", {index_dim}));
  return need(at + "indexer.k_layernorm.weight", {index_dim});
}

Status Qwen4ExpTensors::mlp(const std::string& at, int64_t inner) {
  IFR_TRY(need(at + "gate_proj.weight", {inner, hidden_}));
  IFR_TRY(need(at + "up_proj.weight", {inner, hidden_}));
  return need(at + "down_proj.weight", {hidden_, inner});
}

Status Qwen4ExpTensors::experts(const std::string& at) {
  IFR_TRY(need(at + "gate.weight", {config_.num_experts, hidden_}));
  for (int32_t expert = 0; expert < config_.num_experts; ++expert) {
    IFR_TRY(mlp(at + "experts." + std::to_string(expert) + ".", config_.expert_intermediate_size));
  }
  IFR_TRY(mlp(at + "shared_expert.", config_.shared_intermediate_size));
  return need(at + "shared_expert_gate.weight", {1, hidden_});
}

Status Qwen4ExpTensors::ple(const std::string& at, int32_t ple_idx) {
  const PleConfig& ple = config_.ple;
  IFR_TRY(need(at + "key_proj.weight", {streams_len_, ple.embed_dim}));
  IFR_TRY(need(at + "value_proj.weight", {hidden_, ple.embed_dim}));
  IFR_TRY(need(at + "norm_key.weight", {streams_len_}));
  IFR_TRY(need(at + "norm_query.weight", {streams_len_}));
  IFR_TRY(need(at + "norm_conv.weight", {streams_len_}));
  IFR_TRY(need(at + "conv1d.weight", {streams_len_, 1, ple.conv_kernel}));
  const NgramConstants constants = make_ngram_constants(ple, config_.vocab_size, ple_idx);
  const std::string table = at + "ple_embedding.";
  IFR_TRY(buffer(table + "layer_multipliers", constants.multipliers));
  IFR_TRY(buffer(table + "ngram_heads_vocab_sizes", constants.primes));
  IFR_TRY(buffer(table + "ngram_heads_offsets", constants.offsets));
  return ngram_shards(table + "ngram_embedding.shard_", constants);
}

Status Qwen4ExpTensors::ngram_shards(const std::string& at, const NgramConstants& constants) {
  const int64_t shard_len = constants.rows_per_shard;
  for (int64_t shard = 0; shard * shard_len < constants.num_rows; ++shard) {
    const int64_t num_rows = std::min(shard_len, constants.num_rows - shard * shard_len);
    IFR_TRY(need(at + std::to_string(shard) + ".weight", {num_rows, config_.ple.head_channels()}));
  }
  return {};
}

// The checkpoint's own copy must be what the configuration gives: another seed or base would look
// up other rows.
Status Qwen4ExpTensors::buffer(const std::string& name, const std::vector<int64_t>& values) {
  IFR_TRY(checker_.need(name, {static_cast<int64_t>(values.size())}, TensorRole::kIntegers));
  IFR_ASSIGN_OR_RETURN(const std::vector<int64_t> stored, checker_.integers(name));
  for (size_t idx = 0; idx < values.size(); ++idx) {
    if (stored[idx] != values[idx]) {
      return make_error(Code::kInvalidFile, Part::kModel,
                        "'%s': tensor '%s' holds %lld at index %zu, but the configuration (seed, "
                        "vocab_size, ngram_vocab_size_base) gives %lld",
                        printable(checker_.model().path(), 200).c_str(), name.c_str(),
                        static_cast<long long>(stored[idx]), idx,
                        static_cast<long long>(values[idx]));
    }
  }
  return {};
}

// Of layers: leaving one out would be silently wrong. A vision tower has its own and is not read.
Status Qwen4ExpTensors::refuse_biases() const {
  const ModelFile& model = checker_.model();
  const std::string layers = model.tensor_prefix() + "layers.";
  for (const TensorInfo& tensor : model.tensors()) {
    if (tensor.name.starts_with(layers) && tensor.name.ends_with(".bias")) {
      return make_error(Code::kUnsupported, Part::kModel,
                        "'%s': tensor '%s' is a bias, which this model type does not have",
                        printable(model.path(), 200).c_str(), printable(tensor.name).c_str());
    }
  }
  return {};
}

}  // namespace

Status check_qwen4_exp_tensors(const Qwen4ExpConfig& config, TensorChecker& checker) {
  return Qwen4ExpTensors(config, checker).check();
}

}  // namespace ifr
