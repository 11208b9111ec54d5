// SPDX-License-Identifier: Apache-2.0
// Teacher-forced logits and selections, in the form of a reference's golden.safetensors.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/model_file.h"
#include "model/safetensors_header.h"
#include "tools/command.h"
#include "tools/safetensors_writer.h"
#include "tools/sparse_option.h"

namespace ifr::tools {

namespace {

struct TokenInput {
  std::vector<int32_t> prompt;
  std::vector<int32_t> decode;
};

// Marks, for each query row, the tokens it may attend: chosen blocks and the tail behind the last
// complete block.
class SelectionMarks final : public StepObserver {
 public:
  SelectionMarks(const EngineInfo& info, int32_t num_prompt, int32_t num_decode)
      : block_tokens_(info.selection_block_tokens),
        num_prompt_(num_prompt),
        num_tokens_(num_prompt + num_decode) {
    for (const int32_t layer : info.selecting_layers) {
      prefill_[layer].resize(static_cast<size_t>(num_prompt) * static_cast<size_t>(num_prompt));
      decode_[layer].resize(static_cast<size_t>(num_decode) * static_cast<size_t>(num_tokens_));
    }
  }

  void on_operator(const OperatorSpan&) override {}

  void on_selection(const SelectionSpan& span) override {
    const bool is_prompt = span.query_position < num_prompt_;
    const int32_t row = is_prompt ? span.query_position : span.query_position - num_prompt_;
    const int32_t row_len = is_prompt ? num_prompt_ : num_tokens_;
    std::vector<uint8_t>& marks = is_prompt ? prefill_[span.layer] : decode_[span.layer];
    uint8_t* out = marks.data() + static_cast<int64_t>(row) * row_len;
    for (const int32_t block : span.block_idx) {
      std::memset(out + static_cast<int64_t>(block) * block_tokens_, 1,
                  static_cast<size_t>(block_tokens_));
    }
    for (int32_t t = span.num_visible_blocks * block_tokens_; t <= span.query_position; ++t) {
      out[t] = 1;
    }
  }

  [[nodiscard]] const std::map<int32_t, std::vector<uint8_t>>& prefill() const { return prefill_; }
  [[nodiscard]] const std::map<int32_t, std::vector<uint8_t>>& decode() const { return decode_; }

 private:
  int32_t block_tokens_ = 0;
  int32_t num_prompt_ = 0;
  int32_t num_tokens_ = 0;
  std::map<int32_t, std::vector<uint8_t>> prefill_;
  std::map<int32_t, std::vector<uint8_t>> decode_;
};

Expected<std::vector<int32_t>> read_ids(const SafetensorsHeader& header, const ByteSource& source,
                                        const char* name, bool required) {
  for (const TensorInfo& tensor : header.tensors) {
    if (tensor.name != name) {
      continue;
    }
    if (tensor.type != kernels::DataType::kI32 || tensor.shape.size() != 1) {
      return make_error(Code::kInvalidFile, Part::kNone, "tensor '%s' of '%s' must be int32 [n]",
                        name, source.name().c_str());
    }
    std::vector<int32_t> ids(static_cast<size_t>(tensor.shape[0]));
    IFR_TRY(source.read(tensor.offset, std::as_writable_bytes(std::span(ids))));
    return ids;
  }
  if (required) {
    return make_error(Code::kNotFound, Part::kNone, "'%s' has no tensor '%s'",
                      source.name().c_str(), name);
  }
  return std::vector<int32_t>();
}

Expected<TokenInput> read_tokens(const std::string& path) {
  IFR_ASSIGN_OR_RETURN(File file, File::open(path));
  const FileSource source(std::move(file));
  IFR_ASSIGN_OR_RETURN(const SafetensorsHeader header, read_safetensors_header(source, 0));
  TokenInput input;
  IFR_ASSIGN_OR_RETURN(input.prompt, read_ids(header, source, "input_ids", true));
  IFR_ASSIGN_OR_RETURN(input.decode, read_ids(header, source, "decode_ids", false));
  if (input.prompt.empty()) {
    return make_error(Code::kInvalidFile, Part::kNone, "input_ids of '%s' is empty", path.c_str());
  }
  return input;
}

struct LogitsRun {
  std::vector<float> prefill;  // [prompt, vocab]
  std::vector<float> decode;   // [decode, vocab]
};

Expected<LogitsRun> run_model(const Engine& engine, const TokenInput& input,
                              const LogitsOptions& options, SelectionMarks& marks) {
  const auto vocab = static_cast<size_t>(engine.info().vocab_size);
  const auto num_tokens = static_cast<int32_t>(input.prompt.size() + input.decode.size());
  IFR_ASSIGN_OR_RETURN(const std::unique_ptr<Sequence> sequence,
                       engine.create_sequence(num_tokens));
  IFR_ASSIGN_OR_RETURN(const std::unique_ptr<StepWorkspace> workspace,
                       engine.create_workspace(std::min(options.chunk_tokens, num_tokens)));
  kernels::CpuExecutor executor(options.threads > 0 ? options.threads : num_usable_cores());
  LogitsRun run;
  run.prefill.resize(input.prompt.size() * vocab);
  run.decode.resize(input.decode.size() * vocab);
  StepOptions step;
  step.observer = &marks;
  step.logits_rows = LogitsRows::kAll;
  const std::span<const int32_t> prompt(input.prompt);
  const auto chunk = static_cast<size_t>(options.chunk_tokens);
  for (size_t at = 0; at < prompt.size(); at += chunk) {
    const size_t count = std::min(chunk, prompt.size() - at);
    IFR_TRY(engine.step(*sequence, *workspace, executor, prompt.subspan(at, count), step,
                        std::span(run.prefill).subspan(at * vocab, count * vocab)));
  }
  step.logits_rows = LogitsRows::kLast;
  for (size_t i = 0; i < input.decode.size(); ++i) {
    IFR_TRY(engine.step(*sequence, *workspace, executor, std::span(input.decode).subspan(i, 1),
                        step, std::span(run.decode).subspan(i * vocab, vocab)));
  }
  return run;
}

Status write_output(const std::string& path, const EngineInfo& info, const TokenInput& input,
                    const LogitsRun& run, const SelectionMarks& marks) {
  const auto num_prompt = static_cast<int64_t>(input.prompt.size());
  const auto num_decode = static_cast<int64_t>(input.decode.size());
  std::vector<OutputTensor> tensors;
  tensors.push_back({"prefill_logits",
                     "F32",
                     {num_prompt, info.vocab_size},
                     std::as_bytes(std::span(run.prefill))});
  if (num_decode > 0) {
    tensors.push_back({"decode_logits",
                       "F32",
                       {num_decode, info.vocab_size},
                       std::as_bytes(std::span(run.decode))});
  }
  for (const auto& [layer, rows] : marks.prefill()) {
    tensors.push_back({"layer." + std::to_string(layer) + ".selected",
                       "U8",
                       {num_prompt, num_prompt},
                       std::as_bytes(std::span(rows))});
  }
  for (const auto& [layer, rows] : marks.decode()) {
    if (num_decode > 0) {
      tensors.push_back({"layer." + std::to_string(layer) + ".decode_selected",
                         "U8",
                         {num_decode, num_prompt + num_decode},
                         std::as_bytes(std::span(rows))});
    }
  }
  return write_safetensors(path, tensors);
}

Status check_choices(const LogitsOptions& options) {
  if (options.backend != "cpu") {
    return make_error(Code::kUnsupported, Part::kNone,
                      "--backend %s: this version runs models on cpu only",
                      options.backend.c_str());
  }
  if (options.activations != "f32") {
    return make_error(Code::kUnsupported, Part::kNone,
                      "--activations %s: the cpu backend computes in f32; give --activations f32",
                      options.activations.c_str());
  }
  return {};
}

Status run_command(const LogitsOptions& options) {
  IFR_TRY(check_choices(options));
  EngineOptions engine_options;
  IFR_ASSIGN_OR_RETURN(engine_options.sparse_budget_tokens, parse_sparse(options.sparse));
  IFR_ASSIGN_OR_RETURN(const TokenInput input, read_tokens(options.tokens));
  IFR_ASSIGN_OR_RETURN(std::unique_ptr<ModelFile> file, ModelFile::open(options.model));
  MemoryBudget budget(0);
  LoadProgress progress;
  IFR_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                       Engine::load(std::move(file), budget, progress, LogSink{}, engine_options));
  SelectionMarks marks(engine->info(), static_cast<int32_t>(input.prompt.size()),
                       static_cast<int32_t>(input.decode.size()));
  IFR_ASSIGN_OR_RETURN(const LogitsRun run, run_model(*engine, input, options, marks));
  return write_output(options.out, engine->info(), input, run, marks);
}

}  // namespace

int command_logits(const LogitsOptions& options) {
  const Status status = run_command(options);
  if (!status.is_ok()) {
    std::fprintf(stderr, "interframe: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}

}  // namespace ifr::tools
