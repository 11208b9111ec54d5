// SPDX-License-Identifier: Apache-2.0
// Case T01: delivered text is whole characters, whenever it is polled and however it ends.
#include <gtest/gtest.h>

#include "model/utf8.h"
#include "schedule/fake_host.h"

namespace ifr::test {
namespace {

const std::string kReplacement(kReplacementCharacter);
const std::string kCat = "\xF0\x9F\x98\xB8";

enum class End { kMaxTokens, kEndToken, kCancel };
enum class Polling { kEachToken, kAtEnd };

struct TextCase {
  const char* name;
  std::vector<std::string> pieces;    // the answer, a token each
  std::vector<std::string> expected;  // text of each token's event, then of FINISHED
};

const TextCase kCases[] = {
    {"split 3+1", {"\xF0\x9F\x98", "\xB8"}, {"", kCat, ""}},
    {"four byte tokens", {"\xF0", "\x9F", "\x98", "\xB8"}, {"", "", "", kCat, ""}},
    {"two in a row", {"\xF0\x9F", "\x98\xB8", "\xF0\x9F\x98", "\xB8"}, {"", kCat, "", kCat, ""}},
    {"two, the border inside a token",
     {"\xF0\x9F", "\x98\xB8\xF0", "\x9F\x98", "\xB8"},
     {"", kCat, "", kCat, ""}},
    {"broken, then a letter", {"\xF0\x9F", "A"}, {"", kReplacement + "A", ""}},
    {"lone continuation", {"\x80"}, {kReplacement, ""}},
    {"unfinished", {"\xF0\x9F\x98"}, {"", kReplacement}},
    {"plain", {"a", "bc", "d"}, {"a", "bc", "d", ""}},
};

class TextEvents : public testing::TestWithParam<std::tuple<size_t, End, Polling>> {};

TEST_P(TextEvents, AreWholeCharacters) {
  const TextCase& text_case = kCases[std::get<0>(GetParam())];
  const End end = std::get<1>(GetParam());
  const Polling polling = std::get<2>(GetParam());
  const auto num_pieces = static_cast<int32_t>(text_case.pieces.size());
  const int32_t end_id = FakeCodec::kFirstPiece + num_pieces;

  FakeScript script;
  script.next = [&](std::span<const int32_t> tokens) {
    return FakeCodec::kFirstPiece + static_cast<int32_t>(tokens.size()) - 1;
  };
  FakeHost host(script, [&] {
    return std::make_unique<FakeCodec>(text_case.pieces, std::set<int32_t>{end_id},
                                       std::vector<int32_t>{end_id});
  });
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {65};
  script.close_gate();
  const uint64_t request =
      host.submit(session, FakeHost::ids_spec(prompt, end == End::kMaxTokens ? num_pieces : 1000));
  if (polling == Polling::kEachToken) {
    for (int32_t i = 0; i < num_pieces; ++i) {
      script.permit(1);
      ASSERT_TRUE(wait_for([&] {
        host.poll();
        return host.answers[request].ids.size() == static_cast<size_t>(i) + 1;
      }));
      // A character comes with the token that completes it, not later.
      EXPECT_EQ(host.answers[request].texts[static_cast<size_t>(i)],
                text_case.expected[static_cast<size_t>(i)]);
    }
  } else {
    script.permit(num_pieces);
    ASSERT_TRUE(wait_for([&] {
      const Expected<SessionRef> ref = host.runtime->session(session);
      return (*ref)->used_tokens.load() == num_pieces + 1;
    }));
  }
  if (end == End::kCancel) {
    ASSERT_TRUE(host.runtime->cancel_request(request).is_ok());
  }
  script.open_gate();
  ASSERT_TRUE(wait_for([&] { return !host.is_busy(session); }));
  const Answer& answer = host.finish(request);

  std::vector<std::string> texts = answer.texts;
  if (end == End::kEndToken) {
    ASSERT_EQ(answer.ids.back(), end_id);
    EXPECT_EQ(texts[static_cast<size_t>(num_pieces)], "");  // the end token has no text
    texts.erase(texts.begin() + num_pieces);
    EXPECT_EQ(answer.end.finish_reason, FinishReason::kEndToken);
    EXPECT_EQ(answer.end.generated_tokens, num_pieces + 1);
  } else if (end == End::kMaxTokens) {
    EXPECT_EQ(answer.end.finish_reason, FinishReason::kMaxTokens);
  } else if (answer.ids.size() == text_case.pieces.size()) {
    EXPECT_EQ(answer.end.finish_reason, FinishReason::kCancelled);
  } else {
    // The step that was waiting at the gate when the cancel came gave one more token: the end.
    texts.erase(texts.begin() + num_pieces);
  }
  EXPECT_EQ(texts, text_case.expected);
  std::string raw;
  for (const std::string& piece : text_case.pieces) {
    raw += piece;
  }
  EXPECT_EQ(answer.raw, raw);
  EXPECT_EQ(find_invalid_utf8(answer.text), std::nullopt);
  EXPECT_EQ(answer.end.certainty, Certainty::kDone);
}

INSTANTIATE_TEST_SUITE_P(T01, TextEvents,
                         testing::Combine(testing::Range(size_t{0}, std::size(kCases)),
                                          testing::Values(End::kMaxTokens, End::kEndToken,
                                                          End::kCancel),
                                          testing::Values(Polling::kEachToken, Polling::kAtEnd)));

TEST(TextEvents, ALongTokenComesInWholePieces) {
  std::string piece = "x";
  while (piece.size() < 400) {
    piece += kCat;
  }
  FakeScript script;
  script.next = [](std::span<const int32_t>) { return FakeCodec::kFirstPiece; };
  FakeHost host(script,
                [&] { return std::make_unique<FakeCodec>(std::vector<std::string>{piece}); });
  const Answer answer = host.run(host.session(host.load()), {65}, 2);
  EXPECT_EQ(answer.text, piece + piece);
  EXPECT_EQ(answer.raw, piece + piece);
  EXPECT_EQ(answer.ids.size(), 2U);
  EXPECT_EQ(answer.positions.size(), 8U);  // 4 events a token
  for (const std::string& text : answer.texts) {
    EXPECT_EQ(find_invalid_utf8(text), std::nullopt);
  }
}

TEST(TextEvents, AnIgnoredEndTokenIsAControlTokenWithoutText) {
  FakeScript script;
  script.next = [](std::span<const int32_t>) { return FakeCodec::kFirstPiece; };
  FakeHost host(script, [] {
    return std::make_unique<FakeCodec>(std::vector<std::string>{"<end>"},
                                       std::set<int32_t>{FakeCodec::kFirstPiece},
                                       std::vector<int32_t>{FakeCodec::kFirstPiece});
  });
  const uint64_t session = host.session(host.load());
  const std::vector<int32_t> prompt = {65};
  RequestSpec spec = FakeHost::ids_spec(prompt, 5);
  spec.end_tokens = EndTokens::kIgnore;
  const Answer& answer = host.finish(host.submit(session, spec));
  EXPECT_EQ(answer.ids.size(), 5U);
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(answer.end.finish_reason, FinishReason::kMaxTokens);
}

}  // namespace
}  // namespace ifr::test
