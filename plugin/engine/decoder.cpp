// SPDX-License-Identifier: Apache-2.0
#include "engine/decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/platform.h"

namespace ifr {

uint64_t Decoder::page_bytes() const {
  const KvShape shape = kv_shape();
  return sizeof(float) * 2 * static_cast<uint64_t>(shape.num_layers) *
         static_cast<uint64_t>(shape.num_kv_heads) * static_cast<uint64_t>(kernels::kPageTokens) *
         static_cast<uint64_t>(shape.head_dim);
}

void Decoder::fill_info(uint64_t weight_bytes) {
  const ModelConfig& config = file_->config();
  info_.architecture = config.arch_name();
  info_.num_layers = config.num_layers();
  info_.vocab_size = config.vocab_size();
  info_.context_tokens = config.context_length();
  info_.num_parameters = static_cast<uint64_t>(file_->num_parameters());
  info_.weight_bytes = weight_bytes;

  constexpr int32_t kSampleTokens = 1 << 16;  // long enough that alignment does not show
  const std::unique_ptr<DecoderSequence> sequence = make_sequence();
  ScratchLayout recurrent(nullptr);
  lay_out_recurrent(*sequence, recurrent);
  info_.session_bytes = recurrent.peak_bytes();
  ScratchLayout appended(nullptr);
  lay_out_appended(*sequence, kSampleTokens, appended);
  info_.context_bytes_per_token = page_bytes() / static_cast<uint64_t>(kernels::kPageTokens) +
                                  (appended.peak_bytes() + kSampleTokens - 1) / kSampleTokens;
}

EngineInfo Decoder::describe() {
  WeightPlan plan(*file_);
  // What load() would refuse is described as far as it goes.
  (void)plan_weights(plan).is_ok();
  fill_info(plan.slab_bytes());
  return info_;
}

Status Decoder::load(LoadProgress& progress) {
  WeightPlan plan(*file_);
  IFR_TRY(plan_weights(plan));
  fill_info(plan.slab_bytes());
  IFR_ASSIGN_OR_RETURN(weights_, plan.load(budget_, progress));
  finish_weights();
  if (page_bytes() > 0) {
    // Address space only: more pages than the machine has memory could never be used.
    const uint64_t max_pages =
        std::clamp<uint64_t>(physical_memory_bytes() / page_bytes(), 1, INT32_MAX);
    IFR_ASSIGN_OR_RETURN(pool_,
                         PagePool::create(budget_, page_bytes(), static_cast<int32_t>(max_pages)));
  }
  return {};
}

Expected<std::unique_ptr<Sequence>> Decoder::create_sequence(int32_t context_tokens,
                                                             const SequenceOptions& options) const {
  if (context_tokens < 1 || context_tokens > info_.context_tokens) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "a context of %d tokens was asked for; this model takes 1 to %d",
                      context_tokens, info_.context_tokens);
  }
  if (options.num_checkpoints < 0 || options.num_checkpoints > kMaxCheckpoints) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "%d checkpoints were asked for; 0 to %d are possible",
                      options.num_checkpoints, kMaxCheckpoints);
  }
  IFR_TRY(check_context(context_tokens));
  std::unique_ptr<DecoderSequence> sequence = make_sequence();
  sequence->owner_ = this;
  sequence->context_tokens_ = context_tokens;

  ScratchLayout recurrent_size(nullptr);
  lay_out_recurrent(*sequence, recurrent_size);
  IFR_ASSIGN_OR_RETURN(sequence->recurrent_,
                       Slab::create(budget_, MemoryKind::kState, recurrent_size.peak_bytes(),
                                    "the recurrent state of a session"));
  ScratchLayout recurrent(sequence->recurrent_.data());
  lay_out_recurrent(*sequence, recurrent);

  ScratchLayout appended_size(nullptr);
  lay_out_appended(*sequence, context_tokens, appended_size);
  IFR_ASSIGN_OR_RETURN(sequence->appended_,
                       Slab::create(budget_, MemoryKind::kCache, appended_size.peak_bytes(),
                                    "the index keys of a context"));
  ScratchLayout appended(sequence->appended_.data());
  lay_out_appended(*sequence, context_tokens, appended);

  if (recurrent_size.peak_bytes() > 0 && options.num_checkpoints > 0) {
    const auto num_slots = static_cast<uint64_t>(options.num_checkpoints);
    IFR_ASSIGN_OR_RETURN(
        sequence->saved_states_,
        Slab::create(budget_, MemoryKind::kState, num_slots * recurrent_size.peak_bytes(),
                     "the checkpoints of a session"));
    sequence->num_slots_ = options.num_checkpoints;
    sequence->checkpoints_.reserve(num_slots);
  }

  if (pool_ != nullptr) {
    const int64_t num_pages =
        (int64_t{context_tokens} + kernels::kPageTokens - 1) / kernels::kPageTokens;
    IFR_ASSIGN_OR_RETURN(sequence->pages_, pool_->reserve(static_cast<int32_t>(num_pages)));
  }
  sequence->reset();
  return std::unique_ptr<Sequence>(std::move(sequence));
}

Expected<std::unique_ptr<StepWorkspace>> Decoder::create_workspace(int32_t max_chunk_tokens) const {
  constexpr int32_t kMaxChunkTokens = 1 << 16;
  if (max_chunk_tokens < 1 || max_chunk_tokens > kMaxChunkTokens) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "a workspace for steps of %d tokens was asked for; 1 to %d are possible",
                      max_chunk_tokens, kMaxChunkTokens);
  }
  std::unique_ptr<DecoderWorkspace> workspace = make_workspace();
  workspace->owner_ = this;
  workspace->max_chunk_tokens_ = max_chunk_tokens;
  ScratchLayout size(nullptr);
  lay_out_workspace(*workspace, max_chunk_tokens, size);
  IFR_ASSIGN_OR_RETURN(
      workspace->scratch_,
      Slab::create(budget_, MemoryKind::kState, size.peak_bytes(), "the scratch memory of a step"));
  ScratchLayout layout(workspace->scratch_.data());
  lay_out_workspace(*workspace, max_chunk_tokens, layout);
  if (can_fail_between_cuts()) {
    IFR_ASSIGN_OR_RETURN(workspace->saved_,
                         Slab::create(budget_, MemoryKind::kState, info_.session_bytes,
                                      "the saved states of a step"));
  }
  return std::unique_ptr<StepWorkspace>(std::move(workspace));
}

kernels::PagedKvCache Decoder::kv_cache(const DecoderSequence& sequence,
                                        int32_t kv_layer_idx) const {
  // A page: layer by layer, keys then values.
  const KvShape shape = kv_shape();
  const int64_t half = int64_t{shape.num_kv_heads} * kernels::kPageTokens * shape.head_dim;
  float* keys = reinterpret_cast<float*>(pool_->base()) + 2 * half * kv_layer_idx;
  const std::span<const int32_t> table = sequence.pages_.page_idx();
  return {.key_pool = keys,
          .value_pool = keys + half,
          .page_stride = 2 * half * shape.num_layers,
          .block_table = table.data(),
          .num_pages = static_cast<int64_t>(table.size()),
          .num_kv_heads = shape.num_kv_heads,
          .head_dim = shape.head_dim};
}

Status Decoder::check_step(const DecoderSequence& sequence, const DecoderWorkspace& workspace,
                           std::span<const int32_t> token_ids, const StepOptions& options,
                           std::span<const float> logits) const {
  if (sequence.owner_ != this || workspace.owner_ != this) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "the sequence or the workspace was made by another model");
  }
  if (sequence.is_broken_) {
    return make_error(Code::kInvalidState, Part::kEngine,
                      "an earlier step of this sequence failed half way; reset it first");
  }
  if (token_ids.empty()) {
    return make_error(Code::kInvalidArgument, Part::kEngine, "a step needs at least one token");
  }
  const uint64_t free_tokens =
      static_cast<uint64_t>(sequence.context_tokens_ - sequence.num_tokens_);
  if (token_ids.size() > free_tokens) {
    return make_error(
        Code::kContextFull, Part::kEngine,
        "%zu tokens do not fit: %llu of the context's %d are free. Shorten the prompt "
        "or make a sequence with a longer context",
        token_ids.size(), static_cast<unsigned long long>(free_tokens), sequence.context_tokens_);
  }
  for (size_t i = 0; i < token_ids.size(); ++i) {
    if (token_ids[i] < 0 || token_ids[i] >= info_.vocab_size) {
      return make_error(Code::kInvalidArgument, Part::kEngine,
                        "token %zu is %d; this model knows ids 0 to %d", i, token_ids[i],
                        info_.vocab_size - 1);
    }
  }
  const size_t num_rows = options.logits_rows == LogitsRows::kAll    ? token_ids.size()
                          : options.logits_rows == LogitsRows::kLast ? 1
                                                                     : 0;
  if (num_rows > 0 && logits.size() != num_rows * static_cast<size_t>(info_.vocab_size)) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "room for %zu logits was given; %zu rows of %d are asked for", logits.size(),
                      num_rows, info_.vocab_size);
  }
  return {};
}

Status Decoder::step(Sequence& sequence, StepWorkspace& workspace, kernels::CpuExecutor& executor,
                     std::span<const int32_t> token_ids, const StepOptions& options,
                     std::span<float> logits) const {
  auto& own_sequence = static_cast<DecoderSequence&>(sequence);
  auto& own_workspace = static_cast<DecoderWorkspace&>(workspace);
  IFR_TRY(check_step(own_sequence, own_workspace, token_ids, options, logits));

  const int32_t first_position = own_sequence.num_tokens_;
  const bool save = own_workspace.saved_.size_bytes() > 0 &&
                    token_ids.size() > static_cast<size_t>(own_workspace.max_chunk_tokens_);
  if (save) {
    std::memcpy(own_workspace.saved_.data(), own_sequence.recurrent_.data(),
                own_sequence.recurrent_.size_bytes());
  }
  Status status = run_cuts(own_sequence, own_workspace, executor, token_ids, options, logits);
  if (!status.is_ok() && save) {
    // Rows appended after first_position will be written again before they are read.
    std::memcpy(own_sequence.recurrent_.data(), own_workspace.saved_.data(),
                own_sequence.recurrent_.size_bytes());
    own_sequence.num_tokens_ = first_position;
    own_sequence.is_broken_ = false;
  }
  return status;
}

Status Decoder::run_cuts(DecoderSequence& sequence, DecoderWorkspace& workspace,
                         kernels::CpuExecutor& executor, std::span<const int32_t> token_ids,
                         const StepOptions& options, std::span<float> logits) const {
  const size_t max_tokens = static_cast<size_t>(workspace.max_chunk_tokens_);
  for (size_t begin = 0; begin < token_ids.size(); begin += max_tokens) {
    const size_t count = std::min(max_tokens, token_ids.size() - begin);
    Cut cut = {.token_ids = token_ids.subspan(begin, count)};
    if (options.logits_rows == LogitsRows::kAll) {
      cut.num_logit_rows = static_cast<int64_t>(count);
      cut.logits = logits.data() + begin * static_cast<size_t>(info_.vocab_size);
    } else if (options.logits_rows == LogitsRows::kLast && begin + count == token_ids.size()) {
      cut.num_logit_rows = 1;
      cut.logits = logits.data();
    }
    const StepContext context = {.executor = executor,
                                 .observer = options.observer,
                                 .num_tokens = static_cast<int64_t>(count),
                                 .first_position = sequence.num_tokens_};
    IFR_TRY(prepare(sequence, workspace, context, cut));
    sequence.is_broken_ = true;
    IFR_TRY(run(sequence, workspace, context, cut));
    sequence.is_broken_ = false;
    sequence.num_tokens_ += static_cast<int32_t>(count);
  }
  return {};
}

}  // namespace ifr
