// SPDX-License-Identifier: Apache-2.0
#include "engine/qwen4_exp.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/blocks/delta_net.h"
#include "engine/blocks/hyper_connection.h"
#include "engine/blocks/linear.h"
#include "engine/blocks/moe.h"
#include "engine/blocks/ple.h"
#include "engine/blocks/sparse_attention.h"
#include "engine/decoder.h"
#include "engine/qwen4_exp_state.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/block_selection.h"
#include "interframe_kernels/embedding.h"
#include "interframe_kernels/rotary.h"

namespace ifr {

namespace {

struct Layer {
  LayerKind kind = LayerKind::kLinearAttention;
  int32_t kind_idx = 0;  // among the layers of its kind
  int32_t ple_idx = -1;  // among the PLE layers
  HyperConnectionWeights attention_mix;
  HyperConnectionWeights mlp_mix;
  DeltaNetWeights delta_net;
  SparseAttentionWeights sparse;
  MoeWeights moe;
};

class Qwen4Exp final : public Decoder {
 public:
  Qwen4Exp(const ModelFile& file, MemoryBudget& budget)
      : Decoder(file, budget), config_(*file.config().qwen4_exp()) {}

 protected:
  [[nodiscard]] Status plan_weights(WeightPlan& plan) override;
  void finish_weights() override;
  [[nodiscard]] KvShape kv_shape() const override {
    return {.num_layers = static_cast<int32_t>(num_sparse_),
            .num_kv_heads = config_.num_kv_heads,
            .head_dim = config_.head_dim};
  }
  [[nodiscard]] std::unique_ptr<DecoderSequence> make_sequence() const override;
  [[nodiscard]] std::unique_ptr<DecoderWorkspace> make_workspace() const override {
    return std::make_unique<Qwen4ExpWorkspace>(ple_.size());
  }
  void lay_out_recurrent(DecoderSequence& sequence, ScratchLayout& layout) const override;
  void lay_out_appended(DecoderSequence& sequence, int32_t context_tokens,
                        ScratchLayout& layout) const override;
  [[nodiscard]] std::vector<std::span<std::byte>> appended_rows(const DecoderSequence& sequence,
                                                                int32_t num_tokens) const override;
  void lay_out_workspace(DecoderWorkspace& workspace, int64_t max_tokens,
                         ScratchLayout& layout) const override;
  [[nodiscard]] Status check_context(int32_t context_tokens) const override;
  [[nodiscard]] bool can_fail_between_cuts() const override { return !ple_.empty(); }
  [[nodiscard]] Status prepare(const DecoderSequence& sequence, DecoderWorkspace& workspace,
                               const StepContext& context, const Cut& cut) const override;
  [[nodiscard]] Status run(DecoderSequence& sequence, DecoderWorkspace& workspace,
                           const StepContext& context, const Cut& cut) const override;

 private:
  void make_shapes();
  void make_layers();
  [[nodiscard]] Status check_limits() const;
  [[nodiscard]] Status plan_layers(WeightPlan& plan);
  [[nodiscard]] Status run_layer(const StepContext& context, const Layer& layer,
                                 Qwen4ExpSequence& sequence,
                                 const Qwen4ExpWorkspace& scratch) const;
  [[nodiscard]] Status run_token_mixer(const StepContext& context, const Layer& layer,
                                       const Qwen4ExpSequence& sequence,
                                       const Qwen4ExpWorkspace& scratch) const;
  [[nodiscard]] Status run_head(const StepContext& context, const Qwen4ExpWorkspace& scratch,
                                const Cut& cut) const;

  const Qwen4ExpConfig& config_;
  HyperConnectionShape mix_shape_;
  DeltaNetShape delta_net_shape_;
  SparseAttentionShape sparse_shape_;
  MoeShape moe_shape_;
  PleShape ple_shape_;
  std::vector<float> inverse_frequency_;
  std::vector<Layer> layers_;
  std::vector<PleWeights> ple_;
  size_t num_delta_net_ = 0;
  size_t num_sparse_ = 0;
  kernels::WeightMatrix embedding_;
  kernels::WeightMatrix head_;
  HyperConnectionWeights last_mix_;
};

void Qwen4Exp::make_shapes() {
  const Qwen4ExpConfig& c = config_;
  mix_shape_ = {.num_streams = c.hc_count,
                .hidden = c.hidden_size,
                .rank = c.hc_lowrank,
                .eps = c.rms_norm_eps};
  delta_net_shape_ = {.num_key_heads = c.linear_num_key_heads,
                      .num_value_heads = c.linear_num_value_heads,
                      .key_dim = c.linear_key_head_dim,
                      .value_dim = c.linear_value_head_dim,
                      .conv_taps = c.linear_conv_kernel,
                      .eps = c.rms_norm_eps,
                      .gate = c.output_gate == GateActivation::kSilu
                                  ? kernels::GateActivation::kSilu
                                  : kernels::GateActivation::kSigmoid};
  moe_shape_ = {.hidden = c.hidden_size,
                .num_experts = c.num_experts,
                .num_selected = c.num_experts_per_token,
                .expert_intermediate = c.expert_intermediate_size,
                .shared_intermediate = c.shared_intermediate_size,
                .router_weights = c.normalize_expert_weights ? kernels::RouterWeights::kRenormalised
                                                             : kernels::RouterWeights::kSoftmax};
  if (!c.ple.layers.empty()) {
    ple_shape_ = {.num_streams = c.hc_count,
                  .hidden = c.hidden_size,
                  .embed_dim = c.ple.embed_dim,
                  .ngram_size = c.ple.ngram_size,
                  .heads_per_ngram = c.ple.heads_per_ngram,
                  .conv_taps = c.ple.conv_kernel,
                  .eos_token = c.eos_token_ids.front(),
                  .eps = c.rms_norm_eps};
  }
  if (num_sparse_ == 0) {
    return;
  }
  inverse_frequency_.resize(static_cast<size_t>(c.rotary_dim / 2));
  kernels::rotary_inverse_frequencies(c.rope_theta, c.rotary_dim, inverse_frequency_.data());
  sparse_shape_ = {
      .num_heads = c.num_heads,
      .num_kv_heads = c.num_kv_heads,
      .head_dim = c.head_dim,
      .rotary_dim = c.rotary_dim,
      .indexer_num_heads = c.indexer_num_heads,
      .indexer_head_dim = c.indexer_head_dim,
      .ratio = c.indexer_compress_ratio,
      .max_blocks = c.indexer_budget / c.indexer_compress_ratio,
      .max_score_blocks = std::min<int64_t>(c.context_length / c.indexer_compress_ratio,
                                            kernels::kBlockSelectionMaxRowLen),
      .eps = c.rms_norm_eps,
      .inverse_frequency = inverse_frequency_.data()};
}

void Qwen4Exp::make_layers() {
  layers_.resize(static_cast<size_t>(config_.num_layers));
  ple_.resize(config_.ple.layers.size());
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    layer.kind = config_.layer_kinds[i];
    layer.ple_idx = config_.ple_index_of_layer(static_cast<int32_t>(i));
    size_t& count = layer.kind == LayerKind::kLinearAttention ? num_delta_net_ : num_sparse_;
    layer.kind_idx = static_cast<int32_t>(count++);
    if (layer.kind == LayerKind::kSparseAttention) {
      info_.selecting_layers.push_back(static_cast<int32_t>(i));
    }
  }
}

Status Qwen4Exp::plan_weights(WeightPlan& plan) {
  make_layers();
  make_shapes();
  info_.selection_block_tokens = sparse_shape_.ratio;
  info_.selection_max_blocks = sparse_shape_.max_blocks;
  IFR_TRY(check_limits());
  plan.matrix(file_->tensor_prefix() + "embed_tokens.weight", &embedding_);
  if (!config_.tie_word_embeddings) {
    plan.matrix("lm_head.weight", &head_);
  }
  last_mix_.plan(plan, file_->tensor_prefix() + "hyper_connection_mixer.", HasInject::kNo);
  return plan_layers(plan);
}

Status Qwen4Exp::plan_layers(WeightPlan& plan) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const std::string prefix = file_->tensor_prefix() + "layers." + std::to_string(i) + ".";
    layer.attention_mix.plan(plan, prefix + "attn_hyper_connection.", HasInject::kYes);
    layer.mlp_mix.plan(plan, prefix + "mlp_hyper_connection.", HasInject::kYes);
    if (layer.kind == LayerKind::kLinearAttention) {
      layer.delta_net.plan(plan, prefix + "linear_attn.");
    } else {
      layer.sparse.plan(plan, prefix + "self_attn.");
    }
    layer.moe.plan(plan, prefix + "mlp.", moe_shape_);
    if (layer.ple_idx >= 0) {
      IFR_TRY(ple_[static_cast<size_t>(layer.ple_idx)].plan(
          plan, *file_, prefix + "ple.", ple_shape_,
          make_ngram_constants(config_.ple, config_.vocab_size, layer.ple_idx)));
    }
  }
  return {};
}

Status Qwen4Exp::check_limits() const {
  if (sparse_shape_.max_blocks > kernels::kBlockSelectionMaxK) {
    return make_error(Code::kUnsupported, Part::kEngine,
                      "'%s': indexer_budget / indexer_compress_ratio is %d blocks; at most %d can "
                      "be selected",
                      file_->path().c_str(), sparse_shape_.max_blocks,
                      kernels::kBlockSelectionMaxK);
  }
  if (moe_shape_.num_experts > kernels::kMoeMaxExperts) {
    return make_error(Code::kUnsupported, Part::kEngine,
                      "'%s': num_experts is %d; at most %lld are supported", file_->path().c_str(),
                      moe_shape_.num_experts, static_cast<long long>(kernels::kMoeMaxExperts));
  }
  return {};
}

void Qwen4Exp::finish_weights() {
  if (config_.tie_word_embeddings) {
    head_ = embedding_;
  }
}

std::unique_ptr<DecoderSequence> Qwen4Exp::make_sequence() const {
  return std::make_unique<Qwen4ExpSequence>(num_delta_net_, num_sparse_, ple_.size(),
                                            ple_shape_.eos_token);
}

void Qwen4Exp::lay_out_recurrent(DecoderSequence& sequence, ScratchLayout& layout) const {
  auto& state = static_cast<Qwen4ExpSequence&>(sequence);
  for (DeltaNetState& layer : state.delta_net) {
    layer.lay_out(delta_net_shape_, layout);
  }
  for (SparseAttentionState& layer : state.sparse) {
    layer.lay_out_recurrent(sparse_shape_, layout);
  }
  for (PleState& layer : state.ple) {
    layer.lay_out(ple_shape_, layout);
  }
  state.window_len = ple_.empty() ? 0 : ple_shape_.ngram_size - 1;
  layout.add(state.window, state.window_len);
}

void Qwen4Exp::lay_out_appended(DecoderSequence& sequence, int32_t context_tokens,
                                ScratchLayout& layout) const {
  for (SparseAttentionState& layer : static_cast<Qwen4ExpSequence&>(sequence).sparse) {
    layer.lay_out_appended(sparse_shape_, context_tokens, layout);
  }
}

std::vector<std::span<std::byte>> Qwen4Exp::appended_rows(const DecoderSequence& sequence,
                                                          int32_t num_tokens) const {
  std::vector<std::span<std::byte>> rows;
  for (const SparseAttentionState& layer : static_cast<const Qwen4ExpSequence&>(sequence).sparse) {
    const auto len = static_cast<size_t>(sparse_shape_.num_complete_blocks(num_tokens) *
                                         sparse_shape_.indexer_head_dim);
    rows.push_back(std::as_writable_bytes(std::span(layer.block_keys, len)));
  }
  return rows;
}

void Qwen4Exp::lay_out_workspace(DecoderWorkspace& workspace, int64_t max_tokens,
                                 ScratchLayout& layout) const {
  auto& scratch = static_cast<Qwen4ExpWorkspace&>(workspace);
  layout.add(scratch.streams, max_tokens * config_.hc_count * config_.hidden_size);
  layout.add(scratch.mixed, max_tokens * config_.hidden_size);
  layout.add(scratch.inject, max_tokens * config_.hc_count);
  layout.add(scratch.block_out, max_tokens * config_.hidden_size);
  for (PleGathered& gathered : scratch.gathered) {
    gathered.lay_out(ple_shape_, max_tokens, layout);
  }
  // From here on one block at a time.
  const uint64_t mark = layout.mark();
  scratch.mix.lay_out(mix_shape_, max_tokens, layout);
  layout.rewind(mark);
  scratch.moe.lay_out(moe_shape_, max_tokens, layout);
  if (num_delta_net_ > 0) {
    layout.rewind(mark);
    scratch.delta_net.lay_out(delta_net_shape_, max_tokens, layout);
  }
  if (num_sparse_ > 0) {
    layout.rewind(mark);
    scratch.sparse.lay_out(sparse_shape_, max_tokens, layout);
  }
  if (!ple_.empty()) {
    layout.rewind(mark);
    scratch.gather.lay_out(ple_shape_, max_tokens, layout);
    layout.rewind(mark);
    scratch.ple.lay_out(ple_shape_, max_tokens, layout);
  }
}

Status Qwen4Exp::check_context(int32_t context_tokens) const {
  if (num_sparse_ > 0 &&
      sparse_shape_.num_complete_blocks(context_tokens) > kernels::kBlockSelectionMaxRowLen) {
    return make_error(Code::kUnsupported, Part::kEngine,
                      "a context of %d tokens has more blocks of %d tokens than the %lld that can "
                      "be scored. Ask for a shorter context",
                      context_tokens, sparse_shape_.ratio,
                      static_cast<long long>(kernels::kBlockSelectionMaxRowLen));
  }
  return {};
}

Status Qwen4Exp::prepare(const DecoderSequence& sequence, DecoderWorkspace& workspace,
                         const StepContext& context, const Cut& cut) const {
  const auto& state = static_cast<const Qwen4ExpSequence&>(sequence);
  const auto& scratch = static_cast<const Qwen4ExpWorkspace&>(workspace);
  StepContext layer_context = context;
  for (size_t i = 0; i < ple_.size(); ++i) {
    layer_context.layer = config_.ple.layers[i];
    IFR_TRY(gather_ple(layer_context, ple_shape_, ple_[i], cut.token_ids, state.window,
                       scratch.gathered[i], scratch.gather));
  }
  return {};
}

Status Qwen4Exp::run_token_mixer(const StepContext& context, const Layer& layer,
                                 const Qwen4ExpSequence& sequence,
                                 const Qwen4ExpWorkspace& scratch) const {
  const size_t idx = static_cast<size_t>(layer.kind_idx);
  if (layer.kind == LayerKind::kLinearAttention) {
    return run_delta_net(context, delta_net_shape_, layer.delta_net, sequence.delta_net[idx],
                         scratch.mixed, scratch.block_out, scratch.delta_net);
  }
  return run_sparse_attention(context, sparse_shape_, layer.sparse,
                              kv_cache(sequence, layer.kind_idx), sequence.sparse[idx],
                              scratch.mixed, scratch.block_out, scratch.sparse);
}

Status Qwen4Exp::run_layer(const StepContext& context, const Layer& layer,
                           Qwen4ExpSequence& sequence, const Qwen4ExpWorkspace& scratch) const {
  if (layer.ple_idx >= 0) {
    const size_t idx = static_cast<size_t>(layer.ple_idx);
    IFR_TRY(run_ple(context, ple_shape_, ple_[idx], sequence.ple[idx], scratch.gathered[idx],
                    scratch.streams, scratch.ple));
  }
  IFR_TRY(mix_streams(context, mix_shape_, layer.attention_mix, scratch.streams, scratch.mixed,
                      scratch.inject, scratch.mix));
  IFR_TRY(run_token_mixer(context, layer, sequence, scratch));
  IFR_TRY(
      inject_into_streams(context, mix_shape_, scratch.inject, scratch.block_out, scratch.streams));
  IFR_TRY(mix_streams(context, mix_shape_, layer.mlp_mix, scratch.streams, scratch.mixed,
                      scratch.inject, scratch.mix));
  IFR_TRY(run_moe(context, moe_shape_, layer.moe, scratch.mixed, scratch.block_out, scratch.moe));
  return inject_into_streams(context, mix_shape_, scratch.inject, scratch.block_out,
                             scratch.streams);
}

Status Qwen4Exp::run_head(const StepContext& context, const Qwen4ExpWorkspace& scratch,
                          const Cut& cut) const {
  if (cut.num_logit_rows == 0) {
    return {};
  }
  StepContext head = context;
  head.layer = -1;
  head.num_tokens = cut.num_logit_rows;
  const int64_t first_row = context.num_tokens - cut.num_logit_rows;
  const float* streams =
      scratch.streams + first_row * int64_t{config_.hc_count} * config_.hidden_size;
  IFR_TRY(mix_streams(head, mix_shape_, last_mix_, streams, scratch.mixed, nullptr, scratch.mix));
  return run_linear(head, head_, scratch.mixed, cut.logits, OperatorId::kLmHead);
}

Status Qwen4Exp::run(DecoderSequence& sequence, DecoderWorkspace& workspace,
                     const StepContext& context, const Cut& cut) const {
  auto& state = static_cast<Qwen4ExpSequence&>(sequence);
  const auto& scratch = static_cast<const Qwen4ExpWorkspace&>(workspace);
  const kernels::EmbeddingParams embedding = {.ids = cut.token_ids.data(),
                                              .table = embedding_,
                                              .y = scratch.streams,
                                              .num_tokens = context.num_tokens,
                                              .num_copies = config_.hc_count};
  IFR_TRY(run_operator(context, OperatorId::kEmbedding, kernels::embedding_reference, embedding,
                       kernels::embedding_cost(embedding)));
  StepContext layer_context = context;
  for (size_t i = 0; i < layers_.size(); ++i) {
    layer_context.layer = static_cast<int32_t>(i);
    IFR_TRY(run_layer(layer_context, layers_[i], state, scratch));
  }
  if (!ple_.empty()) {
    std::copy_n(scratch.gathered.front().window, state.window_len, state.window);
  }
  return run_head(context, scratch, cut);
}

}  // namespace

std::unique_ptr<Decoder> make_qwen4_exp(const ModelFile& file, MemoryBudget& budget) {
  return std::make_unique<Qwen4Exp>(file, budget);
}

}  // namespace ifr
