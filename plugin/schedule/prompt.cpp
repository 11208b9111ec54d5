// SPDX-License-Identifier: Apache-2.0
#include "schedule/prompt.h"

#include <optional>

#include "base/checked_math.h"

namespace ifr {

namespace {

std::optional<int32_t> last_id(const Session& session) {
  return session.tokens.empty() ? std::nullopt : std::optional(session.tokens.back());
}

Status check_fits(const Session& session, uint64_t prompt_tokens) {
  const uint64_t used = session.tokens.size();
  const auto context = static_cast<uint64_t>(session.context_tokens);
  // used <= context, so the right side does not wrap; prompt_tokens may be anything.
  if (used < context && prompt_tokens <= context - used - 1) {
    return {};
  }
  const uint64_t needed = checked_add<uint64_t>(prompt_tokens, 1).value_or(prompt_tokens);
  return make_error(
      Code::kContextFull, Part::kSchedule,
      "a prompt of %llu tokens and at least one of answer need %llu tokens, %llu are "
      "available: the session's context has %llu, its conversation holds %llu. "
      "Shorten the prompt, reset the session or create one with a larger context",
      static_cast<unsigned long long>(prompt_tokens), static_cast<unsigned long long>(needed),
      static_cast<unsigned long long>(context - used), static_cast<unsigned long long>(context),
      static_cast<unsigned long long>(used));
}

Expected<std::vector<int32_t>> copy_ids(const Session& session, std::span<const int32_t> ids) {
  // Before a single id is read: a wrong count must not be followed into foreign memory.
  IFR_TRY(check_fits(session, ids.size()));
  const int32_t vocab_size = session.model->loaded.engine->info().vocab_size;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab_size) {
      return make_error(Code::kInvalidArgument, Part::kSchedule,
                        "token_ids[%zu] is %d, the vocabulary has 0..%d", i, ids[i],
                        vocab_size - 1);
    }
  }
  return std::vector<int32_t>(ids.begin(), ids.end());
}

}  // namespace

Status check_request(const RequestSpec& spec) {
  if (spec.max_tokens < 1) {
    return make_error(Code::kInvalidArgument, Part::kSchedule,
                      "max_tokens is %d, at least 1 is needed", spec.max_tokens);
  }
  return check_sampler_params(spec.sampling);
}

Expected<std::vector<int32_t>> encode_request(const Session& session, const RequestSpec& spec) {
  const TextCodec* codec = session.model->loaded.codec.get();
  if (codec == nullptr && spec.form != PromptForm::kTokenIds) {
    return make_error(Code::kUnsupported, Part::kSchedule,
                      "the model has no tokenizer: submit token_ids");
  }
  std::vector<int32_t> ids;
  switch (spec.form) {
    case PromptForm::kTokenIds: {
      IFR_ASSIGN_OR_RETURN(ids, copy_ids(session, spec.token_ids));
      break;
    }
    case PromptForm::kText: {
      IFR_ASSIGN_OR_RETURN(ids, codec->encode(spec.text, spec.special, last_id(session)));
      break;
    }
    case PromptForm::kMessages: {
      IFR_ASSIGN_OR_RETURN(ids, codec->encode_messages(spec.messages, last_id(session)));
      break;
    }
  }
  IFR_TRY(check_fits(session, ids.size()));
  const auto num_fed = static_cast<size_t>(session.sequence->num_tokens());
  if (ids.empty() && num_fed >= session.tokens.size()) {
    return make_error(Code::kInvalidArgument, Part::kSchedule,
                      "the prompt is empty and the session has nothing to go on from");
  }
  return ids;
}

}  // namespace ifr
