// SPDX-License-Identifier: Apache-2.0
// Texts of several origins: where control tokens may stand, and ids in place of text.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/test_tokenizer_vocabulary.h"
#include "model/tokenizer.h"

namespace ifr {
namespace {

using test::kTurnEnd;
using test::kTurnStart;

using Ids = std::vector<int32_t>;
using Parts = std::vector<TextPart>;

TextPart parsed(size_t size_bytes) {
  return {.size_bytes = size_bytes, .special = SpecialTokens::kParse, .ids = std::nullopt};
}

TextPart plain(size_t size_bytes) {
  return {.size_bytes = size_bytes, .special = SpecialTokens::kPlain, .ids = std::nullopt};
}

class TokenizerParts : public testing::Test {
 protected:
  [[nodiscard]] Ids encode(std::string_view text, const Parts& parts) const {
    const Expected<Ids> ids = tokenizer_.encode_parts(text, parts);
    EXPECT_TRUE(ids.is_ok()) << ids.status().message();
    return ids.is_ok() ? *ids : Ids{-1};
  }
  [[nodiscard]] Ids whole(std::string_view text, SpecialTokens special) const {
    return *tokenizer_.encode(text, special);
  }

  const Tokenizer tokenizer_ = std::move(Tokenizer::create(test::small_vocabulary())).value();
};

TEST_F(TokenizerParts, ControlTokensStandOnlyInParsedParts) {
  const std::string_view text = "<|im_start|>hello<|im_end|>";
  EXPECT_EQ(encode(text, {parsed(27)}), whole(text, SpecialTokens::kParse));
  EXPECT_EQ(encode(text, {plain(27)}), whole(text, SpecialTokens::kPlain));
  const Ids first = encode(text, {parsed(12), plain(15)});
  EXPECT_EQ(first.front(), kTurnStart);
  EXPECT_NE(first.back(), kTurnEnd);
  // Two parsed neighbours are one text; one plain byte inside of the name is enough against it.
  EXPECT_EQ(encode(text, {parsed(20), parsed(7)}), whole(text, SpecialTokens::kParse));
  EXPECT_NE(encode(text, {parsed(26), plain(1)}).back(), kTurnEnd);
  EXPECT_NE(encode(text, {parsed(17), plain(1), parsed(9)}).back(), kTurnEnd);
  EXPECT_EQ(encode(text, {plain(17), parsed(10)}).back(), kTurnEnd);
}

TEST_F(TokenizerParts, WordsMergeAcrossBorders) {
  std::mt19937 random(7);
  const std::string_view text = "hello hello\n\n aaaa hell<|o w <| \xF0\x9F\x98\x80";
  for (int round = 0; round < 200; ++round) {
    Parts parts;
    size_t left = text.size();
    while (left > 0) {
      const size_t size = 1 + random() % left;
      parts.push_back(random() % 2 == 0 ? parsed(size) : plain(size));
      left -= size;
    }
    EXPECT_EQ(encode(text, parts), whole(text, SpecialTokens::kPlain));
  }
}

TEST_F(TokenizerParts, IdsStandInPlaceOfTheirText) {
  const std::array<int32_t, 3> given = {kTurnStart, 5, kTurnEnd};
  const TextPart part = {.size_bytes = 5, .special = SpecialTokens::kPlain, .ids = given};
  Ids expected = whole("a ", SpecialTokens::kPlain);
  expected.insert(expected.end(), given.begin(), given.end());
  expected.push_back(kTurnEnd);
  EXPECT_EQ(encode("a hello<|im_end|>", {plain(2), part, parsed(10)}), expected);
  EXPECT_EQ(encode("hello", {part}), Ids(given.begin(), given.end()));
}

TEST_F(TokenizerParts, WrongPartsAreRefused) {
  const std::array<int32_t, 1> outside = {tokenizer_.num_tokens()};
  const Parts wrong[] = {{},
                         {plain(4)},
                         {plain(6)},
                         {plain(3), parsed(3)},
                         {{.size_bytes = 5, .special = SpecialTokens::kPlain, .ids = outside}}};
  for (const Parts& parts : wrong) {
    const Expected<Ids> ids = tokenizer_.encode_parts("hello", parts);
    ASSERT_FALSE(ids.is_ok());
    EXPECT_EQ(ids.status().code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(tokenizer_.encode_parts("\xFF", Parts{plain(1)}).is_ok());
  EXPECT_TRUE(tokenizer_.encode_parts("", Parts{}).is_ok());
}

}  // namespace
}  // namespace ifr
