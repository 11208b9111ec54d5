// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "engine/engine.h"
#include "model/model_file.h"
#include "tools/command.h"
#include "tools/sparse_option.h"

namespace ifr::tools {

namespace {

using Json = nlohmann::ordered_json;

Json describe_llama(const LlamaConfig& config) {
  return {{"vocab_size", config.vocab_size},
          {"context_tokens", config.context_length},
          {"hidden_size", config.hidden_size},
          {"num_layers", config.num_layers},
          {"num_heads", config.num_heads},
          {"num_kv_heads", config.num_kv_heads},
          {"head_dim", config.head_dim},
          {"rotary_dim", config.rotary_dim},
          {"intermediate_size", config.intermediate_size},
          {"rope_theta", config.rope_theta},
          {"rms_norm_eps", config.rms_norm_eps},
          {"tied_head", config.tie_word_embeddings}};
}

Json describe_qwen4_exp(const Qwen4ExpConfig& config) {
  Json layers = Json::array();
  for (const LayerKind kind : config.layer_kinds) {
    layers.push_back(kind == LayerKind::kLinearAttention ? "gated_delta_net" : "sparse_attention");
  }
  Json json = {{"vocab_size", config.vocab_size},
               {"context_tokens", config.context_length},
               {"hidden_size", config.hidden_size},
               {"num_layers", config.num_layers},
               {"layers", std::move(layers)},
               {"residual_streams", config.hc_count},
               {"num_heads", config.num_heads},
               {"num_kv_heads", config.num_kv_heads},
               {"head_dim", config.head_dim},
               {"rotary_dim", config.rotary_dim},
               {"rope_theta", config.rope_theta},
               {"rms_norm_eps", config.rms_norm_eps},
               {"tied_head", config.tie_word_embeddings}};
  json["indexer"] = {{"num_heads", config.indexer_num_heads},
                     {"head_dim", config.indexer_head_dim},
                     {"budget_tokens", config.indexer_budget},
                     {"block_tokens", config.indexer_compress_ratio}};
  json["delta_net"] = {{"key_heads", config.linear_num_key_heads},
                       {"value_heads", config.linear_num_value_heads},
                       {"key_head_dim", config.linear_key_head_dim},
                       {"value_head_dim", config.linear_value_head_dim},
                       {"conv_taps", config.linear_conv_kernel}};
  json["experts"] = {{"count", config.num_experts},
                     {"per_token", config.num_experts_per_token},
                     {"intermediate_size", config.expert_intermediate_size},
                     {"shared_intermediate_size", config.shared_intermediate_size}};
  json["ngram_embedding_layers"] = config.ple.layers;
  return json;
}

Json describe_tokenizer(const ModelFile& file) {
  if (!file.tokenizer()) {
    return nullptr;
  }
  const TokenizerData& data = *file.tokenizer();
  return {{"model", data.model},
          {"pre", data.pre},
          {"tokens", data.tokens.size()},
          {"merges", data.merges.size()},
          {"chat_template", !data.chat_template.empty()}};
}

Json describe_need(const EngineInfo& info, int32_t context_tokens) {
  const auto context = static_cast<uint64_t>(context_tokens);
  const uint64_t session = info.session_bytes + context * info.context_bytes_per_token;
  return {{"context_tokens", context_tokens},
          {"weight_bytes", info.weight_bytes},
          {"session_bytes", session},
          {"total_bytes", info.weight_bytes + session}};
}

Json describe_tensors(const ModelFile& file) {
  std::map<std::string, uint64_t> bytes_by_type;
  std::map<std::string, uint64_t> count_by_type;
  for (const TensorInfo& tensor : file.tensors()) {
    const std::string type = kernels::data_type_name(tensor.type);
    bytes_by_type[type] += tensor.size_bytes;
    ++count_by_type[type];
  }
  Json json = Json::object();
  for (const auto& [type, count] : count_by_type) {
    json[type] = {{"count", count}, {"bytes", bytes_by_type[type]}};
  }
  return json;
}

}  // namespace

int command_info(const InfoOptions& options) {
  const Expected<std::unique_ptr<ModelFile>> opened = ModelFile::open(options.model);
  if (!opened.is_ok()) {
    std::fprintf(stderr, "interframe: %s\n", opened.status().message().c_str());
    return 1;
  }
  const ModelFile& file = **opened;
  EngineOptions engine_options;
  const Expected<int32_t> sparse = parse_sparse(options.sparse);
  engine_options.sparse_budget_tokens = sparse.is_ok() ? *sparse : 0;
  const Status allowed =
      sparse.is_ok() ? Engine::check_options(file, engine_options) : sparse.status();
  if (!allowed.is_ok()) {
    std::fprintf(stderr, "interframe: %s\n", allowed.message().c_str());
    return 1;
  }
  const ModelConfig& config = file.config();
  const Expected<uint64_t> identity = file.identity();
  if (!identity.is_ok()) {
    std::fprintf(stderr, "interframe: %s\n", identity.status().message().c_str());
    return 1;
  }
  char identity_text[17];
  (void)std::snprintf(identity_text, sizeof identity_text, "%016llx",
                      static_cast<unsigned long long>(*identity));
  Json json;
  json["path"] = file.path();
  json["format"] = file.format() == FileFormat::kGguf ? "gguf" : "safetensors";
  json["architecture"] = config.arch_name();
  json["name"] = config.name;
  json["identity"] = identity_text;
  json["parameters"] = file.num_parameters();
  json["file_bytes"] = file.file_bytes();
  json["tensors"] = describe_tensors(file);
  json["unused_tensors"] = file.num_unused_tensors();
  json["config"] = config.llama() != nullptr ? describe_llama(*config.llama())
                                             : describe_qwen4_exp(*config.qwen4_exp());
  json["tokenizer"] = describe_tokenizer(file);
  const int32_t context_tokens =
      options.context_tokens > 0 ? options.context_tokens : std::min(config.context_length(), 4096);
  json["need"] = describe_need(Engine::describe(file, engine_options), context_tokens);
  json["activations"] = "f32";
  json["sparse_budget_tokens"] = engine_options.sparse_budget_tokens;
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return 0;
}

}  // namespace ifr::tools
