// SPDX-License-Identifier: Apache-2.0
// What both architectures share: KV pages, sequences, workspaces, and the cutting of a step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "engine/scratch.h"
#include "engine/step_context.h"
#include "engine/weight_plan.h"
#include "interframe_kernels/paged_attention.h"
#include "memory/page_pool.h"
#include "memory/slab.h"

namespace ifr {

class Decoder;

// An architecture derives from it and adds pointers into the slabs.
class DecoderSequence : public Sequence {
 public:
  [[nodiscard]] int32_t num_tokens() const override { return num_tokens_; }
  [[nodiscard]] int32_t context_tokens() const override { return context_tokens_; }
  void reset() override;
  [[nodiscard]] int32_t rewindable_tokens(int32_t num_tokens) const override;
  [[nodiscard]] Status rewind(int32_t num_tokens) override;
  void save_checkpoint() override;
  [[nodiscard]] int32_t newest_checkpoint() const override;

 protected:
  // What recurrent states hold at the start of a sequence; their memory is zero already.
  virtual void begin_states() {}

 private:
  friend class Decoder;
  const Decoder* owner_ = nullptr;
  int32_t num_tokens_ = 0;
  int32_t context_tokens_ = 0;
  bool is_broken_ = false;  // an operator failed half way: only reset() helps
  PageList pages_;
  Slab recurrent_;  // rewritten by every step
  Slab appended_;   // rows of past tokens are never rewritten
  struct Checkpoint {
    int32_t num_tokens = 0;
    int32_t slot = 0;  // of saved_states_
  };
  [[nodiscard]] std::byte* saved_state(int32_t slot);
  [[nodiscard]] int32_t slot_to_save();
  int32_t num_slots_ = 0;
  Slab saved_states_;                    // [num_slots_] copies of recurrent_
  std::vector<Checkpoint> checkpoints_;  // ascending by num_tokens; capacity num_slots_
};

class DecoderWorkspace : public StepWorkspace {
 public:
  [[nodiscard]] int32_t max_chunk_tokens() const override { return max_chunk_tokens_; }

 private:
  friend class Decoder;
  const Decoder* owner_ = nullptr;
  int32_t max_chunk_tokens_ = 0;
  Slab scratch_;
  Slab saved_;  // recurrent states as a step of several cuts found them
};

class Decoder : public Engine {
 public:
  // Before load() or describe(); checked by the caller.
  void choose(const EngineOptions& options) { info_.options = options; }
  // Both once, on a fresh object; the file outlives it or is given to it by adopt().
  [[nodiscard]] Status load(LoadProgress& progress);
  [[nodiscard]] EngineInfo describe();
  void adopt(std::unique_ptr<ModelFile> file) { owned_file_ = std::move(file); }

  using Engine::create_sequence;
  [[nodiscard]] const EngineInfo& info() const override { return info_; }
  [[nodiscard]] const ModelFile& file() const override { return *file_; }
  [[nodiscard]] Expected<std::unique_ptr<Sequence>> create_sequence(
      int32_t context_tokens, const SequenceOptions& options) const override;
  [[nodiscard]] Expected<std::unique_ptr<Sequence>> fork(const Sequence& source) const override;
  [[nodiscard]] uint64_t state_bytes(int32_t num_tokens) const override;
  [[nodiscard]] uint64_t state_layout() const override;
  [[nodiscard]] Status export_state(const Sequence& sequence,
                                    std::span<std::byte> out) const override;
  [[nodiscard]] Status import_state(Sequence& sequence, int32_t num_tokens,
                                    std::span<const std::byte> state) const override;
  [[nodiscard]] Expected<std::unique_ptr<StepWorkspace>> create_workspace(
      int32_t max_chunk_tokens) const override;
  [[nodiscard]] Status step(Sequence& sequence, StepWorkspace& workspace,
                            kernels::CpuExecutor& executor, std::span<const int32_t> token_ids,
                            const StepOptions& options, std::span<float> logits) const override;

 protected:
  struct KvShape {
    int32_t num_layers = 0;  // that keep keys and values
    int32_t num_kv_heads = 0;
    int32_t head_dim = 0;
  };
  // Rows of logits are those of the last num_logit_rows tokens.
  struct Cut {
    std::span<const int32_t> token_ids;
    int64_t num_logit_rows = 0;
    float* logits = nullptr;
  };

  Decoder(const ModelFile& file, MemoryBudget& budget) : budget_(budget), file_(&file) {}

  // Shapes, layers and the weights' places; fields of info() that only the architecture knows.
  [[nodiscard]] virtual Status plan_weights(WeightPlan& plan) = 0;
  // Weights are in place.
  virtual void finish_weights() {}
  [[nodiscard]] virtual KvShape kv_shape() const = 0;
  [[nodiscard]] virtual std::unique_ptr<DecoderSequence> make_sequence() const = 0;
  [[nodiscard]] virtual std::unique_ptr<DecoderWorkspace> make_workspace() const = 0;
  // Visit every buffer.
  virtual void lay_out_recurrent(DecoderSequence& sequence, ScratchLayout& layout) const = 0;
  virtual void lay_out_appended(DecoderSequence& sequence, int32_t context_tokens,
                                ScratchLayout& layout) const = 0;
  // The bytes of the appended slab that belong to the first num_tokens tokens, in an order that
  // depends on the shapes alone.
  [[nodiscard]] virtual std::vector<std::span<std::byte>> appended_rows(
      const DecoderSequence& sequence, int32_t num_tokens) const = 0;
  virtual void lay_out_workspace(DecoderWorkspace& workspace, int64_t max_tokens,
                                 ScratchLayout& layout) const = 0;
  [[nodiscard]] virtual Status check_context(int32_t /*context_tokens*/) const { return {}; }

  // True when prepare() can fail after an earlier cut of the same step has run.
  [[nodiscard]] virtual bool can_fail_between_cuts() const { return false; }
  // Everything of a cut that can fail; changes nothing of the sequence.
  [[nodiscard]] virtual Status prepare(const DecoderSequence& /*sequence*/,
                                       DecoderWorkspace& /*workspace*/,
                                       const StepContext& /*context*/, const Cut& /*cut*/) const {
    return {};
  }
  [[nodiscard]] virtual Status run(DecoderSequence& sequence, DecoderWorkspace& workspace,
                                   const StepContext& context, const Cut& cut) const = 0;

  // The cache of the kv_layer_idx-th layer that has one.
  [[nodiscard]] kernels::PagedKvCache kv_cache(const DecoderSequence& sequence,
                                               int32_t kv_layer_idx) const;

  MemoryBudget& budget_;
  const ModelFile* file_;
  EngineInfo info_;

 private:
  // The parts of a sequence that are its state after num_tokens tokens, in the order of a snapshot.
  [[nodiscard]] std::vector<std::span<std::byte>> state_parts(DecoderSequence& sequence,
                                                              int32_t num_tokens) const;
  void fill_info(uint64_t weight_bytes);
  [[nodiscard]] uint64_t page_bytes() const;
  [[nodiscard]] Status check_own(const Sequence& sequence) const;
  [[nodiscard]] Status check_step(const DecoderSequence& sequence,
                                  const DecoderWorkspace& workspace,
                                  std::span<const int32_t> token_ids, const StepOptions& options,
                                  std::span<const float> logits) const;
  [[nodiscard]] Status run_cuts(DecoderSequence& sequence, DecoderWorkspace& workspace,
                                kernels::CpuExecutor& executor, std::span<const int32_t> token_ids,
                                const StepOptions& options, std::span<float> logits) const;

  std::unique_ptr<ModelFile> owned_file_;
  Slab weights_;
  std::unique_ptr<PagePool> pool_;  // null when no layer keeps keys; sequences return pages to it
};

}  // namespace ifr
