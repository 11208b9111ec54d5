// SPDX-License-Identifier: Apache-2.0
#include "schedule/model_loader.h"

#include <algorithm>

namespace ifr {

namespace {

// Null where the file has no tokenizer. A tokenizer or chat form that this version does not know is
// no reason to refuse the model: token ids (or plain text) still work, and the log says why.
Expected<std::unique_ptr<TextCodec>> make_codec(const ModelFile& file, const LogSink& log) {
  const std::optional<TokenizerData>& data = file.tokenizer();
  if (!data) {
    return std::unique_ptr<TextCodec>();
  }
  Expected<Tokenizer> tokenizer = Tokenizer::create(*data);
  if (!tokenizer.is_ok()) {
    if (tokenizer.status().code() != Code::kUnsupported) {
      return tokenizer.status();
    }
    log.write(LogLevel::kWarning, "%s: %s. Only token ids can be submitted", file.path().c_str(),
              tokenizer.status().message().c_str());
    return std::unique_ptr<TextCodec>();
  }
  std::optional<ChatTemplate> chat;
  Expected<ChatTemplate> found = ChatTemplate::create(*tokenizer, data->chat_template);
  if (found.is_ok()) {
    chat = std::move(found).value();
  } else {
    log.write(LogLevel::kInfo, "%s: %s. Messages cannot be submitted", file.path().c_str(),
              found.status().message().c_str());
  }
  return std::unique_ptr<TextCodec>(
      std::make_unique<ModelTextCodec>(std::move(tokenizer).value(), std::move(chat)));
}

}  // namespace

Expected<LoadedModel> FileModelLoader::load(const std::string& path, MemoryBudget& budget,
                                            LoadProgress& progress, const LogSink& log) const {
  IFR_ASSIGN_OR_RETURN(std::unique_ptr<ModelFile> file, ModelFile::open(path));
  LoadedModel loaded;
  loaded.name = file->config().name;
  IFR_ASSIGN_OR_RETURN(loaded.codec, make_codec(*file, log));
  if (loaded.codec != nullptr) {
    const std::span<const int32_t> ids = loaded.codec->end_tokens();
    loaded.end_tokens.assign(ids.begin(), ids.end());
  } else if (const Qwen4ExpConfig* config = file->config().qwen4_exp(); config != nullptr) {
    loaded.end_tokens = config->eos_token_ids;
    std::sort(loaded.end_tokens.begin(), loaded.end_tokens.end());
  }
  IFR_ASSIGN_OR_RETURN(loaded.engine, Engine::load(std::move(file), budget, progress, log));
  return loaded;
}

}  // namespace ifr
