// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace ifr {
namespace {

Expected<int> half_of(int value) {
  if (value % 2 != 0) {
    return make_error(Code::kInvalidArgument, Part::kBase, "%d is odd", value);
  }
  return value / 2;
}

Expected<int> quarter_of(int value) {
  IFR_ASSIGN_OR_RETURN(const int half, half_of(value));
  return half_of(half);
}

Status check_even(int value) {
  IFR_TRY(half_of(value).status());
  return {};
}

TEST(Status, UsagePropagatesTheFirstError) {
  EXPECT_EQ(*quarter_of(12), 3);
  const Expected<int> failed = quarter_of(6);
  ASSERT_FALSE(failed.is_ok());
  EXPECT_EQ(failed.status().message(), "3 is odd");
  EXPECT_EQ(failed.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(failed.status().part(), Part::kBase);
  EXPECT_TRUE(check_even(4).is_ok());
  EXPECT_FALSE(check_even(5).is_ok());
}

TEST(Status, LongMessageIsCutAtACharacter) {
  // The 1,023rd byte falls inside the last euro sign.
  std::string text(1021, 'a');
  text += "\xE2\x82\xAC tail";
  const Status status = make_error(Code::kIo, Part::kBase, "%s", text.c_str());
  EXPECT_EQ(status.message(), std::string(1021, 'a'));
  const Status plain = make_error(Code::kIo, Part::kBase, "%s", std::string(2000, 'b').c_str());
  EXPECT_EQ(plain.message(), std::string(1023, 'b'));
}

TEST(Expected, MovesOnlyTypes) {
  Expected<std::unique_ptr<int>> made(std::make_unique<int>(7));
  ASSERT_TRUE(made.is_ok());
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 7);
}

}  // namespace
}  // namespace ifr
