// SPDX-License-Identifier: Apache-2.0
#include "schedule/load_queue.h"

#include <algorithm>
#include <exception>
#include <new>

#include "schedule/step_limits.h"

namespace ifr {

namespace {

Status make_buffers(const Engine& engine, MemoryBudget& budget, StepBuffers& buffers) {
  const int32_t vocab_size = engine.info().vocab_size;
  IFR_ASSIGN_OR_RETURN(buffers.workspace, engine.create_workspace(kMaxChunkTokens));
  IFR_ASSIGN_OR_RETURN(buffers.sampler, Sampler::create(budget, vocab_size));
  const size_t vocab_len = static_cast<size_t>(vocab_size);
  IFR_ASSIGN_OR_RETURN(
      buffers.logits_reservation,
      budget.reserve(MemoryKind::kState, vocab_len * sizeof(float), "a model's logits"));
  buffers.logits.resize(vocab_len);
  return {};
}

}  // namespace

LoadQueue::LoadQueue(const Services& services, std::unique_ptr<ModelLoader> loader)
    : services_(services), loader_(std::move(loader)), thread_([this] { run(); }) {}

LoadQueue::~LoadQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (current_ != nullptr) {
      current_->progress.cancel.store(true, std::memory_order_relaxed);
    }
  }
  work_.notify_all();
  thread_.join();
}

void LoadQueue::enqueue(ModelRef model) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(model));
  }
  work_.notify_one();
}

void LoadQueue::cancel(Model& model) {
  ModelRef removed;  // dropped after the lock
  const std::lock_guard lock(mutex_);
  if (model.state.load(std::memory_order_relaxed) != ModelState::kLoading) {
    return;
  }
  model.progress.cancel.store(true, std::memory_order_relaxed);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const ModelRef& entry) { return &*entry == &model; });
  if (found != waiting_.end()) {
    removed = std::move(*found);
    waiting_.erase(found);
    finish_locked(model,
                  make_error(Code::kCancelled, Part::kSchedule,
                             "loading '%s' was cancelled before it began", model.path.c_str()));
  }
}

Status LoadQueue::load(Model& model) {
  // The file's readers may use libraries that throw.
  try {
    IFR_ASSIGN_OR_RETURN(
        model.loaded, loader_->load(model.path, *services_.budget, model.progress, services_.log));
    return make_buffers(*model.loaded.engine, *services_.budget, model.buffers);
  } catch (const std::bad_alloc&) {
    return make_error(Code::kOutOfMemory, Part::kSchedule,
                      "the system has not enough memory to load '%s'", model.path.c_str());
  } catch (const std::exception& error) {
    return make_error(Code::kInternal, Part::kSchedule, "loading '%s' failed: %s",
                      model.path.c_str(), error.what());
  }
}

void LoadQueue::finish_locked(Model& model, Status status) {
  if (status.is_ok() && model.progress.cancel.load(std::memory_order_relaxed)) {
    status = make_error(Code::kCancelled, Part::kSchedule, "loading '%s' was cancelled",
                        model.path.c_str());
  }
  if (!status.is_ok()) {
    model.buffers = {};
    model.loaded = {};
  }
  services_.telemetry->note_memory(*services_.budget);
  Event event;
  event.type = status.is_ok() ? EventType::kModelReady : EventType::kModelFailed;
  event.model = model.handle;
  event.code = status.code();
  event.part = status.part();
  const ModelState state = status.is_ok() ? ModelState::kReady : ModelState::kFailed;
  if (state == ModelState::kReady) {
    services_.log.write(LogLevel::kInfo, "loaded '%s'", model.path.c_str());
  } else if (status.code() != Code::kCancelled) {
    services_.log.write(LogLevel::kError, "%s", status.message().c_str());
  }
  model.failure = std::move(status);
  model.state.store(state, std::memory_order_release);
  // After its release the host has no handle that an event could speak of.
  if (!model.released.load(std::memory_order_relaxed)) {
    services_.events->push(event);
  }
}

void LoadQueue::run() {
  set_current_thread_name("ifr-load");
  (void)set_current_thread_priority(services_.priority);
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) {
      break;
    }
    ModelRef model = std::move(waiting_.front());
    waiting_.pop_front();
    current_ = &*model;
    lock.unlock();
    Status status = load(*model);
    lock.lock();
    current_ = nullptr;
    finish_locked(*model, std::move(status));
    lock.unlock();
    model.reset();  // frees it here when nobody else wants it
    lock.lock();
  }
  waiting_.clear();
}

}  // namespace ifr
