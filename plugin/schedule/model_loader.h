// SPDX-License-Identifier: Apache-2.0
// From a path to a model that can answer. The seam where tests put an engine of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "engine/engine.h"
#include "memory/budget.h"
#include "schedule/text_codec.h"

namespace ifr {

struct LoadedModel {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<TextCodec> codec;  // null: prompts are token ids, answers come as ids
  std::vector<int32_t> end_tokens;   // ascending; of the configuration where there is no codec
  std::string name;                  // of the file; may be empty
};

class ModelLoader {
 public:
  virtual ~ModelLoader() = default;
  // On a loading thread; may take long. Looks at progress.cancel at least every 100 ms.
  [[nodiscard]] virtual Expected<LoadedModel> load(const std::string& path, MemoryBudget& budget,
                                                   LoadProgress& progress,
                                                   const LogSink& log) const = 0;
};

// GGUF files and Hugging Face folders.
class FileModelLoader final : public ModelLoader {
 public:
  [[nodiscard]] Expected<LoadedModel> load(const std::string& path, MemoryBudget& budget,
                                           LoadProgress& progress,
                                           const LogSink& log) const override;
};

}  // namespace ifr
