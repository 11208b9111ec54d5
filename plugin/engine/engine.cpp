// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <utility>

#include "base/platform.h"
#include "engine/blocks/block_sparse.h"
#include "engine/decoder.h"
#include "engine/llama.h"
#include "engine/qwen4_exp.h"

namespace ifr {

namespace {

std::unique_ptr<Decoder> make_decoder(const ModelFile& file, MemoryBudget& budget) {
  return file.config().qwen4_exp() != nullptr ? make_qwen4_exp(file, budget)
                                              : make_llama(file, budget);
}

}  // namespace

Status Engine::check_options(const ModelFile& file, const EngineOptions& options) {
  if (options.activations != Activations::kFloat32) {
    return make_error(Code::kUnsupported, Part::kEngine,
                      "activations of type %d are not supported: use float32",
                      static_cast<int>(options.activations));
  }
  IFR_TRY(check_sparse_budget(options.sparse_budget_tokens));
  if (options.sparse_budget_tokens > 0 && file.config().qwen4_exp() != nullptr) {
    return make_error(Code::kUnsupported, Part::kEngine,
                      "%s chooses the keys it attends by an indexer of its own: load it without a "
                      "sparse budget",
                      file.config().arch_name());
  }
  return {};
}

Expected<std::unique_ptr<Engine>> Engine::load(std::unique_ptr<ModelFile> file,
                                               MemoryBudget& budget, LoadProgress& progress,
                                               const LogSink& log, const EngineOptions& options) {
  IFR_TRY(check_options(*file, options));
  const uint64_t begin_ns = monotonic_ns();
  std::unique_ptr<Decoder> engine = make_decoder(*file, budget);
  engine->choose(options);
  engine->adopt(std::move(file));
  IFR_TRY(engine->load(progress));
  const EngineInfo& info = engine->info();
  log.write(LogLevel::kInfo, "%s: %d layers, %llu parameters, %llu bytes of weights in %.2f s",
            info.architecture.c_str(), info.num_layers,
            static_cast<unsigned long long>(info.num_parameters),
            static_cast<unsigned long long>(info.weight_bytes),
            static_cast<double>(monotonic_ns() - begin_ns) * 1e-9);
  return std::unique_ptr<Engine>(std::move(engine));
}

EngineInfo Engine::describe(const ModelFile& file, const EngineOptions& options) {
  MemoryBudget unused(0);
  const std::unique_ptr<Decoder> engine = make_decoder(file, unused);
  engine->choose(options);
  return engine->describe();
}

}  // namespace ifr
