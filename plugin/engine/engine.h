// SPDX-License-Identifier: Apache-2.0
// One loaded model: its weights, its sequences, its steps. No threads of its own, no queue, no
// text.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "interframe_kernels/cpu_executor.h"
#include "memory/budget.h"
#include "model/model_file.h"
#include "telemetry/step_observer.h"

namespace ifr {

// Shared between the loading thread and whoever watches or cancels it.
struct LoadProgress {
  std::atomic<uint64_t> done_bytes{0};
  std::atomic<uint64_t> total_bytes{0};
  std::atomic<bool> cancel{false};  // seen within 100 ms; loading then ends with kCancelled
};

// In what type the inputs of products with block-quantised weights are multiplied.
enum class Activations : int32_t {
  kFloat32 = 0,
  kInt8 = 1,  // quantised by blocks of 32 on the way into each product
};

// What a load chooses; a model's steps depend on it, its file does not.
struct EngineOptions {
  Activations activations = Activations::kFloat32;
  // Keys a query attends to at most in each layer and KV head; 0: all of them (dense). Only for
  // architectures that do not select by themselves.
  int32_t sparse_budget_tokens = 0;
};

struct EngineInfo {
  std::string architecture;
  int32_t num_layers = 0;
  int32_t vocab_size = 0;
  int32_t context_tokens = 0;  // longest the model was made for
  uint64_t num_parameters = 0;
  uint64_t weight_bytes = 0;              // in memory
  uint64_t session_bytes = 0;             // a sequence's recurrent states
  uint64_t context_bytes_per_token = 0;   // a sequence's caches
  std::vector<int32_t> selecting_layers;  // ascending
  int32_t selection_block_tokens = 0;
  int32_t selection_max_blocks = 0;
  EngineOptions options;  // what it was loaded, or described, with
};

// Checkpoints a sequence may keep at most.
inline constexpr int32_t kMaxCheckpoints = 64;

struct SequenceOptions {
  // Copies of the recurrent states that rewind() can go back to: session_bytes of memory each, 0..
  // kMaxCheckpoints. A model without recurrent states needs none and takes no memory for them.
  int32_t num_checkpoints = 0;
};

// State of one conversation: KV pages, index keys, recurrent states, the tokens fed so far. One
// thread at a time.
class Sequence {
 public:
  virtual ~Sequence() = default;
  [[nodiscard]] virtual int32_t num_tokens() const = 0;      // fed so far
  [[nodiscard]] virtual int32_t context_tokens() const = 0;  // capacity
  // Back to empty; keeps the memory, forgets the checkpoints.
  virtual void reset() = 0;

  // The longest beginning of at most num_tokens tokens that rewind() can go back to: any without
  // recurrent states, else that of a checkpoint; 0 is always possible.
  [[nodiscard]] virtual int32_t rewindable_tokens(int32_t num_tokens) const = 0;
  // Forgets all but the first num_tokens tokens, as if they had never been fed; checkpoints behind
  // them too. Also mends a sequence whose step failed half way. Copies memory, allocates none.
  // kInvalidArgument: not a length that rewindable_tokens() gives; nothing is changed then.
  [[nodiscard]] virtual Status rewind(int32_t num_tokens) = 0;
  // Makes num_tokens() a place to rewind to. When all checkpoints are taken, the one whose
  // neighbours are closest gives way. Nothing to do without recurrent states or checkpoints.
  virtual void save_checkpoint() = 0;
  // Tokens of the newest checkpoint; num_tokens() where none is needed, 0 where there is none.
  [[nodiscard]] virtual int32_t newest_checkpoint() const = 0;
};

// Which rows of logits a step computes.
enum class LogitsRows : int32_t { kNone = 0, kLast = 1, kAll = 2 };

struct StepOptions {
  LogitsRows logits_rows = LogitsRows::kLast;
  StepObserver* observer = nullptr;  // may be null
};

// Scratch memory of steps of up to max_chunk_tokens tokens; longer inputs are cut inside step().
// One step at a time.
class StepWorkspace {
 public:
  virtual ~StepWorkspace() = default;
  [[nodiscard]] virtual int32_t max_chunk_tokens() const = 0;
};

// Immutable after load: steps of different sequences may run on different threads, each with its
// own workspace. Outlives its sequences and workspaces.
class Engine {
 public:
  virtual ~Engine() = default;

  // Copies the weights into memory taken from `budget` (embedding stores of PLE layers stay in the
  // file and are read by row, in every step). Blocks; meant for a loading thread. The engine keeps
  // `file`; `budget` must outlive the engine. After an error nothing is held. Errors: kIo,
  // kCancelled, kOverBudget, kOutOfMemory, kUnsupported (also an option this model does not have),
  // kInvalidFile, kInvalidArgument (options).
  [[nodiscard]] static Expected<std::unique_ptr<Engine>> load(std::unique_ptr<ModelFile> file,
                                                              MemoryBudget& budget,
                                                              LoadProgress& progress,
                                                              const LogSink& log,
                                                              const EngineOptions& options = {});
  // What load() refuses of the options before it reads a weight.
  [[nodiscard]] static Status check_options(const ModelFile& file, const EngineOptions& options);

  // What load() would give, without loading anything: for budgets and `interframe info`.
  [[nodiscard]] static EngineInfo describe(const ModelFile& file,
                                           const EngineOptions& options = {});

  [[nodiscard]] virtual const EngineInfo& info() const = 0;
  [[nodiscard]] virtual const ModelFile& file() const = 0;

  // Reserves everything a conversation of context_tokens can need. Errors: kInvalidArgument (more
  // than the model was made for, options), kOverBudget, kOutOfMemory, kUnsupported.
  [[nodiscard]] virtual Expected<std::unique_ptr<Sequence>> create_sequence(
      int32_t context_tokens, const SequenceOptions& options) const = 0;
  [[nodiscard]] Expected<std::unique_ptr<Sequence>> create_sequence(int32_t context_tokens) const {
    return create_sequence(context_tokens, SequenceOptions{});
  }
  // A second conversation that begins as `source` is now, of the same context, with its
  // checkpoints; from then on neither sees the other. `source` must not be stepped meanwhile.
  // Errors: as create_sequence, kInvalidState (a step failed half way), kInvalidArgument (of
  // another model).
  [[nodiscard]] virtual Expected<std::unique_ptr<Sequence>> fork(const Sequence& source) const = 0;

  // A sequence as bytes, for another place or time: fed tokens' keys and values, index rows and
  // recurrent states, in an order that depends on the model and the number of tokens alone (not the
  // ids, not checkpoints). Unused rows of recurrent states are as steps left them.
  [[nodiscard]] virtual uint64_t state_bytes(int32_t num_tokens) const = 0;
  // Tells apart what import_state cannot take: shapes, types, options.
  [[nodiscard]] virtual uint64_t state_layout() const = 0;
  // out: state_bytes(sequence.num_tokens()). Errors: kInvalidArgument, kInvalidState.
  [[nodiscard]] virtual Status export_state(const Sequence& sequence,
                                            std::span<std::byte> out) const = 0;
  // Replaces what the sequence holds; its state is then num_tokens long, with one checkpoint there.
  // `state` must come from export_state of an engine with the same model and state_layout().
  // Errors: kInvalidArgument (sizes, longer than the context); nothing is changed then.
  [[nodiscard]] virtual Status import_state(Sequence& sequence, int32_t num_tokens,
                                            std::span<const std::byte> state) const = 0;

  // Chunks beyond 64 gain little: prompt tokens a CPU second of SmolLM2-135M Q4_1, one thread, 256
  // tokens, median of 5: 351, 404, 409, 418, 429 for chunks of 16, 32, 64, 128, 256 (Xeon with
  // AVX-512, December 2026, machine busy).
  [[nodiscard]] virtual Expected<std::unique_ptr<StepWorkspace>> create_workspace(
      int32_t max_chunk_tokens) const = 0;

  // Feeds token_ids (each in 0..vocab_size-1) at positions num_tokens().. and writes the asked rows
  // of logits to `logits`: [vocab] for kLast, [token_ids.size(), vocab] for kAll. After an error
  // the sequence is as before; after kInternal of a step (an operator refused: a fault of ours) it
  // must be reset first. Allocates nothing unless it fails. The bits of all results are the same
  // however a conversation is cut into steps, and for every number of executor threads. Errors:
  // kInvalidArgument (a token id, sizes, objects of another engine), kContextFull, kIo (a row of an
  // embedding store could not be read), kInvalidState, kInternal.
  [[nodiscard]] virtual Status step(Sequence& sequence, StepWorkspace& workspace,
                                    kernels::CpuExecutor& executor,
                                    std::span<const int32_t> token_ids, const StepOptions& options,
                                    std::span<float> logits) const = 0;
};

}  // namespace ifr
