// SPDX-License-Identifier: Apache-2.0
// One prompt and its answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/sampler.h"
#include "model/chat_template.h"
#include "model/utf8_stream.h"
#include "schedule/session.h"

namespace ifr {

enum class EndTokens { kStop, kIgnore };
enum class PromptForm { kTokenIds, kText, kMessages };

// What the host asks for; views are read during the call only.
struct RequestSpec {
  PromptForm form = PromptForm::kTokenIds;
  std::span<const int32_t> token_ids;
  std::string_view text;
  std::span<const ChatMessage> messages;
  SpecialTokens special = SpecialTokens::kPlain;  // of text
  EndTokens end_tokens = EndTokens::kStop;
  int32_t max_tokens = 0;
  SamplerParams sampling;
};

struct Request {
  uint64_t handle = 0;
  uint64_t model = 0;  // handles, for events
  uint64_t session_handle = 0;
  SessionRef session;  // until it ends
  EndTokens end_tokens = EndTokens::kStop;
  int32_t max_tokens = 0;
  SamplerParams sampling;
  std::atomic<bool> cancel{false};

  // The worker's.
  bool started = false;
  Utf8Stream stream;
  std::string text;  // scratch of the current event
  int32_t prompt_tokens = 0;
  int32_t generated_tokens = 0;
  uint64_t prefill_ns = 0;
  uint64_t prefill_tokens = 0;
  uint64_t submit_ns = 0;
  uint64_t first_token_ns = 0;  // 0: none yet

  // Number of its FINISHED event, 0 while it runs; guarded by the worker's mutex. The handle is
  // closed when the host has taken that event.
  uint64_t finished_event = 0;
};

}  // namespace ifr
