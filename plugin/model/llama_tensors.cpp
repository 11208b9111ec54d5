// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "model/tensor_check.h"
#include "model/text_check.h"

namespace ifr {

namespace {

// Tensors that change the numbers when they are there; leaving them out would be silently wrong.
Status refuse_unknown_parts(const TensorChecker& checker) {
  const ModelFile& model = checker.model();
  for (size_t idx = 0; idx < model.tensors().size(); ++idx) {
    const std::string_view name = model.tensors()[idx].name;
    const bool in_block = name.starts_with("blk.");
    const bool matters = (in_block && name.ends_with(".bias")) ||
                         (in_block && name.find("_norm.") != std::string_view::npos) ||
                         name == "output.bias" || name.starts_with("rope_f");
    if (matters && !checker.is_needed()[idx]) {
      return make_error(Code::kUnsupported, Part::kModel,
                        "'%s': tensor '%s' belongs to a feature that is not supported for llama "
                        "models (biases, norms of heads, scaled rotary frequencies)",
                        printable(model.path(), 200).c_str(), printable(name).c_str());
    }
  }
  return {};
}

}  // namespace

Status check_llama_tensors(const LlamaConfig& config, TensorChecker& checker) {
  const int64_t hidden = config.hidden_size;
  const int64_t query_len = int64_t{config.num_heads} * config.head_dim;
  const int64_t key_len = int64_t{config.num_kv_heads} * config.head_dim;
  const int64_t inner = config.intermediate_size;
  constexpr TensorRole kMatrix = TensorRole::kMatrix;
  constexpr TensorRole kPlain = TensorRole::kPlain;
  IFR_TRY(checker.need("token_embd.weight", {config.vocab_size, hidden}, kMatrix));
  for (int32_t layer = 0; layer < config.num_layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    IFR_TRY(checker.need(block + "attn_norm.weight", {hidden}, kPlain));
    IFR_TRY(checker.need(block + "attn_q.weight", {query_len, hidden}, kMatrix));
    IFR_TRY(checker.need(block + "attn_k.weight", {key_len, hidden}, kMatrix));
    IFR_TRY(checker.need(block + "attn_v.weight", {key_len, hidden}, kMatrix));
    IFR_TRY(checker.need(block + "attn_output.weight", {hidden, query_len}, kMatrix));
    IFR_TRY(checker.need(block + "ffn_norm.weight", {hidden}, kPlain));
    IFR_TRY(checker.need(block + "ffn_gate.weight", {inner, hidden}, kMatrix));
    IFR_TRY(checker.need(block + "ffn_up.weight", {inner, hidden}, kMatrix));
    IFR_TRY(checker.need(block + "ffn_down.weight", {hidden, inner}, kMatrix));
  }
  IFR_TRY(checker.need("output_norm.weight", {hidden}, kPlain));
  if (!config.tie_word_embeddings) {
    IFR_TRY(checker.need("output.weight", {config.vocab_size, hidden}, kMatrix));
  }
  return refuse_unknown_parts(checker);
}

}  // namespace ifr
