// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "abi/arguments.h"
#include "abi/calls.h"
#include "abi/fence.h"

namespace ifr::abi {

namespace {

Expected<const TextCodec*> codec_of(const Model& model) {
  const TextCodec* codec = model.loaded.codec.get();
  if (codec == nullptr) {
    return make_error(Code::kUnsupported, Part::kAbi, "the model has no tokenizer");
  }
  return codec;
}

Status require_utf8_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return make_error(Code::kInvalidArgument, Part::kAbi,
                      "info.path is empty or has a NUL byte in it");
  }
  return {};
}

}  // namespace

ifr_result IFR_CALL model_load(ifr_runtime* runtime, const ifr_model_info* info,
                               ifr_model* out_model) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    ifr_model_info known = {};
    IFR_TRY(read_struct(info, known, "info"));
    IFR_TRY(require_pointer(out_model, "out_model"));
    IFR_TRY(require_range(known.reserved, 0, 0, "info.reserved"));
    IFR_ASSIGN_OR_RETURN(const std::string_view path,
                         read_string(known.path, kMaxPathBytes, "info.path"));
    IFR_TRY(require_utf8_path(path));
    IFR_ASSIGN_OR_RETURN(*out_model, self.load_model(std::string(path)));
    return {};
  });
}

ifr_result IFR_CALL model_status(ifr_runtime* runtime, ifr_model model,
                                 ifr_model_status* out_status) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(check_out_struct(out_status, "out_status"));
    IFR_ASSIGN_OR_RETURN(const ModelRef ref, self.model(model));
    ifr_model_status status = {};
    const ModelState state = ref->state.load(std::memory_order_acquire);
    status.state = static_cast<int32_t>(state);
    status.done_bytes = ref->progress.done_bytes.load(std::memory_order_relaxed);
    status.total_bytes = ref->progress.total_bytes.load(std::memory_order_relaxed);
    if (state == ModelState::kFailed) {
      status.result = result_of(ref->failure);
      copy_text(status.message, ref->failure.message());
    }
    write_struct(out_status, status);
    return {};
  });
}

ifr_result IFR_CALL model_cancel(ifr_runtime* runtime, ifr_model model) {
  return with_runtime(runtime, [&](Runtime& self) { return self.cancel_load(model); });
}

ifr_result IFR_CALL model_release(ifr_runtime* runtime, ifr_model model) {
  return with_runtime(runtime, [&](Runtime& self) { return self.release_model(model); });
}

ifr_result IFR_CALL model_describe(ifr_runtime* runtime, ifr_model model,
                                   ifr_model_description* out_description) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(check_out_struct(out_description, "out_description"));
    IFR_ASSIGN_OR_RETURN(const ModelRef ref, self.ready_model(model));
    const EngineInfo& info = ref->loaded.engine->info();
    const TextCodec* codec = ref->loaded.codec.get();
    ifr_model_description description = {};
    description.num_layers = info.num_layers;
    description.vocab_size = info.vocab_size;
    description.context_tokens = info.context_tokens;
    description.num_parameters = info.num_parameters;
    description.weight_bytes = info.weight_bytes;
    description.session_bytes = info.session_bytes;
    description.context_bytes_per_token = info.context_bytes_per_token;
    description.has_tokenizer = codec != nullptr ? 1 : 0;
    description.has_chat_form = codec != nullptr && codec->has_chat_form() ? 1 : 0;
    description.num_selecting_layers = static_cast<int32_t>(info.selecting_layers.size());
    description.selection_block_tokens = info.selection_block_tokens;
    description.selection_max_blocks = info.selection_max_blocks;
    copy_text(description.architecture, info.architecture);
    copy_text(description.name, ref->loaded.name);
    write_struct(out_description, description);
    return {};
  });
}

ifr_result IFR_CALL tokenize(ifr_runtime* runtime, ifr_model model, ifr_string text, uint32_t flags,
                             int32_t* ids, uint64_t capacity, uint64_t* out_count) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_pointer(out_count, "out_count"));
    IFR_TRY(require_buffer(ids, capacity, "ids"));
    IFR_TRY(require_range(flags, 0, IFR_REQUEST_PARSE_SPECIAL, "flags"));
    IFR_ASSIGN_OR_RETURN(const std::string_view view, read_string(text, kMaxTextBytes, "text"));
    IFR_ASSIGN_OR_RETURN(const ModelRef ref, self.ready_model(model));
    IFR_ASSIGN_OR_RETURN(const TextCodec* codec, codec_of(*ref));
    // As a part of a conversation: no beginning-of-sequence token.
    IFR_ASSIGN_OR_RETURN(
        const std::vector<int32_t> encoded,
        codec->encode(view, flags != 0 ? SpecialTokens::kParse : SpecialTokens::kPlain, -1));
    *out_count = encoded.size();
    IFR_TRY(check_capacity(encoded.size(), capacity, "ids"));
    if (capacity != 0 && !encoded.empty()) {
      std::memcpy(ids, encoded.data(), encoded.size() * sizeof(int32_t));
    }
    return {};
  });
}

ifr_result IFR_CALL detokenize(ifr_runtime* runtime, ifr_model model, const int32_t* ids,
                               uint64_t num_ids, char* text, uint64_t capacity,
                               uint64_t* out_bytes) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_pointer(out_bytes, "out_bytes"));
    IFR_TRY(require_buffer(ids, num_ids, "ids"));
    IFR_TRY(require_buffer(text, capacity, "text"));
    constexpr uint64_t kMostIds = uint64_t{1} << 28;
    if (num_ids > kMostIds) {
      return make_error(Code::kInvalidArgument, Part::kAbi, "num_ids is %llu, %llu are allowed",
                        static_cast<unsigned long long>(num_ids),
                        static_cast<unsigned long long>(kMostIds));
    }
    IFR_ASSIGN_OR_RETURN(const ModelRef ref, self.ready_model(model));
    IFR_ASSIGN_OR_RETURN(const TextCodec* codec, codec_of(*ref));
    const int32_t vocab_size = ref->loaded.engine->info().vocab_size;
    uint64_t count = 0;
    for (uint64_t i = 0; i < num_ids; ++i) {
      IFR_TRY(require_range(ids[i], 0, vocab_size - 1, "an id of ids"));
      count += codec->token_bytes(ids[i]).size();
    }
    *out_bytes = count;
    IFR_TRY(check_capacity(count, capacity, "bytes"));
    for (uint64_t i = 0; capacity != 0 && i < num_ids; ++i) {
      const std::string_view bytes = codec->token_bytes(ids[i]);
      std::memcpy(text, bytes.data(), bytes.size());
      text += bytes.size();
    }
    return {};
  });
}

ifr_result IFR_CALL model_selecting_layers(ifr_runtime* runtime, ifr_model model, int32_t* layers,
                                           uint32_t capacity, uint32_t* out_count) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_pointer(out_count, "out_count"));
    IFR_TRY(require_buffer(layers, capacity, "layers"));
    IFR_ASSIGN_OR_RETURN(const ModelRef ref, self.ready_model(model));
    const std::vector<int32_t>& selecting = ref->loaded.engine->info().selecting_layers;
    *out_count = static_cast<uint32_t>(selecting.size());
    IFR_TRY(check_capacity(selecting.size(), capacity, "layers"));
    if (capacity != 0 && !selecting.empty()) {
      std::memcpy(layers, selecting.data(), selecting.size() * sizeof(int32_t));
    }
    return {};
  });
}

}  // namespace ifr::abi
