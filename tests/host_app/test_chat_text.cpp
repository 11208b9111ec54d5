// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "chat/chat_panel.h"

namespace ifr::host {
namespace {

std::string shown(const std::string& answer, bool is_finished) {
  return answer.substr(0, shown_length(answer, is_finished));
}

TEST(ChatText, GrowsByWholeWords) {
  EXPECT_EQ(shown("The sk", false), "The");
  EXPECT_EQ(shown("The sky ", false), "The sky");
  EXPECT_EQ(shown("The sk", true), "The sk");
  EXPECT_EQ(shown("", false), "");
}

TEST(ChatText, ShowsScriptsWithoutSpacesAsTheyCome) {
  const std::string text = "空はなぜ青いのでしょうか";
  EXPECT_EQ(shown(text, false), text);
  EXPECT_EQ(shown("ab " + std::string(40, 'x'), false), "ab " + std::string(40, 'x'));
}

TEST(ChatText, TailStartsAtACharacterAndAWord) {
  const std::string text = "one two three four";
  EXPECT_EQ(tail_start(text, text.size(), 100), 0u);
  EXPECT_EQ(text.substr(tail_start(text, text.size(), 12)), "three four");
  const std::string wide = "ああああああああああ";  // 3 bytes a character, no spaces
  for (size_t max_bytes = 1; max_bytes < wide.size(); ++max_bytes) {
    EXPECT_EQ(tail_start(wide, wide.size(), max_bytes) % 3, 0u) << max_bytes;
  }
}

TEST(ChatText, AssistantWithoutModelSaysSo) {
  const auto assistant = Assistant::start({});
  EXPECT_EQ(assistant->state(), AssistantState::kNoModel);
  EXPECT_NE(status_line(*assistant).find("--model"), std::string::npos);
  EXPECT_TRUE(assistant->ask("hello"));
  ASSERT_EQ(assistant->turns().size(), 1u);
  EXPECT_TRUE(assistant->turns()[0].is_finished);
  EXPECT_FALSE(assistant->turns()[0].remark.empty());
  assistant->poll();
  assistant->cancel();
}

TEST(ChatText, MissingPluginIsToldWithThePlacesTried) {
  const auto assistant =
      Assistant::start({.plugin_path = "/nowhere/libinterframe.so", .model_path = "x"});
  EXPECT_EQ(assistant->state(), AssistantState::kFailed);
  EXPECT_NE(assistant->error().find("/nowhere/libinterframe.so"), std::string::npos);
  EXPECT_NE(assistant->error().find("--plugin"), std::string::npos);
}

TEST(ChatText, LibraryThatIsNotThePluginIsRefused) {
  auto library = PluginLibrary::open("libm.so.6");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::kPlugin);
  EXPECT_NE(library.error().message.find("libm.so.6"), std::string::npos);
}

}  // namespace
}  // namespace ifr::host
