// SPDX-License-Identifier: Apache-2.0
// Keeps objects alive until the GPU has passed the timeline value that ends their use.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>

namespace ifr::host {

/// One thread. Values must be handed in without ever going down, as timeline values are.
class RetireQueue {
 public:
  /// Takes `object`; it is destroyed by the first collect() whose value is `value` or more.
  template <class T>
  void retire(T&& object, uint64_t value) {
    static_assert(!std::is_lvalue_reference_v<T>, "move the object in");
    entries_.push_back({value, std::make_unique<Holder<T>>(std::forward<T>(object))});
  }

  /// Destroys everything whose use ended at or before `completed`, oldest first.
  void collect(uint64_t completed) {
    while (!entries_.empty() && entries_.front().value <= completed) {
      entries_.pop_front();
    }
  }

  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  struct HolderBase {
    virtual ~HolderBase() = default;
  };
  template <class T>
  struct Holder final : HolderBase {
    explicit Holder(T&& moved) : object(std::move(moved)) {}
    T object;
  };
  struct Entry {
    uint64_t value = 0;
    std::unique_ptr<HolderBase> holder;
  };
  std::deque<Entry> entries_;
};

}  // namespace ifr::host
