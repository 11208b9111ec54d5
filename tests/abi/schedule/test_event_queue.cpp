// SPDX-License-Identifier: Apache-2.0
#include "schedule/event_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "schedule/object_table.h"

namespace ifr::test {
namespace {

Event event_of(int32_t position) {
  Event event;
  event.position = position;
  return event;
}

TEST(EventQueue, KeepsOrderThroughTheOverflow) {
  EventQueue queue(4);
  for (int32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(queue.push(event_of(i)), static_cast<uint64_t>(i) + 1);
  }
  EXPECT_TRUE(queue.flush());
  int32_t expected = 0;
  while (const Event* event = queue.front()) {
    EXPECT_EQ(event->position, expected++);
    queue.pop();
  }
  EXPECT_EQ(expected, 10);
  EXPECT_FALSE(queue.flush());
  EXPECT_EQ(queue.num_taken(), 10U);
}

TEST(EventQueue, ServesTwoProducersAndAConsumer) {
  EventQueue queue(16);
  constexpr int32_t kEvents = 20'000;
  const auto produce = [&](uint64_t model) {
    for (int32_t i = 0; i < kEvents; ++i) {
      while (queue.flush()) {
        std::this_thread::yield();
      }
      Event event = event_of(i);
      event.model = model;
      (void)queue.push(event);
    }
    while (queue.flush()) {
      std::this_thread::yield();
    }
  };
  std::thread first(produce, 0);
  std::thread second(produce, 1);
  int32_t next[2] = {0, 0};
  while (next[0] < kEvents || next[1] < kEvents) {
    const Event* event = queue.front();
    if (event == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(event->position, next[event->model]);
    ++next[event->model];
    queue.pop();
  }
  first.join();
  second.join();
}

TEST(EventQueue, IsTakenByOneAtATime) {
  EventQueue queue(16);
  EXPECT_TRUE(queue.begin_taking());
  EXPECT_FALSE(queue.begin_taking());
  queue.end_taking();
  EXPECT_TRUE(queue.begin_taking());
}

struct Thing {
  uint64_t handle = 0;
  std::atomic<int32_t>* alive = nullptr;
  explicit Thing(std::atomic<int32_t>& counter) : alive(&counter) { ++counter; }
  ~Thing() { --*alive; }
  Thing(const Thing&) = delete;
  Thing& operator=(const Thing&) = delete;
};

TEST(ObjectTable, KeepsObjectsWhileTheyAreUsed) {
  std::atomic<int32_t> alive{0};
  ObjectTable<Thing, 4> table(HandleKind::kModel, 7);
  auto ref = table.insert(std::make_unique<Thing>(alive));
  ASSERT_TRUE(ref);
  const uint64_t handle = ref->handle;
  EXPECT_EQ(Handle::kind(handle), 1U);
  EXPECT_EQ(Handle::tag(handle), 7U);
  EXPECT_TRUE(table.close(handle));
  EXPECT_FALSE(table.close(handle));
  EXPECT_FALSE(table.find(handle));
  EXPECT_EQ(alive, 1);
  ref.reset();
  EXPECT_EQ(alive, 0);
  const auto other = table.insert(std::make_unique<Thing>(alive));
  EXPECT_NE(other->handle, handle);
  EXPECT_FALSE(table.find(handle));
  EXPECT_FALSE(table.find(0));
  EXPECT_FALSE(table.find(~uint64_t{0}));
  EXPECT_TRUE(table.close(other->handle));
}

TEST(ObjectTable, IsFullAtItsCapacity) {
  std::atomic<int32_t> alive{0};
  ObjectTable<Thing, 2> table(HandleKind::kSession, 0);
  const auto first = table.insert(std::make_unique<Thing>(alive));
  const auto second = table.insert(std::make_unique<Thing>(alive));
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(table.insert(std::make_unique<Thing>(alive)));
  EXPECT_EQ(alive, 2);
  (void)table.close(first->handle);
  (void)table.close(second->handle);
}

TEST(ObjectTable, IsSafeToSearchWhileItChanges) {
  std::atomic<int32_t> alive{0};
  std::atomic<uint64_t> current{0};
  std::atomic<bool> stop{false};
  ObjectTable<Thing, 2> table(HandleKind::kSession, 0);
  std::vector<std::thread> readers;
  for (int32_t i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const uint64_t handle = current;
        const auto ref = table.find(handle);
        if (ref) {
          EXPECT_EQ(ref->handle, handle);
        }
      }
    });
  }
  for (int32_t i = 0; i < 20'000; ++i) {
    const auto ref = table.insert(std::make_unique<Thing>(alive));
    if (!ref) {  // both slots are still held by readers
      std::this_thread::yield();
      continue;
    }
    current = ref->handle;
    EXPECT_TRUE(table.close(ref->handle));
  }
  stop = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(alive, 0);
}

TEST(Handle, SaysWhyItIsRefused) {
  const uint64_t model = Handle::make(HandleKind::kModel, 5, 1, 1);
  const auto message = [](uint64_t handle, HandleKind wanted, uint16_t tag) {
    const Status status = Handle::refusal(handle, wanted, tag);
    EXPECT_EQ(status.code(), Code::kInvalidHandle);
    return status.message();
  };
  EXPECT_NE(message(0, HandleKind::kModel, 5).find("is 0"), std::string::npos);
  EXPECT_NE(message(model, HandleKind::kSession, 5).find("is a model, not a session"),
            std::string::npos);
  EXPECT_NE(message(model, HandleKind::kModel, 6).find("another runtime"), std::string::npos);
  EXPECT_NE(message(model, HandleKind::kModel, 5).find("closed"), std::string::npos);
}

}  // namespace
}  // namespace ifr::test
