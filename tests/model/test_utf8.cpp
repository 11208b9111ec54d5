// SPDX-License-Identifier: Apache-2.0
#include "model/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/utf8_stream.h"

namespace ifr {
namespace {

using namespace std::string_view_literals;

// All of `pieces` pushed one by one; text that came out by then, and after the end.
struct Streamed {
  std::string before_end;
  std::string all;
};

Streamed stream(const std::vector<std::string_view>& pieces) {
  Utf8Stream utf8;
  std::string out;
  for (const std::string_view piece : pieces) {
    utf8.push(piece, out);
    EXPECT_EQ(find_invalid_utf8(out), std::nullopt) << "after a piece of " << piece.size();
  }
  Streamed streamed;
  streamed.before_end = out;
  utf8.finish(out);
  EXPECT_TRUE(utf8.pending().empty());
  streamed.all = out;
  return streamed;
}

TEST(Utf8, FindsTheFirstBadByte) {
  struct Case {
    std::string_view bytes;
    size_t bad;
  };
  const Case cases[] = {
      {"\xE2\x80"sv, 0},
      {"a\xC3\x28"sv, 1},
      {"ab\xED\xA0\x80"sv, 2},
      {"\xF5\x80\x80\x80"sv, 0},
      {"\xC0\x80"sv, 0},
      {"\x80"sv, 0},
      {"\xC1\xBF"sv, 0},
      {"\xE0\x9F\xBF"sv, 0},
      {"\xF0\x8F\xBF\xBF"sv, 0},
      {"\xF4\x90\x80\x80"sv, 0},
      {"\xC3\xA9\xF0\x9F\x98"sv, 2},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(find_invalid_utf8(c.bytes), std::optional<size_t>(c.bad))
        << testing::PrintToString(c.bytes);
  }
  for (const std::string_view good :
       {""sv, "a\0b"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv,
        "\xEE\x80\x80"sv, "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv}) {
    EXPECT_EQ(find_invalid_utf8(good), std::nullopt) << testing::PrintToString(good);
  }
}

TEST(Utf8, ReadsCodePoints) {
  EXPECT_EQ(code_point_of("A"), 0x41u);
  EXPECT_EQ(code_point_of("\xC3\xA9"), 0xE9u);
  EXPECT_EQ(code_point_of("\xE4\xBD\xA0"), 0x4F60u);
  EXPECT_EQ(code_point_of("\xF0\x9F\x98\xB8"), 0x1F638u);
}

TEST(Utf8Stream, CharacterComesWithTheTokenThatCompletesIt) {
  EXPECT_EQ(stream({"\xF0\x9F\x98", "\xB8"}).before_end, "\xF0\x9F\x98\xB8");
  EXPECT_EQ(stream({"\xF0", "\x9F", "\x98", "\xB8"}).before_end, "\xF0\x9F\x98\xB8");
  Utf8Stream utf8;
  std::string out;
  utf8.push("\xF0\x9F\x98", out);
  EXPECT_EQ(out, "");
  EXPECT_EQ(utf8.pending(), "\xF0\x9F\x98");
  utf8.push("\xB8\xF0\x9F", out);  // completes one, begins the next
  EXPECT_EQ(out, "\xF0\x9F\x98\xB8");
  utf8.push("\x98\xB9", out);
  EXPECT_EQ(out, "\xF0\x9F\x98\xB8\xF0\x9F\x98\xB9");
}

TEST(Utf8Stream, InvalidBytesComeAtOnceAsOneReplacementEachRun) {
  EXPECT_EQ(stream({"\xF0\x9F", "A"}).before_end,
            "\xEF\xBF\xBD"
            "A");
  EXPECT_EQ(stream({"\x80"}).before_end, "\xEF\xBF\xBD");
  EXPECT_EQ(stream({"\xF0\x9F\x98", "\xF0\x9F\x98\xB8"}).before_end,
            "\xEF\xBF\xBD\xF0\x9F\x98\xB8");
  EXPECT_EQ(stream({"\xED\xA0\x80"}).before_end, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(stream({"\xE2\x80", "\xE2\x80", "."}).before_end, "\xEF\xBF\xBD\xEF\xBF\xBD.");
}

TEST(Utf8Stream, UnfinishedTailIsFlushedOnce) {
  const Streamed streamed = stream({"ok", "\xF0\x9F\x98"});
  EXPECT_EQ(streamed.before_end, "ok");
  EXPECT_EQ(streamed.all, "ok\xEF\xBF\xBD");
  Utf8Stream utf8;
  std::string out;
  utf8.push("\xF0\x9F\x98", out);
  utf8.finish(out);
  utf8.finish(out);
  EXPECT_EQ(out, "\xEF\xBF\xBD");
  utf8.push("\xB8", out);  // as a new stream: no memory of the old tail
  EXPECT_EQ(out, "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8Stream, TextDoesNotDependOnTheCuts) {
  std::mt19937 random(1);
  std::string bytes;
  for (int i = 0; i < 4000; ++i) {
    // Mostly bytes of characters, so that long sequences are really begun and broken.
    static constexpr std::string_view kLikely =
        "\xF0\x9F\x98\xB8\xE2\x82\xAC\xC3\xA9\xF4\x8F\xBF"
        "aZ";
    bytes.push_back(random() % 4 == 0 ? static_cast<char>(random() & 0xFF)
                                      : kLikely[random() % kLikely.size()]);
  }
  const std::string whole = stream({bytes}).all;
  std::vector<std::string_view> singles;
  std::vector<std::string_view> chunks;
  for (size_t i = 0; i < bytes.size(); ++i) {
    singles.push_back(std::string_view(bytes).substr(i, 1));
  }
  for (size_t i = 0; i < bytes.size();) {
    const size_t size = std::min<size_t>(random() % 8, bytes.size() - i);
    chunks.push_back(std::string_view(bytes).substr(i, size));
    i += size;
  }
  EXPECT_EQ(stream(singles).all, whole);
  EXPECT_EQ(stream(chunks).all, whole);
}

}  // namespace
}  // namespace ifr
