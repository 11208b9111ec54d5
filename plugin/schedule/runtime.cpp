// SPDX-License-Identifier: Apache-2.0
#include "schedule/runtime.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "schedule/prompt.h"

namespace ifr {

namespace {

Status check_options(const RuntimeOptions& options) {
  if (options.num_threads < 0 || options.num_threads > kMaxThreads) {
    return make_error(Code::kInvalidArgument, Part::kSchedule,
                      "num_threads is %d, 0 (automatic) or 1..%d is needed", options.num_threads,
                      kMaxThreads);
  }
  if (options.event_capacity != 0 &&
      (options.event_capacity < kMinEventCapacity || options.event_capacity > kMaxEventCapacity)) {
    return make_error(Code::kInvalidArgument, Part::kSchedule,
                      "event_capacity is %u, 0 (%u) or %u..%u is needed", options.event_capacity,
                      kDefaultEventCapacity, kMinEventCapacity, kMaxEventCapacity);
  }
  return {};
}

// Holds a session's `busy` until the end of the scope, or for the worker.
class BusyClaim {
 public:
  explicit BusyClaim(Session& session)
      : session_(&session), held_(!session.busy.exchange(true, std::memory_order_acq_rel)) {}
  ~BusyClaim() {
    if (held_) {
      session_->busy.store(false, std::memory_order_release);
    }
  }
  BusyClaim(const BusyClaim&) = delete;
  BusyClaim& operator=(const BusyClaim&) = delete;

  [[nodiscard]] bool is_held() const { return held_; }
  void hand_over() { held_ = false; }

 private:
  Session* session_;
  bool held_;
};

// Takes a prompt back out of the conversation unless the worker has it.
class PromptRollback {
 public:
  explicit PromptRollback(Session& session)
      : session_(&session), num_tokens_(session.tokens.size()) {}
  ~PromptRollback() {
    if (session_ != nullptr) {
      const std::lock_guard lock(session_->tokens_mutex);
      session_->tokens.resize(num_tokens_);
      session_->used_tokens.store(static_cast<int32_t>(num_tokens_), std::memory_order_release);
    }
  }
  PromptRollback(const PromptRollback&) = delete;
  PromptRollback& operator=(const PromptRollback&) = delete;

  void keep() { session_ = nullptr; }

 private:
  Session* session_;
  size_t num_tokens_;
};

Status busy_error(const char* what) {
  return make_error(Code::kInvalidState, Part::kSchedule,
                    "%s while a request of the session runs: wait for its end or cancel it", what);
}

}  // namespace

Runtime::Runtime(const RuntimeOptions& options)
    : options_(options),
      budget_(options.memory_budget_bytes),
      events_(options.event_capacity != 0 ? options.event_capacity : kDefaultEventCapacity),
      models_(HandleKind::kModel, options.handle_tag),
      sessions_(HandleKind::kSession, options.handle_tag) {
  telemetry_.note_memory(budget_);
}

Expected<std::unique_ptr<Runtime>> Runtime::create(const RuntimeOptions& options,
                                                   std::unique_ptr<ModelLoader> loader) {
  IFR_TRY(check_options(options));
  int32_t num_threads = options.num_threads;
  if (num_threads == 0) {
    num_threads = std::clamp(num_usable_cores() - 1, 1, kMaxThreads);
  }
  try {
    std::unique_ptr<Runtime> runtime(new Runtime(options));
    runtime->loads_ =
        std::make_unique<LoadQueue>(LoadQueue::Services{.events = &runtime->events_,
                                                        .telemetry = &runtime->telemetry_,
                                                        .budget = &runtime->budget_,
                                                        .log = options.log,
                                                        .priority = options.priority},
                                    std::move(loader));
    runtime->worker_ =
        std::make_unique<Worker>(Worker::Services{.events = &runtime->events_,
                                                  .telemetry = &runtime->telemetry_,
                                                  .last_error = &runtime->last_error_,
                                                  .log = options.log,
                                                  .num_threads = num_threads,
                                                  .priority = options.priority,
                                                  .handle_tag = options.handle_tag});
    options.log.write(LogLevel::kInfo, "runtime: CPU backend, %d threads", num_threads);
    return runtime;
  } catch (const std::bad_alloc&) {
    return make_error(Code::kOutOfMemory, Part::kSchedule,
                      "the system has not enough memory for a runtime");
  } catch (const std::system_error& error) {
    return make_error(Code::kOutOfMemory, Part::kSchedule,
                      "the system refused one of %d threads: %s", num_threads + 1, error.what());
  }
}

Runtime::~Runtime() {
  // Both at once would be no faster: each waits only for what it has in flight.
  loads_.reset();
  worker_.reset();
  sessions_.for_each([this](Session& session) { (void)sessions_.close(session.handle); });
  models_.for_each([this](Model& model) { (void)models_.close(model.handle); });
}

Expected<uint64_t> Runtime::load_model(std::string path) {
  ModelRef model = models_.insert(std::make_unique<Model>(std::move(path), telemetry_, budget_));
  if (!model) {
    return make_error(Code::kInvalidState, Part::kSchedule,
                      "the runtime holds %u models, its most: release one", kMaxModels);
  }
  const uint64_t handle = model->handle;
  loads_->enqueue(std::move(model));
  return handle;
}

Expected<ModelRef> Runtime::model(uint64_t handle) {
  ModelRef ref = models_.find(handle);
  if (!ref) {
    return Handle::refusal(handle, HandleKind::kModel, options_.handle_tag);
  }
  return ref;
}

Expected<ModelRef> Runtime::ready_model(uint64_t handle) {
  IFR_ASSIGN_OR_RETURN(ModelRef ref, model(handle));
  const ModelState state = ref->state.load(std::memory_order_acquire);
  if (state == ModelState::kLoading) {
    return make_error(Code::kInvalidState, Part::kSchedule,
                      "the model is still loading: wait for IFR_EVENT_MODEL_READY");
  }
  if (state == ModelState::kFailed) {
    return make_error(Code::kInvalidState, Part::kSchedule, "the model failed to load: %s",
                      ref->failure.message().c_str());
  }
  return ref;
}

Status Runtime::cancel_load(uint64_t handle) {
  IFR_ASSIGN_OR_RETURN(const ModelRef ref, model(handle));
  loads_->cancel(*ref);
  return {};
}

Status Runtime::release_model(uint64_t handle) {
  IFR_ASSIGN_OR_RETURN(const ModelRef ref, model(handle));
  ref->released.store(true, std::memory_order_relaxed);
  if (!models_.close(handle)) {
    return Handle::refusal(handle, HandleKind::kModel, options_.handle_tag);
  }
  loads_->cancel(*ref);
  return {};
}

Expected<uint64_t> Runtime::create_session(uint64_t model_handle, int32_t context_tokens) {
  IFR_ASSIGN_OR_RETURN(ModelRef model, ready_model(model_handle));
  const EngineInfo& info = model->loaded.engine->info();
  if (context_tokens == 0) {
    context_tokens = std::min(info.context_tokens, kDefaultContextTokens);
  }
  if (context_tokens < 1 || context_tokens > info.context_tokens) {
    return make_error(Code::kInvalidArgument, Part::kSchedule,
                      "context_tokens is %d, 0 (automatic) or 1..%d (the model's) is needed",
                      context_tokens, info.context_tokens);
  }
  const Engine& engine = *model->loaded.engine;
  auto session = std::make_unique<Session>(std::move(model));
  IFR_ASSIGN_OR_RETURN(session->sequence, engine.create_sequence(context_tokens));
  IFR_ASSIGN_OR_RETURN(
      session->selections,
      SelectionHistory::create(info.selecting_layers, info.selection_max_blocks, budget_));
  session->context_tokens = context_tokens;
  session->tokens.reserve(static_cast<size_t>(context_tokens));
  telemetry_.note_memory(budget_);
  const SessionRef ref = sessions_.insert(std::move(session));
  if (!ref) {
    return make_error(Code::kInvalidState, Part::kSchedule,
                      "the runtime holds %u sessions, its most: destroy one", kMaxSessions);
  }
  return ref->handle;
}

Expected<SessionRef> Runtime::session(uint64_t handle) {
  SessionRef ref = sessions_.find(handle);
  if (!ref) {
    return Handle::refusal(handle, HandleKind::kSession, options_.handle_tag);
  }
  return ref;
}

Status Runtime::destroy_session(uint64_t handle) {
  IFR_ASSIGN_OR_RETURN(const SessionRef ref, session(handle));
  ref->closing.store(true, std::memory_order_relaxed);
  if (!sessions_.close(handle)) {
    return Handle::refusal(handle, HandleKind::kSession, options_.handle_tag);
  }
  worker_->wake();
  return {};
}

Status Runtime::reset_session(uint64_t handle) {
  IFR_ASSIGN_OR_RETURN(const SessionRef ref, session(handle));
  const BusyClaim claim(*ref);
  if (!claim.is_held()) {
    return busy_error("session_reset");
  }
  ref->sequence->reset();
  ref->selections->forget();
  const std::lock_guard lock(ref->tokens_mutex);
  ref->tokens.clear();
  ref->used_tokens.store(0, std::memory_order_release);
  return {};
}

Expected<size_t> Runtime::copy_tokens(uint64_t handle, int32_t first, std::span<int32_t> out) {
  IFR_ASSIGN_OR_RETURN(const SessionRef ref, session(handle));
  if (first < 0) {
    return make_error(Code::kInvalidArgument, Part::kSchedule, "first is %d, 0 or more is needed",
                      first);
  }
  const std::lock_guard lock(ref->tokens_mutex);
  const std::vector<int32_t>& tokens = ref->tokens;
  const size_t begin = std::min(static_cast<size_t>(first), tokens.size());
  const size_t count = std::min(out.size(), tokens.size() - begin);
  std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(begin), count, out.begin());
  return count;
}

Expected<int32_t> Runtime::append_prompt(Session& session, const RequestSpec& spec) {
  IFR_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, encode_request(session, spec));
  const std::lock_guard lock(session.tokens_mutex);
  session.tokens.insert(session.tokens.end(), ids.begin(), ids.end());  // within its capacity
  session.used_tokens.store(static_cast<int32_t>(session.tokens.size()), std::memory_order_release);
  return static_cast<int32_t>(ids.size());
}

Expected<uint64_t> Runtime::submit(uint64_t session_handle, const RequestSpec& spec) {
  const uint64_t now_ns = monotonic_ns();
  IFR_ASSIGN_OR_RETURN(SessionRef ref, session(session_handle));
  IFR_TRY(check_request(spec));
  Session& session = *ref;
  const SessionRef kept = ref.share();  // outlives the claim below
  BusyClaim claim(session);
  if (!claim.is_held()) {
    return busy_error("request_submit");
  }
  PromptRollback rollback(session);
  auto request = std::make_unique<Request>();
  constexpr size_t kTextReserve = 1024;
  request->text.reserve(kTextReserve);
  request->model = session.model->handle;
  request->session_handle = session_handle;
  request->end_tokens = spec.end_tokens;
  request->max_tokens = spec.max_tokens;
  request->sampling = spec.sampling;
  request->submit_ns = now_ns;
  request->session = std::move(ref);
  IFR_ASSIGN_OR_RETURN(request->prompt_tokens, append_prompt(session, spec));
  const uint64_t handle = worker_->submit(std::move(request));
  // The worker may have ended it already: nothing of the session is touched from here on.
  rollback.keep();
  claim.hand_over();
  return handle;
}

Status Runtime::cancel_request(uint64_t request) {
  return worker_->cancel(request);
}

}  // namespace ifr
