// SPDX-License-Identifier: Apache-2.0
// config.json of `qwen4_exp_text`, and of `qwen4_exp`, whose text model it reads. Absent keys take
// the values that Hugging Face transformers gives them; sizes of the model itself and rms_norm_eps
// must be there.
#include <algorithm>
#include <string>

#include "model/json_fields.h"
#include "model/json_text.h"
#include "model/model_config.h"
#include "model/text_check.h"

namespace ifr {

namespace {

using nlohmann::json;

// Each takes a prime of its own: bounds the search for them.
constexpr int64_t kMaxNgramHeads = 4096;

Status read_sizes(const JsonFields& fields, Qwen4ExpConfig& config) {
  IFR_TRY(fields.integer("vocab_size", 1, kMaxVocab, config.vocab_size));
  IFR_TRY(fields.integer("hidden_size", 1, kMaxHidden, config.hidden_size));
  IFR_TRY(fields.integer("num_hidden_layers", 1, kMaxLayers, config.num_layers));
  IFR_TRY(fields.integer("max_position_embeddings", 1, kMaxContext, config.context_length, 32768));
  IFR_TRY(fields.integer("hc_count", 2, 64, config.hc_count, 4));
  IFR_TRY(fields.integer("hc_lowrank", 1, kMaxIntermediate, config.hc_lowrank, 320));
  double eps = 0.0;
  IFR_TRY(fields.positive_real("rms_norm_eps", 1.0, eps));
  config.rms_norm_eps = static_cast<float>(eps);
  if (config.rms_norm_eps <= 0.0F) {
    return fields.wrong("rms_norm_eps", "is " + JsonFields::shown(*fields.find("rms_norm_eps")) +
                                            ", which is 0 as a float");
  }
  std::string act;
  IFR_TRY(fields.text("hidden_act", act, "silu"));
  if (act != "silu") {
    return fields.error("hidden_act", Code::kUnsupported,
                        "is '" + printable(act) + "'; 'silu' is supported");
  }
  bool has_bias = false;
  IFR_TRY(fields.boolean("attention_bias", has_bias, false));
  if (has_bias) {
    return fields.error("attention_bias", Code::kUnsupported, "is true, which is not supported");
  }
  return {};
}

Status read_layer_kinds(const JsonFields& fields, Qwen4ExpConfig& config) {
  const json* list = fields.find("layer_types");
  if (list == nullptr) {
    int32_t interval = 0;
    IFR_TRY(fields.integer("full_attention_interval", 1, kMaxLayers, interval, 4));
    for (int32_t layer = 1; layer <= config.num_layers; ++layer) {
      config.layer_kinds.push_back(layer % interval == 0 ? LayerKind::kSparseAttention
                                                         : LayerKind::kLinearAttention);
    }
    return {};
  }
  if (!list->is_array() || list->size() != static_cast<size_t>(config.num_layers)) {
    return fields.wrong("layer_types", "must be an array of num_hidden_layers = " +
                                           std::to_string(config.num_layers) + " entries");
  }
  for (const json& entry : *list) {
    if (entry == "linear_attention") {
      config.layer_kinds.push_back(LayerKind::kLinearAttention);
    } else if (entry == "qwen_sparse_attention" || entry == "full_attention") {
      config.layer_kinds.push_back(LayerKind::kSparseAttention);
    } else {
      return fields.wrong("layer_types",
                          "has the entry " + JsonFields::shown(entry) +
                              "; linear_attention, qwen_sparse_attention and full_attention are "
                              "valid");
    }
  }
  return {};
}

// `rope_parameters`, or the older keys beside it.
Status read_rope(const JsonFields& fields, const std::string& path, Qwen4ExpConfig& config) {
  const json* nested = fields.find("rope_parameters");
  if (nested == nullptr) {
    nested = fields.find("rope_scaling");
  }
  const json empty = json::object();
  if (nested != nullptr && !nested->is_object()) {
    return fields.wrong("rope_parameters",
                        "is " + JsonFields::shown(*nested) + "; an object is needed");
  }
  const JsonFields rope(nested == nullptr ? empty : *nested, path, "rope_parameters.");
  std::string type;
  IFR_TRY(rope.text("rope_type", type, "default"));
  if (type != "default") {
    return rope.error("rope_type", Code::kUnsupported,
                      "is '" + printable(type) + "'; 'default' is supported");
  }
  const JsonFields& theta_owner = rope.find("rope_theta") != nullptr ? rope : fields;
  IFR_TRY(theta_owner.positive_real("rope_theta", 1e15, config.rope_theta, 10000.0));
  const JsonFields& factor_owner = rope.find("partial_rotary_factor") != nullptr ? rope : fields;
  double factor = 1.0;
  IFR_TRY(factor_owner.positive_real("partial_rotary_factor", 1.0, factor, 1.0));
  config.rotary_dim = static_cast<int32_t>(config.head_dim * factor);
  if (config.rotary_dim < 2 || config.rotary_dim % 2 != 0) {
    return factor_owner.wrong("partial_rotary_factor",
                              "times head_dim = " + std::to_string(config.head_dim) + " gives " +
                                  std::to_string(config.rotary_dim) +
                                  " rotary channels; an even number from 2 is needed");
  }
  return {};
}

// The indexer has no defaults; a model without sparse layers needs none of it.
Status read_indexer(const JsonFields& fields, Qwen4ExpConfig& config) {
  const std::optional<int32_t> fallback =
      config.has_layer_of_kind(LayerKind::kSparseAttention) ? std::nullopt : std::optional(0);
  IFR_TRY(fields.integer("indexer_n_heads", 1, kMaxHeads, config.indexer_num_heads, fallback));
  IFR_TRY(fields.integer("indexer_head_dim", 2, kMaxHeadDim, config.indexer_head_dim, fallback));
  IFR_TRY(fields.integer("indexer_budget", 1, kMaxContext, config.indexer_budget, fallback));
  IFR_TRY(fields.integer("indexer_compress_ratio", 1, kMaxContext, config.indexer_compress_ratio,
                         fallback));
  int32_t num_kv_heads = 0;
  IFR_TRY(fields.integer("indexer_kv_heads", 1, 1, num_kv_heads, 1));
  if (fallback) {
    return {};
  }
  if (config.indexer_budget % config.indexer_compress_ratio != 0) {
    return fields.wrong("indexer_budget",
                        "is " + std::to_string(config.indexer_budget) +
                            ", which is not a multiple of indexer_compress_ratio = " +
                            std::to_string(config.indexer_compress_ratio));
  }
  if (config.rotary_dim > config.indexer_head_dim) {
    return fields.wrong("indexer_head_dim",
                        "is " + std::to_string(config.indexer_head_dim) + ", fewer than the " +
                            std::to_string(config.rotary_dim) + " rotary channels");
  }
  return {};
}

Status read_attention(const JsonFields& fields, const std::string& path, Qwen4ExpConfig& config) {
  IFR_TRY(fields.integer("num_attention_heads", 1, kMaxHeads, config.num_heads, 16));
  IFR_TRY(fields.integer("num_key_value_heads", 1, kMaxHeads, config.num_kv_heads, 2));
  IFR_TRY(fields.integer("head_dim", 2, kMaxHeadDim, config.head_dim, 256));
  if (config.num_heads % config.num_kv_heads != 0) {
    return fields.wrong(
        "num_key_value_heads",
        "is " + std::to_string(config.num_kv_heads) +
            ", which does not divide num_attention_heads = " + std::to_string(config.num_heads));
  }
  IFR_TRY(read_rope(fields, path, config));
  return read_indexer(fields, config);
}

Status read_delta_net(const JsonFields& fields, Qwen4ExpConfig& config) {
  IFR_TRY(fields.integer("linear_num_key_heads", 1, kMaxHeads, config.linear_num_key_heads, 16));
  IFR_TRY(
      fields.integer("linear_num_value_heads", 1, kMaxHeads, config.linear_num_value_heads, 32));
  IFR_TRY(fields.integer("linear_key_head_dim", 1, kMaxHeadDim, config.linear_key_head_dim, 128));
  IFR_TRY(
      fields.integer("linear_value_head_dim", 1, kMaxHeadDim, config.linear_value_head_dim, 128));
  IFR_TRY(fields.integer("linear_conv_kernel_dim", 1, 64, config.linear_conv_kernel, 4));
  if (config.linear_num_value_heads % config.linear_num_key_heads != 0) {
    return fields.wrong("linear_num_value_heads",
                        "is " + std::to_string(config.linear_num_value_heads) +
                            ", which is not a multiple of linear_num_key_heads = " +
                            std::to_string(config.linear_num_key_heads));
  }
  std::string gate;
  IFR_TRY(fields.text("output_gate_type", gate, "silu"));  // absent: hidden_act, which is silu
  if (gate != "silu" && gate != "sigmoid") {
    return fields.error("output_gate_type", Code::kUnsupported,
                        "is '" + printable(gate) + "'; 'silu' and 'sigmoid' are supported");
  }
  config.output_gate = gate == "silu" ? GateActivation::kSilu : GateActivation::kSigmoid;
  return {};
}

Status read_experts(const JsonFields& fields, Qwen4ExpConfig& config) {
  IFR_TRY(fields.integer("num_experts", 1, kMaxExperts, config.num_experts, 512));
  IFR_TRY(fields.integer("num_experts_per_tok", 1, kMaxExperts, config.num_experts_per_token, 10));
  if (config.num_experts_per_token > config.num_experts) {
    return fields.wrong("num_experts_per_tok",
                        "is " + std::to_string(config.num_experts_per_token) +
                            ", more than num_experts = " + std::to_string(config.num_experts));
  }
  IFR_TRY(fields.integer("moe_intermediate_size", 1, kMaxIntermediate,
                         config.expert_intermediate_size, 512));
  IFR_TRY(fields.integer("shared_expert_intermediate_size", 1, kMaxIntermediate,
                         config.shared_intermediate_size, 512));
  return fields.boolean("norm_topk_prob", config.normalize_expert_weights, true);
}

Status read_token_ids(const JsonFields& fields, const JsonFields& outer, Qwen4ExpConfig& config) {
  const JsonFields& bos_owner = fields.find("bos_token_id") != nullptr ? fields : outer;
  if (const json* bos = bos_owner.find("bos_token_id")) {
    int64_t id = 0;
    IFR_TRY(bos_owner.integer_in("bos_token_id", *bos, 0, config.vocab_size - 1, id));
    config.bos_token_id = static_cast<int32_t>(id);
  }
  const JsonFields& owner = fields.find("eos_token_id") != nullptr ? fields : outer;
  const json* eos = owner.find("eos_token_id");
  if (eos == nullptr) {
    return {};
  }
  const json one = json::array({*eos});
  const json& list = eos->is_array() ? *eos : one;
  if (list.size() > 1024) {
    return owner.wrong("eos_token_id", "has more than 1024 entries");
  }
  for (const json& entry : list) {
    int64_t id = 0;
    IFR_TRY(owner.integer_in("eos_token_id", entry, 0, config.vocab_size - 1, id));
    config.eos_token_ids.push_back(static_cast<int32_t>(id));
  }
  return {};
}

Status read_ple_layers(const JsonFields& fields, Qwen4ExpConfig& config) {
  const json* list = fields.find("ple_layer_ids");
  if (list == nullptr) {
    return {};
  }
  if (!list->is_array() || list->size() > static_cast<size_t>(kMaxLayers)) {
    return fields.wrong("ple_layer_ids", "is " + JsonFields::shown(*list) +
                                             "; an array of at most " + std::to_string(kMaxLayers) +
                                             " layers is needed");
  }
  std::vector<int32_t>& layers = config.ple.layers;
  for (const json& entry : *list) {
    int64_t id = 0;  // counts from 1
    IFR_TRY(fields.integer_in("ple_layer_ids", entry, 1, config.num_layers, id));
    layers.push_back(static_cast<int32_t>(id) - 1);
  }
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  return {};
}

Status read_ple(const JsonFields& fields, Qwen4ExpConfig& config) {
  IFR_TRY(read_ple_layers(fields, config));
  PleConfig& ple = config.ple;
  IFR_TRY(fields.integer("ple_embed_dim", 1, kMaxHidden, ple.embed_dim, config.hidden_size));
  IFR_TRY(fields.integer("ple_conv_kernel_size", 1, 64, ple.conv_kernel, 4));
  IFR_TRY(fields.integer("ngram_size", 2, 16, ple.ngram_size, 3));
  IFR_TRY(fields.integer("heads_per_ngram", 1, 256, ple.heads_per_ngram, 8));
  int32_t base = 0;
  IFR_TRY(fields.integer("ngram_vocab_size_base", 1, 2'000'000'000, base, 20'000'000));
  ple.vocab_size_base = base;
  IFR_TRY(fields.integer("make_ngram_vocab_size_divisible_by", 1, 1 << 20, ple.vocab_divisor, 128));
  IFR_TRY(fields.integer("split_ngram_parts", 1, 1 << 20, ple.split_parts, 512));
  if (const json* seed = fields.find("seed")) {
    if (!seed->is_number_integer()) {
      return fields.wrong("seed", "is " + JsonFields::shown(*seed) + "; an integer is needed");
    }
    ple.seed = seed->is_number_unsigned() ? seed->get<uint64_t>()
                                          : static_cast<uint64_t>(seed->get<int64_t>());
  }
  if (ple.layers.empty()) {
    return {};
  }
  if (ple.embed_dim % ple.num_heads() != 0) {
    return fields.wrong("ple_embed_dim", "is " + std::to_string(ple.embed_dim) +
                                             ", which is not a multiple of the " +
                                             std::to_string(ple.num_heads()) + " n-gram heads");
  }
  const int64_t num_tables = int64_t{ple.num_heads()} * static_cast<int64_t>(ple.layers.size());
  if (num_tables > kMaxNgramHeads) {
    return fields.wrong("heads_per_ngram", "makes " + std::to_string(num_tables) +
                                               " n-gram heads in all PLE layers; at most " +
                                               std::to_string(kMaxNgramHeads) + " are valid");
  }
  if (config.eos_token_ids.empty()) {
    return fields.wrong("eos_token_id",
                        "is missing or empty, but n-gram embeddings (ple_layer_ids) need it");
  }
  return {};
}

Expected<Qwen4ExpConfig> read_text_model(const json& object, const JsonFields& outer,
                                         const std::string& path, const char* where) {
  const JsonFields fields(object, path, where);
  Qwen4ExpConfig config;
  IFR_TRY(read_sizes(fields, config));
  IFR_TRY(read_layer_kinds(fields, config));
  IFR_TRY(read_attention(fields, path, config));
  IFR_TRY(read_delta_net(fields, config));
  IFR_TRY(read_experts(fields, config));
  IFR_TRY(read_token_ids(fields, outer, config));
  IFR_TRY(read_ple(fields, config));
  // The outermost answer counts, as in transformers.
  const JsonFields& tie_owner = outer.find("tie_word_embeddings") != nullptr ? outer : fields;
  IFR_TRY(tie_owner.boolean("tie_word_embeddings", config.tie_word_embeddings, false));
  return config;
}

}  // namespace

Expected<ModelConfig> parse_config_json(const std::string& text, const std::string& path) {
  IFR_ASSIGN_OR_RETURN(const json root, parse_json(text, path));
  if (!root.is_object()) {
    return make_error(Code::kInvalidFile, Part::kModel, "'%s': an object is needed, not %s",
                      path.c_str(), root.type_name());
  }
  const JsonFields outer(root, path, "");
  std::string type;
  IFR_TRY(outer.text("model_type", type, ""));
  if (type != "qwen4_exp_text" && type != "qwen4_exp") {
    return outer.error("model_type", Code::kUnsupported,
                       (type.empty() ? std::string("is missing") : "is '" + printable(type) + "'") +
                           "; 'qwen4_exp_text' and 'qwen4_exp' are supported (llama: as GGUF)");
  }
  const json* object = &root;
  if (type == "qwen4_exp") {
    object = outer.find("text_config");
    if (object == nullptr || !object->is_object()) {
      return outer.wrong("text_config", "is missing or no object: it holds the text model");
    }
  }
  IFR_ASSIGN_OR_RETURN(
      Qwen4ExpConfig config,
      read_text_model(*object, outer, path, object == &root ? "" : "text_config."));
  ModelConfig model;
  model.arch = std::move(config);
  return model;
}

}  // namespace ifr
