// SPDX-License-Identifier: Apache-2.0
// Numbers, text, order, CSV and layout of the panels.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "interframe_overlay/overlay.h"
#include "panels/format.h"
#include "panels/layout.h"
#include "panels/operator_metrics.h"
#include "ui/fake_plugin.h"

namespace ifr::overlay::testing {
namespace {

TEST(Format, Numbers) {
  EXPECT_STREQ(format_number(0.0).c_str(), "0.00");
  EXPECT_STREQ(format_number(1.234).c_str(), "1.23");
  EXPECT_STREQ(format_number(9.999).c_str(), "10.0");
  EXPECT_STREQ(format_number(99.96).c_str(), "100");
  EXPECT_STREQ(format_number(999.6).c_str(), "1,000");
  EXPECT_STREQ(format_number(1184.0).c_str(), "1,184");
  EXPECT_STREQ(format_number(48960.0).c_str(), "49.0k");
  EXPECT_STREQ(format_number(134515008.0).c_str(), "135M");
  EXPECT_STREQ(format_number(1.8e11).c_str(), "180G");
  EXPECT_STREQ(format_number(2.5e12).c_str(), "2.50T");
  EXPECT_STREQ(format_number(-1184.0).c_str(), "-1,184");
  EXPECT_STREQ(format_number(std::numeric_limits<double>::quiet_NaN()).c_str(), "-");
  EXPECT_STREQ(format_number(std::numeric_limits<double>::infinity()).c_str(), "-");
}

TEST(Format, Counts) {
  EXPECT_STREQ(format_count(0).c_str(), "0");
  EXPECT_STREQ(format_count(98).c_str(), "98");
  EXPECT_STREQ(format_count(1184).c_str(), "1,184");
  EXPECT_STREQ(format_count(134'515'008).c_str(), "135M");
}

TEST(Format, BytesAndDurations) {
  EXPECT_STREQ(format_bytes(0).c_str(), "0 B");
  EXPECT_STREQ(format_bytes(1023).c_str(), "1023 B");
  EXPECT_STREQ(format_bytes(1536).c_str(), "1.50 KiB");
  EXPECT_STREQ(format_bytes(1ULL << 30U).c_str(), "1.00 GiB");
  EXPECT_STREQ(format_bytes(~0ULL).c_str(), "16777216 TiB");
  EXPECT_STREQ(format_duration_ns(850.0).c_str(), "850 ns");
  EXPECT_STREQ(format_duration_ns(12'340.0).c_str(), "12.3 \xC2\xB5s");
  EXPECT_STREQ(format_duration_ns(4.56e6).c_str(), "4.56 ms");
  EXPECT_STREQ(format_duration_ns(1.2e9).c_str(), "1.20 s");
  EXPECT_STREQ(format_duration_ns(-1.0).c_str(), "-");
}

TEST(Format, TextIsCutNotOverrun) {
  const std::string text(500, 'x');
  EXPECT_EQ(std::string(format_text("%s", text.c_str()).c_str()).size(), 63U);
}

TEST(Format, PrintableText) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(printable_utf8(""), "");
  EXPECT_EQ(printable_utf8("caf\xC3\xA9 \xF0\x9F\x8C\x8A"), "caf\xC3\xA9 \xF0\x9F\x8C\x8A");
  EXPECT_EQ(printable_utf8("a\n\t\r\x01\x7F"), "a\\n\\t\\r\\x01\\x7f");
  EXPECT_EQ(printable_utf8("\xC3"), replacement);                    // cut
  EXPECT_EQ(printable_utf8("\xC0\xAF"), replacement + replacement);  // overlong
  EXPECT_EQ(printable_utf8("\xE0\x80\x80").size(), 9U);              // overlong
  EXPECT_EQ(printable_utf8("\xED\xA0\x80").size(), 9U);              // surrogate
  EXPECT_EQ(printable_utf8("\xF4\x90\x80\x80").size(), 12U);         // past U+10FFFF
  EXPECT_EQ(printable_utf8(std::string_view("\0", 1)), "\\x00");
}

TEST(Operators, Metrics) {
  const ifr_operator_record record = make_operator(0, "a", 4, 8'000, 16'000, 4'000);
  const OperatorMetrics metrics = metrics_of(record, 32'000);
  EXPECT_DOUBLE_EQ(metrics.mean_ns, 2'000.0);
  EXPECT_DOUBLE_EQ(metrics.share, 0.25);
  EXPECT_DOUBLE_EQ(metrics.gigabytes_per_second, 2.0);
  EXPECT_DOUBLE_EQ(metrics.gigaflops_per_second, 0.5);
  const OperatorMetrics idle = metrics_of(make_operator(0, "a", 0, 0, 5, 5), 0);
  EXPECT_DOUBLE_EQ(idle.mean_ns, 0.0);
  EXPECT_DOUBLE_EQ(idle.share, 0.0);
  EXPECT_DOUBLE_EQ(idle.gigabytes_per_second, 0.0);
}

TEST(Operators, OrderAndSearch) {
  const std::vector<ifr_operator_record> records = {
      make_operator(0, "norm", 10, 500, 0, 0), make_operator(1, "Linear_q8", 2, 900, 0, 0),
      make_operator(2, "rope", 10, 100, 0, 0), make_operator(3, "linear_f32", 1, 900, 0, 0),
      make_operator(4, "never", 0, 0, 0, 0)};
  std::vector<int32_t> order;
  order_operators(records, "", OperatorColumn::kShare, Direction::kDescending, order);
  EXPECT_EQ(order, (std::vector<int32_t>{1, 3, 0, 2}));  // a tie keeps the records' order
  order_operators(records, "", OperatorColumn::kTotal, Direction::kAscending, order);
  EXPECT_EQ(order, (std::vector<int32_t>{2, 0, 1, 3}));
  order_operators(records, "", OperatorColumn::kCalls, Direction::kDescending, order);
  EXPECT_EQ(order, (std::vector<int32_t>{0, 2, 1, 3}));
  order_operators(records, "", OperatorColumn::kMean, Direction::kDescending, order);
  EXPECT_EQ(order, (std::vector<int32_t>{3, 1, 0, 2}));
  order_operators(records, "", OperatorColumn::kName, Direction::kAscending, order);
  EXPECT_EQ(order, (std::vector<int32_t>{1, 3, 0, 2}));
  order_operators(records, "LINEAR", OperatorColumn::kName, Direction::kAscending, order);
  EXPECT_EQ(order, (std::vector<int32_t>{1, 3}));
  order_operators(records, "nothing", OperatorColumn::kName, Direction::kAscending, order);
  EXPECT_TRUE(order.empty());
}

TEST(Operators, Csv) {
  const std::string header =
      "name,calls,total_ns,mean_ns,last_ns,max_ns,share,bytes,flops,GB_per_s,GFLOP_per_s\r\n";
  EXPECT_EQ(operators_csv({}), header);
  const std::vector<ifr_operator_record> records = {
      make_operator(0, "norm", 4, 8'000, 16'000, 4'000),
      make_operator(1, "odd, \"name\"", 0, 0, 0, 0)};
  EXPECT_EQ(operators_csv(records),
            header +
                "norm,4,8000,2000.0,2040,6120,1.000000,16000,4000,2.0000,0.5000\r\n"
                "\"odd, \"\"name\"\"\",0,0,0.0,0,0,0.000000,0,0,0.0000,0.0000\r\n");
}

bool overlap(const PanelRect& a, const PanelRect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

TEST(Layout, PanelsNeitherOverlapNorLeaveTheDisplay) {
  const float sizes[][2] = {{320, 240}, {640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}};
  for (const auto& size : sizes) {
    for (const float scale : {0.75F, 1.0F, 2.0F}) {
      for (const bool has_map : {false, true}) {
        const PanelLayout layout = plan_layout({.display_width = size[0],
                                                .display_height = size[1],
                                                .scale = scale,
                                                .selection_has_map = has_map});
        EXPECT_FALSE(overlap(layout.generation, layout.operators));
        EXPECT_FALSE(overlap(layout.operators, layout.selection));
        EXPECT_FALSE(overlap(layout.generation, layout.selection));
        for (const PanelRect& rect : {layout.generation, layout.operators, layout.selection}) {
          EXPECT_GE(rect.x, 0.0F);
          EXPECT_GE(rect.y, 0.0F);
          EXPECT_LE(rect.x + rect.width, size[0] + 0.5F);
          EXPECT_LE(rect.y + rect.height, size[1] + 0.5F);
        }
      }
    }
  }
}

TEST(Layout, LeavesTheLeftToTheHost) {
  const PanelLayout layout = plan_layout({.display_width = 1280, .display_height = 720});
  EXPECT_GE(layout.generation.x, kReservedLeftWidth);
  EXPECT_NEAR(layout.generation.width, 430.0F, 1.0F);
}

TEST(Layout, HiddenPanelsHaveNoSizeAndTheirRoomIsUsed) {
  const PanelLayout layout =
      plan_layout({.display_width = 1280, .display_height = 720, .show_generation = false});
  EXPECT_EQ(layout.generation.height, 0.0F);
  EXPECT_LT(layout.operators.y, 20.0F);
  const PanelLayout tiny = plan_layout({.display_width = 1, .display_height = 1});
  EXPECT_GE(tiny.generation.width, 1.0F);
  EXPECT_GE(tiny.selection.height, 1.0F);
  const PanelLayout none = plan_layout({.display_width = 0,
                                        .display_height = 0,
                                        .show_generation = false,
                                        .show_operators = false,
                                        .show_selection = false});
  EXPECT_EQ(none.selection.width, 0.0F);
}

}  // namespace
}  // namespace ifr::overlay::testing
