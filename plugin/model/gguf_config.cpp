// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>

#include "model/gguf_header.h"
#include "model/text_check.h"

namespace ifr {

namespace {

constexpr uint64_t kMaxNameBytes = 256;

// Keys of one architecture: "llama." + suffix.
class ArchKeys {
 public:
  ArchKeys(const GgufHeader& header, std::string prefix)
      : header_(header), prefix_(std::move(prefix)) {}

  [[nodiscard]] std::string key(const char* suffix) const { return prefix_ + suffix; }

  // In [min, max]; absent: `fallback`, or an error when that is not given.
  Status integer(const char* suffix, int32_t min, int32_t max, int32_t& out,
                 std::optional<int32_t> fallback = std::nullopt) const {
    IFR_ASSIGN_OR_RETURN(const std::optional<int64_t> value, header_.integer(key(suffix)));
    if (!value) {
      if (!fallback) {
        return missing(suffix);
      }
      out = *fallback;
      return {};
    }
    if (*value < min || *value > max) {
      return header_.value_error(key(suffix), Code::kInvalidFile, "is %lld; %d to %d is valid",
                                 static_cast<long long>(*value), min, max);
    }
    out = static_cast<int32_t>(*value);
    return {};
  }

  // Finite, above 0, at most `max`.
  Status positive_real(const char* suffix, double max, double& out,
                       std::optional<double> fallback = std::nullopt) const {
    IFR_ASSIGN_OR_RETURN(const std::optional<double> value, header_.real(key(suffix)));
    if (!value) {
      if (!fallback) {
        return missing(suffix);
      }
      out = *fallback;
      return {};
    }
    if (!std::isfinite(*value) || *value <= 0.0 || *value > max) {
      return header_.value_error(key(suffix), Code::kInvalidFile,
                                 "is %g; a finite number above 0 and at most %g is valid", *value,
                                 max);
    }
    out = *value;
    return {};
  }

  [[nodiscard]] Status missing(const char* suffix) const {
    return header_.value_error(key(suffix), Code::kInvalidFile,
                               "is missing: the model cannot be read without it");
  }

 private:
  const GgufHeader& header_;
  std::string prefix_;
};

Status read_sizes(const ArchKeys& keys, LlamaConfig& config) {
  IFR_TRY(keys.integer("block_count", 1, kMaxLayers, config.num_layers));
  IFR_TRY(keys.integer("context_length", 1, kMaxContext, config.context_length));
  IFR_TRY(keys.integer("embedding_length", 1, kMaxHidden, config.hidden_size));
  IFR_TRY(keys.integer("feed_forward_length", 1, kMaxIntermediate, config.intermediate_size));
  double eps = 0.0;
  IFR_TRY(keys.positive_real("attention.layer_norm_rms_epsilon", 1.0, eps));
  config.rms_norm_eps = static_cast<float>(eps);
  if (config.rms_norm_eps <= 0.0F) {
    return make_error(Code::kInvalidFile, Part::kModel, "%s is %g, which is 0 as a float",
                      keys.key("attention.layer_norm_rms_epsilon").c_str(), eps);
  }
  return {};
}

Status read_heads(const GgufHeader& header, const ArchKeys& keys, LlamaConfig& config) {
  IFR_TRY(keys.integer("attention.head_count", 1, kMaxHeads, config.num_heads));
  IFR_TRY(
      keys.integer("attention.head_count_kv", 1, kMaxHeads, config.num_kv_heads, config.num_heads));
  if (config.num_heads % config.num_kv_heads != 0) {
    return header.value_error(keys.key("attention.head_count_kv"), Code::kInvalidFile,
                              "is %d, which does not divide attention.head_count = %d",
                              config.num_kv_heads, config.num_heads);
  }
  const bool has_key_length = header.find(keys.key("attention.key_length")) != nullptr;
  if (!has_key_length && config.hidden_size % config.num_heads != 0) {
    return header.value_error(keys.key("attention.head_count"), Code::kInvalidFile,
                              "is %d, which does not divide embedding_length = %d (and there is no "
                              "attention.key_length)",
                              config.num_heads, config.hidden_size);
  }
  IFR_TRY(keys.integer("attention.key_length", 2, kMaxHeadDim, config.head_dim,
                       config.hidden_size / config.num_heads));
  int32_t value_len = 0;
  IFR_TRY(keys.integer("attention.value_length", 1, kMaxHeadDim, value_len, config.head_dim));
  if (value_len != config.head_dim) {
    return header.value_error(keys.key("attention.value_length"), Code::kUnsupported,
                              "is %d, but keys have %d channels: heads of two sizes are not "
                              "supported",
                              value_len, config.head_dim);
  }
  return {};
}

Status read_rope(const GgufHeader& header, const ArchKeys& keys, LlamaConfig& config) {
  IFR_TRY(keys.integer("rope.dimension_count", 2, kMaxHeadDim, config.rotary_dim, config.head_dim));
  if (config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_dim) {
    return header.value_error(keys.key("rope.dimension_count"), Code::kInvalidFile,
                              "is %d; it must be even and at most the head's %d channels",
                              config.rotary_dim, config.head_dim);
  }
  IFR_TRY(keys.positive_real("rope.freq_base", 1e15, config.rope_theta, 10000.0));
  const std::string type_key = keys.key("rope.scaling.type");
  IFR_ASSIGN_OR_RETURN(const std::optional<std::string> type, header.text(type_key, kMaxNameBytes));
  if (type && *type != "none") {
    return header.value_error(type_key, Code::kUnsupported, "is '%s'; only 'none' is supported",
                              printable(*type).c_str());
  }
  for (const char* suffix : {"rope.scaling.factor", "rope.scale_linear"}) {
    IFR_ASSIGN_OR_RETURN(const std::optional<double> factor, header.real(keys.key(suffix)));
    if (factor && *factor != 1.0 && !type) {
      return header.value_error(keys.key(suffix), Code::kUnsupported,
                                "is %g; scaled rotary positions are not supported", *factor);
    }
  }
  return {};
}

// Experts are not supported; numbers that make no sense are called wrong before that.
Status refuse_experts(const GgufHeader& header, const ArchKeys& keys) {
  int32_t num_experts = 0;
  IFR_TRY(keys.integer("expert_count", 0, kMaxExperts, num_experts, 0));
  if (header.find(keys.key("expert_used_count")) != nullptr) {
    int32_t num_used = 0;
    IFR_TRY(keys.integer("expert_used_count", 0, kMaxExperts, num_used));
    const bool is_zero_wrong = num_used == 0 && num_experts > 0;
    if (is_zero_wrong || num_used > num_experts) {
      return header.value_error(keys.key("expert_used_count"), Code::kInvalidFile,
                                "is %d of expert_count = %d", num_used, num_experts);
    }
  }
  if (num_experts > 0) {
    return header.value_error(keys.key("expert_count"), Code::kUnsupported,
                              "is %d; llama models with experts are not supported", num_experts);
  }
  return {};
}

// Features that change the numbers and that the engine does not compute.
Status refuse_features(const GgufHeader& header, const ArchKeys& keys) {
  IFR_TRY(refuse_experts(header, keys));
  for (const char* suffix :
       {"attention.q_lora_rank", "attention.kv_lora_rank", "attention.sliding_window",
        "attention.key_length_mla", "attention.value_length_mla", "attention.chunk_size"}) {
    IFR_ASSIGN_OR_RETURN(const std::optional<int64_t> value, header.integer(keys.key(suffix)));
    if (value && *value != 0) {
      return header.value_error(keys.key(suffix), Code::kUnsupported,
                                "is %lld; this feature is not supported",
                                static_cast<long long>(*value));
    }
  }
  struct NeutralReal {
    const char* suffix;
    double neutral;
  };
  for (const NeutralReal& feature :
       {NeutralReal{"attention.clamp_kqv", 0.0}, NeutralReal{"attention.max_alibi_bias", 0.0},
        NeutralReal{"attention.scale", 0.0}, NeutralReal{"logit_scale", 1.0},
        NeutralReal{"embedding_scale", 1.0}, NeutralReal{"residual_scale", 1.0},
        NeutralReal{"attn_logit_softcapping", 0.0}, NeutralReal{"final_logit_softcapping", 0.0}}) {
    IFR_ASSIGN_OR_RETURN(const std::optional<double> value, header.real(keys.key(feature.suffix)));
    if (value && *value != feature.neutral) {
      return header.value_error(keys.key(feature.suffix), Code::kUnsupported,
                                "is %g; this feature is not supported", *value);
    }
  }
  IFR_ASSIGN_OR_RETURN(const std::optional<int64_t> num_parts, header.integer("split.count"));
  if (num_parts && *num_parts > 1) {
    return header.value_error("split.count", Code::kUnsupported,
                              "is %lld; models in several GGUF files are not read: merge them",
                              static_cast<long long>(*num_parts));
  }
  return {};
}

// Rows of the embedding: the vocabulary and, in real files, padding after it.
Status read_vocab_size(const GgufHeader& header, const ArchKeys& keys, LlamaConfig& config) {
  const TensorInfo* embedding = header.find_tensor("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2) {
    return make_error(Code::kInvalidFile, Part::kModel,
                      "'%s': tensor 'token_embd.weight' is %s: the model cannot be read without it",
                      header.source().name().c_str(),
                      embedding == nullptr ? "missing" : "not a matrix");
  }
  const int64_t num_rows = embedding->shape[0];
  if (num_rows > kMaxVocab) {
    return make_error(Code::kInvalidFile, Part::kModel,
                      "'%s': tensor 'token_embd.weight' has %lld rows; at most %d are valid",
                      header.source().name().c_str(), static_cast<long long>(num_rows), kMaxVocab);
  }
  config.vocab_size = static_cast<int32_t>(num_rows);
  const GgufValue* tokens = header.find("tokenizer.ggml.tokens");
  const uint64_t num_tokens =
      tokens != nullptr && tokens->type == GgufType::kArray ? tokens->count : 0;
  if (num_tokens > static_cast<uint64_t>(num_rows)) {
    return header.value_error("tokenizer.ggml.tokens", Code::kInvalidFile,
                              "has %llu entries, but tensor 'token_embd.weight' only %lld rows",
                              static_cast<unsigned long long>(num_tokens),
                              static_cast<long long>(num_rows));
  }
  int32_t stated = 0;
  IFR_TRY(keys.integer("vocab_size", 1, kMaxVocab, stated, config.vocab_size));
  if (stated > config.vocab_size || static_cast<uint64_t>(stated) < num_tokens) {
    return header.value_error(keys.key("vocab_size"), Code::kInvalidFile,
                              "is %d, but there are %llu tokens and %d rows in token_embd.weight",
                              stated, static_cast<unsigned long long>(num_tokens),
                              config.vocab_size);
  }
  return {};
}

}  // namespace

Expected<ModelConfig> read_gguf_config(const GgufHeader& header) {
  IFR_ASSIGN_OR_RETURN(const std::optional<std::string> arch,
                       header.text("general.architecture", kMaxNameBytes));
  if (!arch) {
    return header.value_error("general.architecture", Code::kInvalidFile,
                              "is missing: what kind of model this is cannot be told");
  }
  if (*arch != "llama") {
    return header.value_error("general.architecture", Code::kUnsupported,
                              "is '%s'; GGUF files of 'llama' are supported",
                              printable(*arch).c_str());
  }
  const ArchKeys keys(header, "llama.");
  LlamaConfig config;
  IFR_TRY(read_sizes(keys, config));
  IFR_TRY(read_heads(header, keys, config));
  IFR_TRY(read_rope(header, keys, config));
  IFR_TRY(refuse_features(header, keys));
  IFR_TRY(read_vocab_size(header, keys, config));
  config.tie_word_embeddings = header.find_tensor("output.weight") == nullptr;

  ModelConfig model;
  model.arch = config;
  const GgufValue* name = header.find("general.name");
  if (name != nullptr && name->type == GgufType::kString && name->count <= kMaxNameBytes) {
    IFR_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         header.text("general.name", kMaxNameBytes));
    model.name = is_valid_utf8(*text) ? *text : printable(*text, kMaxNameBytes);
  }
  return model;
}

}  // namespace ifr
