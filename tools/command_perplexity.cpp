// SPDX-License-Identifier: Apache-2.0
// How well a model predicts a text: exp of the mean negative log-likelihood of the second half of
// each window, so that every scored token has at least half a window of context before it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/engine.h"
#include "model/model_file.h"
#include "model/tokenizer.h"
#include "tools/command.h"
#include "tools/sparse_option.h"

namespace ifr::tools {

namespace {

constexpr size_t kChunkTokens = 64;

struct Text {
  std::vector<int32_t> ids;
  std::vector<int32_t> bos;  // one id that begins every window, or none
};

struct Score {
  double sum = 0.0;  // of negative log-likelihoods, in nats
  double sum_of_squares = 0.0;
  int64_t num_tokens = 0;

  void add(double nll) {
    sum += nll;
    sum_of_squares += nll * nll;
    ++num_tokens;
  }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(num_tokens); }
  [[nodiscard]] double standard_error() const {
    const auto n = static_cast<double>(num_tokens);
    const double variance = std::max(0.0, sum_of_squares / n - mean() * mean());
    return num_tokens > 1 ? std::sqrt(variance / (n - 1.0)) : 0.0;
  }
};

// Of the token that follows the row's.
double negative_log_likelihood(std::span<const float> logits, int32_t id) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  return std::log(sum) + largest - logits[static_cast<size_t>(id)];
}

Expected<std::string> read_text(const std::string& path) {
  IFR_ASSIGN_OR_RETURN(const File file, File::open(path));
  std::string text(file.size_bytes(), '\0');
  IFR_TRY(file.read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

Expected<Text> read_ids(const ModelFile& file, const std::string& path) {
  IFR_ASSIGN_OR_RETURN(const std::string bytes, read_text(path));
  Text text;
  if (const TokenizerData* data = file.tokenizer() ? &*file.tokenizer() : nullptr) {
    IFR_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::create(*data));
    IFR_ASSIGN_OR_RETURN(text.ids, tokenizer.encode(bytes, SpecialTokens::kPlain));
    if (const std::optional<int32_t> bos = tokenizer.prompt_bos()) {
      text.bos.push_back(*bos);
    }
    return text;
  }
  if (file.config().vocab_size() < 256) {
    return make_error(Code::kUnsupported, Part::kNone,
                      "the model has no tokenizer and its vocabulary is too small for bytes");
  }
  for (const char c : bytes) {
    text.ids.push_back(static_cast<unsigned char>(c));
  }
  return text;
}

// What a run needs of the model, made once.
struct Machine {
  const Engine& engine;
  Sequence& sequence;
  StepWorkspace& workspace;
  kernels::CpuExecutor& executor;
};

// ids: one window. No logits are computed of rows before the first scored token's.
Status score_window(const Machine& machine, std::span<const int32_t> ids,
                    std::vector<float>& logits, Score& score) {
  const auto vocab = static_cast<size_t>(machine.engine.info().vocab_size);
  const size_t first_row = std::max<size_t>(ids.size() / 2, 1) - 1;
  machine.sequence.reset();
  if (first_row > 0) {
    IFR_TRY(machine.engine.step(machine.sequence, machine.workspace, machine.executor,
                                ids.first(first_row), {.logits_rows = LogitsRows::kNone}, {}));
  }
  // The last token predicts nothing that is in the window.
  for (size_t at = first_row; at + 1 < ids.size(); at += kChunkTokens) {
    const size_t count = std::min(kChunkTokens, ids.size() - 1 - at);
    logits.resize(count * vocab);
    IFR_TRY(machine.engine.step(machine.sequence, machine.workspace, machine.executor,
                                ids.subspan(at, count), {.logits_rows = LogitsRows::kAll}, logits));
    for (size_t i = 0; i < count; ++i) {
      score.add(
          negative_log_likelihood(std::span(logits).subspan(i * vocab, vocab), ids[at + i + 1]));
    }
  }
  return {};
}

struct Plan {
  size_t window_tokens = 0;
  size_t text_tokens = 0;  // of a window, besides the beginning of sequence
  size_t num_windows = 0;
};

Expected<Plan> plan_windows(const Text& text, const PerplexityOptions& options,
                            int32_t context_tokens) {
  Plan plan;
  if (options.window_tokens > context_tokens) {
    return make_error(Code::kInvalidArgument, Part::kNone,
                      "--window-tokens %d: this model takes %d at most", options.window_tokens,
                      context_tokens);
  }
  plan.window_tokens = static_cast<size_t>(
      options.window_tokens > 0 ? options.window_tokens : std::min(context_tokens, 2048));
  if (plan.window_tokens < 2 + text.bos.size()) {
    return make_error(Code::kInvalidArgument, Part::kNone,
                      "a window of %zu tokens has nothing to predict: give --window-tokens 3 or "
                      "more",
                      plan.window_tokens);
  }
  plan.text_tokens = plan.window_tokens - text.bos.size();
  plan.num_windows = text.ids.size() / plan.text_tokens;
  if (options.num_windows > 0) {
    plan.num_windows = std::min(plan.num_windows, static_cast<size_t>(options.num_windows));
  }
  if (plan.num_windows == 0) {
    return make_error(Code::kInvalidArgument, Part::kNone,
                      "the text has %zu tokens and a window takes %zu: give a longer text or a "
                      "smaller --window-tokens",
                      text.ids.size(), plan.text_tokens);
  }
  return plan;
}

Status score_text(const Engine& engine, const Text& text, const Plan& plan, int32_t num_threads,
                  Score& score) {
  const auto context_tokens = static_cast<int32_t>(plan.window_tokens);
  IFR_ASSIGN_OR_RETURN(const std::unique_ptr<Sequence> sequence,
                       engine.create_sequence(context_tokens));
  IFR_ASSIGN_OR_RETURN(
      const std::unique_ptr<StepWorkspace> workspace,
      engine.create_workspace(std::min(static_cast<int32_t>(kChunkTokens), context_tokens)));
  kernels::CpuExecutor executor(num_threads > 0 ? num_threads : num_usable_cores());
  const Machine machine = {engine, *sequence, *workspace, executor};
  std::vector<float> logits;
  for (size_t i = 0; i < plan.num_windows; ++i) {
    std::vector<int32_t> ids = text.bos;
    const auto begin = text.ids.begin() + static_cast<std::ptrdiff_t>(i * plan.text_tokens);
    ids.insert(ids.end(), begin, begin + static_cast<std::ptrdiff_t>(plan.text_tokens));
    IFR_TRY(score_window(machine, ids, logits, score));
    std::fprintf(stderr, "window %zu of %zu: perplexity so far %.4f\n", i + 1, plan.num_windows,
                 std::exp(score.mean()));
  }
  return {};
}

Status write_json(const std::string& path, const nlohmann::ordered_json& json) {
  const std::string text =
      json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (path == "-") {
    std::printf("%s", text.c_str());
    return {};
  }
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) {
    return make_error(Code::kIo, Part::kNone, "'%s' cannot be written", path.c_str());
  }
  return {};
}

Status run_command(const PerplexityOptions& options) {
  EngineOptions engine_options;
  IFR_ASSIGN_OR_RETURN(engine_options.sparse_budget_tokens, parse_sparse(options.sparse));
  IFR_ASSIGN_OR_RETURN(std::unique_ptr<ModelFile> file, ModelFile::open(options.model));
  IFR_TRY(Engine::check_options(*file, engine_options));
  IFR_ASSIGN_OR_RETURN(const Text text, read_ids(*file, options.text));
  IFR_ASSIGN_OR_RETURN(const Plan plan,
                       plan_windows(text, options, file->config().context_length()));
  MemoryBudget budget(0);
  LoadProgress progress;
  IFR_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                       Engine::load(std::move(file), budget, progress, LogSink{}, engine_options));
  Score score;
  const auto begin = std::chrono::steady_clock::now();
  IFR_TRY(score_text(*engine, text, plan, options.threads, score));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const double perplexity = std::exp(score.mean());
  if (options.json != "-") {
    std::printf("perplexity %.4f +- %.4f (%lld tokens scored in %zu windows of %zu)\n", perplexity,
                perplexity * score.standard_error(), static_cast<long long>(score.num_tokens),
                plan.num_windows, plan.window_tokens);
  }
  if (options.json.empty()) {
    return {};
  }
  return write_json(options.json, {{"model", options.model},
                                   {"text", options.text},
                                   {"sparse_budget_tokens", engine_options.sparse_budget_tokens},
                                   {"perplexity", perplexity},
                                   {"mean_nll", score.mean()},
                                   {"nll_standard_error", score.standard_error()},
                                   {"scored_tokens", score.num_tokens},
                                   {"text_tokens", text.ids.size()},
                                   {"windows", plan.num_windows},
                                   {"window_tokens", plan.window_tokens},
                                   {"seconds", seconds.count()}});
}

}  // namespace

int command_perplexity(const PerplexityOptions& options) {
  const Status status = run_command(options);
  if (!status.is_ok()) {
    std::fprintf(stderr, "interframe: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}

}  // namespace ifr::tools
