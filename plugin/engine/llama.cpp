// SPDX-License-Identifier: Apache-2.0
#include "engine/llama.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/blocks/attention.h"
#include "engine/blocks/block_sparse.h"
#include "engine/blocks/linear.h"
#include "engine/blocks/mlp.h"
#include "engine/decoder.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/elementwise.h"
#include "interframe_kernels/embedding.h"
#include "interframe_kernels/rms_norm.h"

namespace ifr {

namespace {

struct Layer {
  const float* attention_norm = nullptr;
  const float* mlp_norm = nullptr;
  AttentionWeights attention;
  MlpWeights mlp;
};

class LlamaSequence final : public DecoderSequence {
 public:
  explicit LlamaSequence(int32_t num_layers) : sparse(static_cast<size_t>(num_layers)) {}

  std::vector<BlockSparseState> sparse;  // one a layer
};

class LlamaWorkspace final : public DecoderWorkspace {
 public:
  float* residual = nullptr;   // [T, H]
  float* normed = nullptr;     // [T, H]
  float* block_out = nullptr;  // [T, H]
  AttentionScratch attention;
  BlockSparseScratch sparse;
  MlpScratch mlp;
};

class Llama final : public Decoder {
 public:
  Llama(const ModelFile& file, MemoryBudget& budget)
      : Decoder(file, budget), config_(*file.config().llama()) {}

 protected:
  [[nodiscard]] Status plan_weights(WeightPlan& plan) override;
  void finish_weights() override;
  [[nodiscard]] KvShape kv_shape() const override {
    return {.num_layers = config_.num_layers,
            .num_kv_heads = config_.num_kv_heads,
            .head_dim = config_.head_dim};
  }
  [[nodiscard]] std::unique_ptr<DecoderSequence> make_sequence() const override {
    return std::make_unique<LlamaSequence>(config_.num_layers);
  }
  [[nodiscard]] std::unique_ptr<DecoderWorkspace> make_workspace() const override {
    return std::make_unique<LlamaWorkspace>();
  }
  void lay_out_recurrent(DecoderSequence& /*sequence*/, ScratchLayout& /*layout*/) const override {}
  void lay_out_appended(DecoderSequence& sequence, int32_t context_tokens,
                        ScratchLayout& layout) const override;
  [[nodiscard]] std::vector<std::span<std::byte>> appended_rows(const DecoderSequence& sequence,
                                                                int32_t num_tokens) const override;
  void lay_out_workspace(DecoderWorkspace& workspace, int64_t max_tokens,
                         ScratchLayout& layout) const override;
  [[nodiscard]] Status check_context(int32_t context_tokens) const override {
    return check_sparse_context(sparse_shape_, context_tokens);
  }
  [[nodiscard]] Status run(DecoderSequence& sequence, DecoderWorkspace& workspace,
                           const StepContext& context, const Cut& cut) const override;

 private:
  void make_shapes();
  [[nodiscard]] Status norm(const StepContext& context, const float* x, const float* weight,
                            float* y) const;
  [[nodiscard]] Status add(const StepContext& context, const float* y, float* x) const;
  [[nodiscard]] Status run_layer(const StepContext& context, const Layer& layer,
                                 const kernels::PagedKvCache& cache, const BlockSparseState& sparse,
                                 const LlamaWorkspace& scratch) const;
  [[nodiscard]] Status run_head(const StepContext& context, const LlamaWorkspace& scratch,
                                const Cut& cut) const;

  const LlamaConfig& config_;
  AttentionShape attention_shape_;
  BlockSparseShape sparse_shape_;
  std::vector<float> inverse_frequency_;
  std::vector<Layer> layers_;
  kernels::WeightMatrix embedding_;
  kernels::WeightMatrix head_;
  const float* output_norm_ = nullptr;
};

void Llama::make_shapes() {
  inverse_frequency_.resize(static_cast<size_t>(config_.rotary_dim / 2));
  kernels::rotary_inverse_frequencies(config_.rope_theta, config_.rotary_dim,
                                      inverse_frequency_.data());
  // GGUF stores q and k rows so that rotating pairs stand side by side.
  attention_shape_ = {.num_heads = config_.num_heads,
                      .num_kv_heads = config_.num_kv_heads,
                      .head_dim = config_.head_dim,
                      .rotary_dim = config_.rotary_dim,
                      .pairing = kernels::RotaryPairing::kAdjacent,
                      .inverse_frequency = inverse_frequency_.data()};
  sparse_shape_ = BlockSparseShape::make(info_.options.sparse_budget_tokens, config_.context_length,
                                         attention_shape_);
  if (sparse_shape_.is_sparse()) {
    info_.selecting_layers.resize(static_cast<size_t>(config_.num_layers));
    std::iota(info_.selecting_layers.begin(), info_.selecting_layers.end(), 0);
    info_.selection_block_tokens = kSparseBlockTokens;
    info_.selection_max_blocks = sparse_shape_.max_union_blocks();
  }
}

Status Llama::plan_weights(WeightPlan& plan) {
  make_shapes();
  plan.matrix("token_embd.weight", &embedding_);
  plan.vector("output_norm.weight", &output_norm_);
  if (!config_.tie_word_embeddings) {
    plan.matrix("output.weight", &head_);
  }
  layers_.resize(static_cast<size_t>(config_.num_layers));
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const std::string prefix = "blk." + std::to_string(i) + ".";
    plan.vector(prefix + "attn_norm.weight", &layer.attention_norm);
    plan.vector(prefix + "ffn_norm.weight", &layer.mlp_norm);
    plan.matrix(prefix + "attn_q.weight", &layer.attention.q);
    plan.matrix(prefix + "attn_k.weight", &layer.attention.k);
    plan.matrix(prefix + "attn_v.weight", &layer.attention.v);
    plan.matrix(prefix + "attn_output.weight", &layer.attention.out);
    plan.matrix(prefix + "ffn_gate.weight", &layer.mlp.gate);
    plan.matrix(prefix + "ffn_up.weight", &layer.mlp.up);
    plan.matrix(prefix + "ffn_down.weight", &layer.mlp.down);
  }
  return {};
}

void Llama::finish_weights() {
  if (config_.tie_word_embeddings) {
    head_ = embedding_;
  }
}

void Llama::lay_out_appended(DecoderSequence& sequence, int32_t context_tokens,
                             ScratchLayout& layout) const {
  for (BlockSparseState& state : static_cast<LlamaSequence&>(sequence).sparse) {
    state.lay_out_appended(sparse_shape_, context_tokens, layout);
  }
}

std::vector<std::span<std::byte>> Llama::appended_rows(const DecoderSequence& sequence,
                                                       int32_t num_tokens) const {
  std::vector<std::span<std::byte>> rows;
  for (const BlockSparseState& state : static_cast<const LlamaSequence&>(sequence).sparse) {
    rows.push_back(state.rows(sparse_shape_, num_tokens));
  }
  return rows;
}

void Llama::lay_out_workspace(DecoderWorkspace& workspace, int64_t max_tokens,
                              ScratchLayout& layout) const {
  auto& scratch = static_cast<LlamaWorkspace&>(workspace);
  layout.add(scratch.residual, max_tokens * config_.hidden_size);
  layout.add(scratch.normed, max_tokens * config_.hidden_size);
  layout.add(scratch.block_out, max_tokens * config_.hidden_size);
  const uint64_t mark = layout.mark();
  scratch.attention.lay_out(attention_shape_, max_tokens, layout);
  scratch.sparse.lay_out(sparse_shape_, max_tokens, layout);
  layout.rewind(mark);
  scratch.mlp.lay_out(config_.intermediate_size, max_tokens, layout);
}

Status Llama::norm(const StepContext& context, const float* x, const float* weight,
                   float* y) const {
  kernels::RmsNormParams params =
      kernels::rms_norm_contiguous(x, weight, y, context.num_tokens, 1, config_.hidden_size);
  params.eps = config_.rms_norm_eps;
  return run_operator(context, OperatorId::kRmsNorm, kernels::rms_norm_reference, params,
                      kernels::rms_norm_cost(params));
}

Status Llama::add(const StepContext& context, const float* y, float* x) const {
  const kernels::ResidualAddParams params = {
      .x = x, .y = y, .num_elements = context.num_tokens * config_.hidden_size};
  return run_operator(context, OperatorId::kElementwise, kernels::residual_add_reference, params,
                      kernels::residual_add_cost(params));
}

Status Llama::run_layer(const StepContext& context, const Layer& layer,
                        const kernels::PagedKvCache& cache, const BlockSparseState& sparse,
                        const LlamaWorkspace& scratch) const {
  IFR_TRY(norm(context, scratch.residual, layer.attention_norm, scratch.normed));
  const BlockSparse narrowed = {.shape = sparse_shape_, .state = sparse, .scratch = scratch.sparse};
  IFR_TRY(run_attention(context, attention_shape_, layer.attention, cache, scratch.normed,
                        scratch.block_out, scratch.attention,
                        sparse_shape_.is_sparse() ? &narrowed : nullptr));
  IFR_TRY(add(context, scratch.block_out, scratch.residual));
  IFR_TRY(norm(context, scratch.residual, layer.mlp_norm, scratch.normed));
  IFR_TRY(run_mlp(context, layer.mlp, scratch.normed, scratch.block_out, scratch.mlp));
  return add(context, scratch.block_out, scratch.residual);
}

Status Llama::run_head(const StepContext& context, const LlamaWorkspace& scratch,
                       const Cut& cut) const {
  if (cut.num_logit_rows == 0) {
    return {};
  }
  StepContext head = context;
  head.layer = -1;
  head.num_tokens = cut.num_logit_rows;
  const int64_t first_row = context.num_tokens - cut.num_logit_rows;
  IFR_TRY(
      norm(head, scratch.residual + first_row * config_.hidden_size, output_norm_, scratch.normed));
  return run_linear(head, head_, scratch.normed, cut.logits, OperatorId::kLmHead);
}

Status Llama::run(DecoderSequence& sequence, DecoderWorkspace& workspace,
                  const StepContext& context, const Cut& cut) const {
  const auto& scratch = static_cast<const LlamaWorkspace&>(workspace);
  const kernels::EmbeddingParams embedding = {.ids = cut.token_ids.data(),
                                              .table = embedding_,
                                              .y = scratch.residual,
                                              .num_tokens = context.num_tokens};
  IFR_TRY(run_operator(context, OperatorId::kEmbedding, kernels::embedding_reference, embedding,
                       kernels::embedding_cost(embedding)));
  const auto& own = static_cast<const LlamaSequence&>(sequence);
  StepContext layer_context = context;
  for (int32_t i = 0; i < config_.num_layers; ++i) {
    layer_context.layer = i;
    const auto at = static_cast<size_t>(i);
    IFR_TRY(run_layer(layer_context, layers_[at], kv_cache(sequence, i), own.sparse[at], scratch));
  }
  return run_head(context, scratch, cut);
}

}  // namespace

std::unique_ptr<Decoder> make_llama(const ModelFile& file, MemoryBudget& budget) {
  return std::make_unique<Llama>(file, budget);
}

}  // namespace ifr
