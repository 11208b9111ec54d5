// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "gfx/retire.h"

namespace ifr::host {
namespace {

struct Tracked {
  Tracked(std::vector<int>& log, int number) : log_(&log), number_(number) {}
  Tracked(Tracked&& other) noexcept
      : log_(std::exchange(other.log_, nullptr)), number_(other.number_) {}
  Tracked& operator=(Tracked&&) = delete;
  ~Tracked() {
    if (log_ != nullptr) {
      log_->push_back(number_);
    }
  }

 private:
  std::vector<int>* log_;
  int number_;
};

TEST(Retire, DropsInOrderWhenTheTimelinePasses) {
  std::vector<int> dropped;
  RetireQueue queue;
  queue.retire(Tracked(dropped, 1), 5);
  queue.retire(Tracked(dropped, 2), 5);
  queue.retire(Tracked(dropped, 3), 7);
  queue.collect(4);
  EXPECT_TRUE(dropped.empty());
  queue.collect(5);
  EXPECT_EQ(dropped, (std::vector<int>{1, 2}));
  queue.collect(6);
  EXPECT_EQ(dropped.size(), 2u);
  queue.collect(7);
  EXPECT_EQ(dropped, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(Retire, DropsWhatIsLeftAtItsEnd) {
  std::vector<int> dropped;
  {
    RetireQueue queue;
    queue.retire(Tracked(dropped, 1), 100);
  }
  EXPECT_EQ(dropped.size(), 1u);
}

}  // namespace
}  // namespace ifr::host
