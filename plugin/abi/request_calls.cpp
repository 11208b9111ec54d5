// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "abi/arguments.h"
#include "abi/calls.h"
#include "abi/fence.h"

namespace ifr::abi {

namespace {

constexpr const char* kRoleNames[] = {"system", "user", "assistant"};
constexpr uint32_t kKnownFlags = IFR_REQUEST_PARSE_SPECIAL | IFR_REQUEST_IGNORE_END;

Expected<std::vector<ChatMessage>> read_messages(const ifr_request_info& info) {
  IFR_TRY(require_stride(info.message_stride, sizeof(ifr_message), "info.message_stride"));
  if (info.num_messages > kMaxMessages) {
    return make_error(Code::kInvalidArgument, Part::kAbi, "info.num_messages is %u, %u are allowed",
                      info.num_messages, kMaxMessages);
  }
  std::vector<ChatMessage> messages(info.num_messages);
  const auto* bytes = reinterpret_cast<const unsigned char*>(info.messages);
  for (uint32_t i = 0; i < info.num_messages; ++i) {
    ifr_message message = {};
    const unsigned char* record = bytes + static_cast<size_t>(i) * info.message_stride;
    uint32_t size = 0;
    std::memcpy(&size, record, sizeof size);
    if (size > info.message_stride) {
      return make_error(Code::kInvalidArgument, Part::kAbi,
                        "info.messages[%u]: struct_size %u is above message_stride %u", i, size,
                        info.message_stride);
    }
    IFR_TRY(read_struct(reinterpret_cast<const ifr_message*>(record), message, "info.messages[]"));
    IFR_TRY(
        require_range(message.role, IFR_ROLE_SYSTEM, IFR_ROLE_ASSISTANT, "info.messages[].role"));
    IFR_ASSIGN_OR_RETURN(messages[i].content,
                         read_string(message.content, kMaxTextBytes, "info.messages[].content"));
    messages[i].role = kRoleNames[message.role];
  }
  return messages;
}

// Which of the three forms is given.
Expected<PromptForm> prompt_form(const ifr_request_info& info) {
  const bool has_ids = info.token_ids != nullptr || info.num_token_ids != 0;
  const bool has_text = info.text.data != nullptr || info.text.size_bytes != 0;
  const bool has_messages = info.messages != nullptr || info.num_messages != 0;
  const int count = (has_ids ? 1 : 0) + (has_text ? 1 : 0) + (has_messages ? 1 : 0);
  if (count != 1) {
    return make_error(Code::kInvalidArgument, Part::kAbi,
                      "info: %d of token_ids, text and messages are given, exactly one is needed",
                      count);
  }
  IFR_TRY(require_buffer(info.token_ids, info.num_token_ids, "info.token_ids"));
  IFR_TRY(require_buffer(info.messages, info.num_messages, "info.messages"));
  return has_ids ? PromptForm::kTokenIds : has_text ? PromptForm::kText : PromptForm::kMessages;
}

SamplerParams sampling_options(const ifr_sampling& sampling) {
  SamplerParams options;
  options.temperature = sampling.temperature;
  options.top_k = sampling.top_k;
  options.top_p = sampling.top_p == 0.0F ? 1.0F : sampling.top_p;
  options.seed = sampling.use_seed != 0 ? sampling.seed : random_seed();
  return options;
}

ifr_event make_event(const Event& event) {
  ifr_event out = {};
  out.type = static_cast<int32_t>(event.type);
  out.model = event.model;
  out.session = event.session;
  out.request = event.request;
  out.token_id = event.token_id;
  out.position = event.position;
  out.certainty = static_cast<int32_t>(event.certainty);
  out.finish_reason = static_cast<int32_t>(event.finish_reason);
  out.result = make_result(event.code, event.part);
  out.text_bytes = event.text_bytes;
  out.raw_bytes = event.raw_bytes;
  static_assert(sizeof out.text == kEventTextCapacity && sizeof out.raw == kEventTextCapacity);
  std::memcpy(out.text, event.text.data(), event.text_bytes);
  std::memcpy(out.raw, event.raw.data(), event.raw_bytes);
  out.seed = event.seed;
  out.prompt_tokens = event.prompt_tokens;
  out.generated_tokens = event.generated_tokens;
  out.first_token_us = event.first_token_us;
  out.total_us = event.total_us;
  return out;
}

}  // namespace

ifr_result IFR_CALL request_submit(ifr_runtime* runtime, ifr_session session,
                                   const ifr_request_info* info, ifr_request* out_request) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    ifr_request_info known = {};
    IFR_TRY(read_struct(info, known, "info"));
    IFR_TRY(require_pointer(out_request, "out_request"));
    IFR_TRY(require_range(known.reserved, 0, 0, "info.reserved"));
    IFR_TRY(require_range(known.sampling.use_seed, 0, 1, "info.sampling.use_seed"));
    if ((known.flags & ~kKnownFlags) != 0) {
      return make_error(Code::kInvalidArgument, Part::kAbi, "info.flags 0x%x has unknown bits",
                        known.flags);
    }
    RequestSpec spec;
    IFR_ASSIGN_OR_RETURN(spec.form, prompt_form(known));
    std::vector<ChatMessage> messages;
    if (spec.form == PromptForm::kTokenIds) {
      spec.token_ids = {known.token_ids, static_cast<size_t>(known.num_token_ids)};
    } else if (spec.form == PromptForm::kText) {
      IFR_ASSIGN_OR_RETURN(spec.text, read_string(known.text, kMaxTextBytes, "info.text"));
    } else {
      IFR_ASSIGN_OR_RETURN(messages, read_messages(known));
      spec.messages = messages;
    }
    spec.special = (known.flags & IFR_REQUEST_PARSE_SPECIAL) != 0 ? SpecialTokens::kParse
                                                                  : SpecialTokens::kPlain;
    spec.end_tokens =
        (known.flags & IFR_REQUEST_IGNORE_END) != 0 ? EndTokens::kIgnore : EndTokens::kStop;
    spec.max_tokens = known.max_tokens;
    spec.sampling = sampling_options(known.sampling);
    IFR_ASSIGN_OR_RETURN(*out_request, self.submit(session, spec));
    return {};
  });
}

ifr_result IFR_CALL request_cancel(ifr_runtime* runtime, ifr_request request) {
  return with_runtime(runtime, [&](Runtime& self) { return self.cancel_request(request); });
}

ifr_result IFR_CALL poll(ifr_runtime* runtime, ifr_event* events, uint32_t event_stride,
                         uint32_t capacity, uint32_t* out_count) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_pointer(out_count, "out_count"));
    IFR_TRY(require_buffer(events, capacity, "events"));
    IFR_TRY(require_stride(event_stride, sizeof(ifr_event), "event_stride"));
    EventQueue& queue = self.events();
    if (!queue.begin_taking()) {
      return make_error(Code::kInvalidState, Part::kAbi,
                        "poll runs on another thread: one at a time may call it");
    }
    uint32_t count = 0;
    for (; count < capacity; ++count) {
      const Event* event = queue.front();
      if (event == nullptr) {
        break;
      }
      write_record(events, event_stride, count, make_event(*event));
      queue.pop();
    }
    queue.end_taking();
    if (count > 0) {
      self.note_polled();
    }
    *out_count = count;
    return {};
  });
}

}  // namespace ifr::abi
