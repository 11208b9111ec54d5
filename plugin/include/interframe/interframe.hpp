// SPDX-License-Identifier: Apache-2.0
// interframe.h for C++20 hosts: owners that close what they opened, errors as values, nothing
// thrown. Header only; every call goes through the table of one Library. The comments of
// interframe.h hold; here stands only what differs.
//
// Lifetimes: a Library outlives its Runtimes, a Runtime its Models and Sessions. Request is a plain
// handle, closed by its last event.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interframe/interframe.h"

#if defined(_WIN32)
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace interframe {

struct Error {
  ifr_result result = {};
  std::string message;
};

// A T, or why there is none. Looking at value() of a failure is a programmer's error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return value_.has_value(); }
  [[nodiscard]] bool is_ok() const { return value_.has_value(); }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
  Error error_;
};

struct Done {};
using Outcome = Result<Done>;

// A struct of interframe.h, zero but for its size.
template <typename T>
[[nodiscard]] T make() {
  T value{};
  value.struct_size = static_cast<uint32_t>(sizeof(T));
  return value;
}

[[nodiscard]] inline ifr_string to_ifr_string(std::string_view text) {
  return {text.data(), text.size()};
}

[[nodiscard]] inline std::string_view text_of(const ifr_event& event) {
  return {event.text, event.text_bytes};
}

namespace detail {

[[nodiscard]] inline std::string last_error(const ifr_api& api, ifr_runtime* runtime) {
  std::array<char, 1024> text{};
  if (api.last_error(runtime, text.data(), text.size(), nullptr).code != IFR_OK) {
    return "the runtime is not there any more";
  }
  return text.data();
}

[[nodiscard]] inline Error error_of(const ifr_api& api, ifr_runtime* runtime, ifr_result result) {
  return {result, last_error(api, runtime)};
}

[[nodiscard]] inline Outcome outcome(const ifr_api& api, ifr_runtime* runtime, ifr_result result) {
  if (result.code != IFR_OK) {
    return error_of(api, runtime, result);
  }
  return Done{};
}

// What Runtime, Model and Session share: move-only, closed once.
class Owner {
 public:
  Owner(const ifr_api* api, ifr_runtime* runtime, uint64_t handle)
      : api_(api), runtime_(runtime), handle_(handle) {}
  Owner(Owner&& other) noexcept
      : api_(other.api_), runtime_(other.runtime_), handle_(std::exchange(other.handle_, 0)) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  Owner& operator=(Owner&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(runtime_, other.runtime_);
    std::swap(handle_, other.handle_);
    return *this;
  }

  [[nodiscard]] uint64_t handle() const { return handle_; }

 protected:
  ~Owner() = default;
  [[nodiscard]] Error fail(ifr_result result) const { return error_of(*api_, runtime_, result); }
  [[nodiscard]] Outcome done(ifr_result result) const { return outcome(*api_, runtime_, result); }

  const ifr_api* api_;
  ifr_runtime* runtime_;
  uint64_t handle_;
};

}  // namespace detail

// The opened shared library and its table. Closed by the destructor.
class Library {
 public:
  [[nodiscard]] static Result<Library> open(const char* path) {
#if defined(_WIN32)
    void* handle = static_cast<void*>(LoadLibraryA(path));
    if (handle == nullptr) {
      return Error{
          {IFR_ERROR_NOT_FOUND, IFR_PART_NONE},
          std::string("cannot open ") + path + ": error " + std::to_string(GetLastError())};
    }
    void* symbol =
        reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle), "ifr_get_api"));
#else
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = dlerror();
      return Error{{IFR_ERROR_NOT_FOUND, IFR_PART_NONE}, why != nullptr ? why : path};
    }
    void* symbol = dlsym(handle, "ifr_get_api");
#endif
    Library library(handle);
    const auto get_api = reinterpret_cast<ifr_get_api_function>(symbol);
    if (get_api == nullptr) {
      return Error{{IFR_ERROR_NOT_FOUND, IFR_PART_NONE},
                   std::string(path) + " has no ifr_get_api: it is not Interframe"};
    }
    const ifr_result result = get_api(IFR_ABI_VERSION, &library.api_);
    if (result.code != IFR_OK) {
      return Error{result, std::string(path) + " does not serve ABI version " +
                               std::to_string(IFR_ABI_VERSION)};
    }
    return library;
  }

  Library(Library&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), api_(other.api_) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library& operator=(Library&&) = delete;
  ~Library() {
    if (handle_ != nullptr) {
#if defined(_WIN32)
      FreeLibrary(static_cast<HMODULE>(handle_));
#else
      dlclose(handle_);
#endif
    }
  }

  // Valid while the library is open and not moved from.
  [[nodiscard]] const ifr_api& api() const {
    return api_;
  }

  [[nodiscard]] Result<ifr_backend_info> query_backend(int32_t backend) const {
    ifr_backend_info info = make<ifr_backend_info>();
    const ifr_result result = api_.backend_query(backend, &info);
    if (result.code != IFR_OK) {
      return Error{result, "there is no such backend"};
    }
    return info;
  }

 private:
  explicit Library(void* handle) : handle_(handle), api_(make<ifr_api>()) {}
  void* handle_ = nullptr;
  ifr_api api_;
};

class Request {
 public:
  Request(const ifr_api* api, ifr_runtime* runtime, ifr_request handle)
      : api_(api), runtime_(runtime), handle_(handle) {}

  [[nodiscard]] ifr_request handle() const { return handle_; }
  Outcome cancel() const {
    return detail::outcome(*api_, runtime_, api_->request_cancel(runtime_, handle_));
  }

 private:
  const ifr_api* api_;
  ifr_runtime* runtime_;
  ifr_request handle_;
};

struct Message {
  int32_t role = IFR_ROLE_USER;
  std::string_view content;
};

struct RequestOptions {
  int32_t max_tokens = 256;
  uint32_t flags = 0;  // IFR_REQUEST_*
  float temperature = 0.0F;
  float top_p = 1.0F;
  int32_t top_k = 0;
  std::optional<uint64_t> seed = std::nullopt;  // nothing: the plugin draws one
};

class Session : public detail::Owner {
 public:
  using Owner::Owner;
  Session(Session&&) noexcept = default;
  Session& operator=(Session&&) noexcept = default;
  ~Session() {
    if (handle_ != 0) {
      (void)api_->session_destroy(runtime_, handle_);
    }
  }

  [[nodiscard]] Result<Request> submit_text(std::string_view text, const RequestOptions& options) {
    ifr_request_info info = request_info(options);
    // Not null, also where the text is empty: that means to go on.
    info.text = {text.data() != nullptr ? text.data() : "", text.size()};
    return submit(info);
  }
  [[nodiscard]] Result<Request> submit_ids(std::span<const int32_t> ids,
                                           const RequestOptions& options) {
    ifr_request_info info = request_info(options);
    info.token_ids = ids.data();
    info.num_token_ids = ids.size();
    return submit(info);
  }
  [[nodiscard]] Result<Request> submit_messages(std::span<const Message> messages,
                                                const RequestOptions& options) {
    std::vector<ifr_message> records(messages.size(), make<ifr_message>());
    for (size_t i = 0; i < messages.size(); ++i) {
      records[i].role = messages[i].role;
      records[i].content = to_ifr_string(messages[i].content);
    }
    ifr_request_info info = request_info(options);
    info.messages = records.data();
    info.num_messages = static_cast<uint32_t>(records.size());
    info.message_stride = static_cast<uint32_t>(sizeof(ifr_message));
    return submit(info);
  }
  [[nodiscard]] Result<Request> submit(const ifr_request_info& info) {
    ifr_request request = 0;
    const ifr_result result = api_->request_submit(runtime_, handle_, &info, &request);
    if (result.code != IFR_OK) {
      return fail(result);
    }
    return Request(api_, runtime_, request);
  }

  Outcome reset() { return done(api_->session_reset(runtime_, handle_)); }
  [[nodiscard]] Result<ifr_session_status> status() const {
    ifr_session_status status = make<ifr_session_status>();
    const ifr_result result = api_->session_status(runtime_, handle_, &status);
    if (result.code != IFR_OK) {
      return fail(result);
    }
    return status;
  }
  // Of the whole conversation so far.
  [[nodiscard]] Result<std::vector<int32_t>> tokens() const {
    const Result<ifr_session_status> known = status();
    if (!known) {
      return known.error();
    }
    std::vector<int32_t> ids(static_cast<size_t>(known->used_tokens));
    uint32_t count = 0;
    const ifr_result result = api_->session_tokens(runtime_, handle_, 0, ids.data(),
                                                   static_cast<uint32_t>(ids.size()), &count);
    if (result.code != IFR_OK) {
      return fail(result);
    }
    ids.resize(count);
    return ids;
  }
  // `read` with its buffers; num_rows, next_sequence and num_lost_rows are filled.
  Outcome selections(ifr_selection_read& read) const {
    return done(api_->telemetry_selections(runtime_, handle_, &read));
  }

 private:
  [[nodiscard]] static ifr_request_info request_info(const RequestOptions& options) {
    ifr_request_info info = make<ifr_request_info>();
    info.flags = options.flags;
    info.max_tokens = options.max_tokens;
    info.sampling.temperature = options.temperature;
    info.sampling.top_p = options.top_p;
    info.sampling.top_k = options.top_k;
    info.sampling.use_seed = options.seed ? 1 : 0;
    info.sampling.seed = options.seed.value_or(0);
    return info;
  }
};

class Model : public detail::Owner {
 public:
  using Owner::Owner;
  Model(Model&&) noexcept = default;
  Model& operator=(Model&&) noexcept = default;
  ~Model() {
    if (handle_ != 0) {
      (void)api_->model_release(runtime_, handle_);
    }
  }

  [[nodiscard]] Result<ifr_model_status> status() const {
    ifr_model_status status = make<ifr_model_status>();
    const ifr_result result = api_->model_status(runtime_, handle_, &status);
    if (result.code != IFR_OK) {
      return fail(result);
    }
    return status;
  }
  Outcome cancel() { return done(api_->model_cancel(runtime_, handle_)); }
  [[nodiscard]] Result<ifr_model_description> describe() const {
    ifr_model_description description = make<ifr_model_description>();
    const ifr_result result = api_->model_describe(runtime_, handle_, &description);
    if (result.code != IFR_OK) {
      return fail(result);
    }
    return description;
  }
  [[nodiscard]] Result<std::vector<int32_t>> selecting_layers() const {
    uint32_t count = 0;
    ifr_result result = api_->model_selecting_layers(runtime_, handle_, nullptr, 0, &count);
    std::vector<int32_t> layers(count);
    if (result.code == IFR_OK && count != 0) {
      result = api_->model_selecting_layers(runtime_, handle_, layers.data(), count, &count);
    }
    if (result.code != IFR_OK) {
      return fail(result);
    }
    return layers;
  }
  // flags: IFR_REQUEST_PARSE_SPECIAL.
  [[nodiscard]] Result<std::vector<int32_t>> tokenize(std::string_view text,
                                                      uint32_t flags = 0) const {
    // A token holds at least one byte, so one call is enough.
    std::vector<int32_t> ids(text.size() + 1);
    uint64_t count = 0;
    const ifr_result result = api_->tokenize(runtime_, handle_, to_ifr_string(text), flags,
                                             ids.data(), ids.size(), &count);
    if (result.code != IFR_OK) {
      return fail(result);
    }
    ids.resize(static_cast<size_t>(count));
    return ids;
  }
  [[nodiscard]] Result<std::string> detokenize(std::span<const int32_t> ids) const {
    uint64_t count = 0;
    ifr_result result =
        api_->detokenize(runtime_, handle_, ids.data(), ids.size(), nullptr, 0, &count);
    std::string text(static_cast<size_t>(count), '\0');
    if (result.code == IFR_OK && count != 0) {
      result = api_->detokenize(runtime_, handle_, ids.data(), ids.size(), text.data(), text.size(),
                                &count);
    }
    if (result.code != IFR_OK) {
      return fail(result);
    }
    return text;
  }
  // context_tokens 0: the smaller of the model's and 4096.
  [[nodiscard]] Result<Session> create_session(int32_t context_tokens = 0) const {
    ifr_session_info info = make<ifr_session_info>();
    info.context_tokens = context_tokens;
    ifr_session session = 0;
    const ifr_result result = api_->session_create(runtime_, handle_, &info, &session);
    if (result.code != IFR_OK) {
      return fail(result);
    }
    return Session(api_, runtime_, session);
  }
};

class Runtime {
 public:
  // `info` from make<ifr_runtime_info>(); its error_text is not used.
  [[nodiscard]] static Result<Runtime> create(const Library& library, ifr_runtime_info info) {
    std::array<char, 1024> reason{};
    info.error_text = reason.data();
    info.error_capacity = reason.size();
    ifr_runtime* runtime = nullptr;
    const ifr_result result = library.api().runtime_create(&info, &runtime);
    if (result.code != IFR_OK) {
      return Error{result, reason.data()};
    }
    return Runtime(&library.api(), runtime);
  }

  Runtime(Runtime&& other) noexcept
      : api_(other.api_), runtime_(std::exchange(other.runtime_, nullptr)) {}
  Runtime& operator=(Runtime&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(runtime_, other.runtime_);
    return *this;
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime() { (void)api_->runtime_destroy(runtime_); }

  [[nodiscard]] ifr_runtime* get() const { return runtime_; }
  [[nodiscard]] std::string last_error() const { return detail::last_error(*api_, runtime_); }

  [[nodiscard]] Result<Model> load_model(std::string_view path) {
    ifr_model_info info = make<ifr_model_info>();
    info.path = to_ifr_string(path);
    ifr_model model = 0;
    const ifr_result result = api_->model_load(runtime_, &info, &model);
    if (result.code != IFR_OK) {
      return detail::error_of(*api_, runtime_, result);
    }
    return Model(api_, runtime_, model);
  }
  // For the frame thread: fills `events` from the front, returns how many. Allocates only on error.
  [[nodiscard]] Result<uint32_t> poll(std::span<ifr_event> events) {
    uint32_t count = 0;
    const ifr_result result =
        api_->poll(runtime_, events.data(), static_cast<uint32_t>(sizeof(ifr_event)),
                   static_cast<uint32_t>(events.size()), &count);
    if (result.code != IFR_OK) {
      return detail::error_of(*api_, runtime_, result);
    }
    return count;
  }

  Outcome enable_telemetry(bool enabled) {
    return detail::outcome(*api_, runtime_, api_->telemetry_enable(runtime_, enabled ? 1 : 0));
  }
  [[nodiscard]] Result<ifr_telemetry> telemetry() const {
    ifr_telemetry telemetry = make<ifr_telemetry>();
    const ifr_result result = api_->telemetry_read(runtime_, &telemetry);
    if (result.code != IFR_OK) {
      return detail::error_of(*api_, runtime_, result);
    }
    return telemetry;
  }
  // Fills `records` from the front; it must hold all (ifr_telemetry::num_operators).
  [[nodiscard]] Result<uint32_t> operators(std::span<ifr_operator_record> records) const {
    uint32_t count = 0;
    const ifr_result result = api_->telemetry_operators(
        runtime_, records.data(), static_cast<uint32_t>(sizeof(ifr_operator_record)),
        static_cast<uint32_t>(records.size()), &count);
    if (result.code != IFR_OK) {
      return detail::error_of(*api_, runtime_, result);
    }
    return count;
  }

 private:
  Runtime(const ifr_api* api, ifr_runtime* runtime) : api_(api), runtime_(runtime) {}
  const ifr_api* api_;
  ifr_runtime* runtime_;
};

}  // namespace interframe
