// SPDX-License-Identifier: Apache-2.0
// One quantum: a chunk of a prompt, or one token of an answer.
#include <algorithm>
#include <exception>

#include "schedule/step_limits.h"
#include "schedule/worker.h"

namespace ifr {

namespace {

// Longest beginning of `text` (whole characters) that fits an event.
std::string_view text_that_fits(std::string_view text) {
  size_t length = std::min(text.size(), kEventTextCapacity);
  while (length < text.size() && length > 0 &&
         (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  return text.substr(0, length);
}

void set_text(Event& event, std::string_view text) {
  std::copy(text.begin(), text.end(), event.text.begin());
  event.text_bytes = static_cast<uint32_t>(text.size());
}

// A short rest of a prompt says little: it reads all weights for a few tokens.
void note_chunk_cost(StepBuffers& buffers, int32_t chunk, int32_t unfed, uint64_t elapsed_ns) {
  constexpr int32_t kTellingTokens = 8;
  if (chunk == unfed && chunk < kTellingTokens) {
    return;
  }
  const double cost = static_cast<double>(elapsed_ns) / chunk;
  double& known = buffers.ns_per_prompt_token;
  known = known == 0.0 ? cost : 0.5 * (known + cost);
}

}  // namespace

Worker::Progress Worker::run_quantum(Request& request) {
  Session& session = *request.session;
  if (request.cancel.load(std::memory_order_relaxed) ||
      session.closing.load(std::memory_order_relaxed)) {
    return end(request, {.reason = FinishReason::kCancelled});
  }
  StepBuffers& buffers = session.model->buffers;
  const int32_t unfed =
      static_cast<int32_t>(session.tokens.size()) - session.sequence->num_tokens();
  const int32_t chunk = chunk_tokens(unfed, buffers.ns_per_prompt_token);
  const bool is_last = chunk == unfed;
  const bool is_prompt = request.generated_tokens == 0;

  Telemetry& telemetry = *services_.telemetry;
  telemetry.begin_step(session.selections.get());
  const uint64_t begin_ns = monotonic_ns();
  const Status fed = feed(request, chunk, is_last);
  if (!fed.is_ok()) {
    return fail(request, fed);
  }
  if (is_prompt) {
    const uint64_t elapsed_ns = monotonic_ns() - begin_ns;
    note_chunk_cost(buffers, chunk, unfed, elapsed_ns);
    request.prefill_ns += elapsed_ns;
    request.prefill_tokens += static_cast<uint64_t>(chunk);
  }
  int32_t token_id = -1;
  if (is_last) {
    const Expected<int32_t> sampled = sample(request);
    if (!sampled.is_ok()) {
      return fail(request, sampled.status());
    }
    token_id = *sampled;
  }
  const uint64_t end_ns = monotonic_ns();
  if (is_last && request.first_token_ns == 0) {
    request.first_token_ns = end_ns;
    telemetry.note_first_token({.latency_ns = end_ns - request.submit_ns,
                                .prefill_ns = request.prefill_ns,
                                .prefill_tokens = request.prefill_tokens});
  }
  telemetry.end_step(
      {.model = request.model,
       .session = request.session_handle,
       .context_tokens = session.context_tokens,
       .used_tokens = static_cast<int32_t>(session.tokens.size()) + (is_last ? 1 : 0),
       .prompt_tokens = is_prompt ? chunk : 0,
       .generated_tokens = is_last ? 1 : 0,
       .begin_ns = begin_ns,
       .end_ns = end_ns});
  return is_last ? take_token(request, token_id) : Progress::kGoesOn;
}

Status Worker::feed(Request& request, int32_t num_tokens, bool is_last) {
  Session& session = *request.session;
  StepBuffers& buffers = session.model->buffers;
  StepOptions options;
  options.logits_rows = is_last ? LogitsRows::kLast : LogitsRows::kNone;
  options.observer = services_.telemetry->enabled() ? services_.telemetry : nullptr;
  const std::span<const int32_t> unfed =
      std::span<const int32_t>(session.tokens)
          .subspan(static_cast<size_t>(session.sequence->num_tokens()),
                   static_cast<size_t>(num_tokens));
  const std::span<float> logits = is_last ? std::span<float>(buffers.logits) : std::span<float>();
  try {
    return session.model->loaded.engine->step(*session.sequence, *buffers.workspace, *executor_,
                                              unfed, options, logits);
  } catch (const std::exception& error) {
    return make_error(Code::kInternal, Part::kSchedule, "a step threw: %s", error.what());
  }
}

Expected<int32_t> Worker::sample(Request& request) {
  const Session& session = *request.session;
  StepBuffers& buffers = session.model->buffers;
  return buffers.sampler->sample(buffers.logits, static_cast<int64_t>(session.tokens.size()),
                                 request.sampling, *executor_,
                                 services_.telemetry->enabled() ? services_.telemetry : nullptr);
}

Worker::Progress Worker::take_token(Request& request, int32_t token_id) {
  Session& session = *request.session;
  const LoadedModel& loaded = session.model->loaded;
  const auto position = static_cast<int32_t>(session.tokens.size());
  {
    const std::lock_guard lock(session.tokens_mutex);
    session.tokens.push_back(token_id);
  }
  session.used_tokens.store(position + 1, std::memory_order_release);
  ++request.generated_tokens;

  const bool is_end =
      request.end_tokens == EndTokens::kStop &&
      std::binary_search(loaded.end_tokens.begin(), loaded.end_tokens.end(), token_id);
  std::string_view raw;
  request.text.clear();
  if (loaded.codec != nullptr && !is_end && !loaded.codec->is_control(token_id)) {
    raw = loaded.codec->token_bytes(token_id);
    request.stream.push(raw, request.text);
  }
  emit_token(request, token_id, position, request.text, raw);

  if (is_end) {
    return end(request, {.reason = FinishReason::kEndToken});
  }
  if (request.generated_tokens >= request.max_tokens) {
    return end(request, {.reason = FinishReason::kMaxTokens});
  }
  if (position + 1 >= session.context_tokens) {
    return end(request, {.reason = FinishReason::kContext});
  }
  return Progress::kGoesOn;
}

void Worker::emit_token(const Request& request, int32_t token_id, int32_t position,
                        std::string_view text, std::string_view raw) {
  Event event;
  event.type = EventType::kToken;
  event.model = request.model;
  event.session = request.session_handle;
  event.request = request.handle;
  event.token_id = token_id;
  event.position = position;
  do {
    const std::string_view text_part = text_that_fits(text);
    const std::string_view raw_part = raw.substr(0, kEventTextCapacity);
    set_text(event, text_part);
    std::copy(raw_part.begin(), raw_part.end(), event.raw.begin());
    event.raw_bytes = static_cast<uint32_t>(raw_part.size());
    (void)services_.events->push(event);
    text.remove_prefix(text_part.size());
    raw.remove_prefix(raw_part.size());
    event.token_id = -1;
  } while (!text.empty() || !raw.empty());
}

Worker::Progress Worker::end(Request& request, Ending ending) {
  const uint64_t now_ns = monotonic_ns();
  Event event;
  event.type = EventType::kFinished;
  event.model = request.model;
  event.session = request.session_handle;
  event.request = request.handle;
  event.certainty = Certainty::kDone;
  event.finish_reason = ending.reason;
  event.code = ending.code;
  event.part = ending.part;
  request.text.clear();
  request.stream.finish(request.text);
  set_text(event, request.text);
  event.seed = request.sampling.seed;
  event.prompt_tokens = request.prompt_tokens;
  event.generated_tokens = request.generated_tokens;
  event.first_token_us =
      request.first_token_ns != 0 ? (request.first_token_ns - request.submit_ns) / 1000 : 0;
  event.total_us = (now_ns - request.submit_ns) / 1000;
  // Before the event: whoever polls it may submit the next prompt at once.
  request.session->busy.store(false, std::memory_order_release);
  request.session.reset();
  const std::lock_guard lock(mutex_);
  // In one go: from its event on, the request may be forgotten (and freed) by any submit.
  active_.erase(std::find(active_.begin(), active_.end(), &request));
  request.finished_event = services_.events->push(event);
  return Progress::kEnded;
}

Worker::Progress Worker::fail(Request& request, const Status& status) {
  services_.telemetry->begin_step(nullptr);
  services_.last_error->set(status.message());
  services_.log.write(LogLevel::kError, "a request failed: %s", status.message().c_str());
  return end(request,
             {.reason = FinishReason::kError, .code = status.code(), .part = status.part()});
}

}  // namespace ifr
