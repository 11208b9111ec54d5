// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer_pattern.h"

#include <array>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace ifr {
namespace {

// Unicode's White_Space. Written out because PCRE2's own \s also takes U+180E, which lost that
// property in Unicode 6.3.
#define IFR_SPACE                                                                    \
  "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
  "\\x{202f}\\x{205f}\\x{3000}"
// English contractions, then letters, numbers and other signs with at most one space before, then
// white space but for the last of a run that a word follows.
#define IFR_CONTRACTIONS "'(?:s|t|re|ve|m|ll|d)"
#define IFR_LETTERS "| ?\\p{L}++"
#define IFR_OTHERS "| ?[^" IFR_SPACE "\\p{L}\\p{N}]++"

struct NamedPattern {
  std::string_view pre;
  std::string_view pattern;
};

constexpr std::array<NamedPattern, 2> kPatterns = {{
    // Digits are cut out first, one by one, and the rest is split as if each piece stood alone: so
    // no space joins a digit, and a run of white space before a digit is whole.
    {"smollm", IFR_CONTRACTIONS IFR_LETTERS "|\\p{N}" IFR_OTHERS "|[" IFR_SPACE "]+(?![^" IFR_SPACE
                                            "\\p{N}])|[" IFR_SPACE "]++"},
    {"gpt-2", IFR_CONTRACTIONS IFR_LETTERS "| ?\\p{N}++" IFR_OTHERS "|[" IFR_SPACE
                                           "]+(?![^" IFR_SPACE "])|[" IFR_SPACE "]++"},
}};

#undef IFR_SPACE
#undef IFR_CONTRACTIONS
#undef IFR_LETTERS
#undef IFR_OTHERS

struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

struct SplitPattern::Compiled {
  explicit Compiled(pcre2_code* compiled) : regex(compiled) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { pcre2_code_free(regex); }

  pcre2_code* regex;
};

SplitPattern::SplitPattern(std::unique_ptr<Compiled> code) : code_(std::move(code)) {}
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;
SplitPattern& SplitPattern::operator=(SplitPattern&&) noexcept = default;
SplitPattern::~SplitPattern() = default;

Expected<SplitPattern> SplitPattern::create(std::string_view pre) {
  for (const NamedPattern& named : kPatterns) {
    if (named.pre != pre) {
      continue;
    }
    int error = 0;
    size_t error_offset = 0;
    // Anchored: a word begins where the last one ended. The caller vouches for the UTF-8.
    constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED;
    auto* compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(named.pattern.data()),
                                   named.pattern.size(), kOptions, &error, &error_offset, nullptr);
    if (compiled == nullptr) {
      return make_error(Code::kInternal, Part::kTokenizer,
                        "PCRE2 error %d at byte %zu of the split pattern \"%.*s\"; PCRE2 has to be "
                        "built with Unicode support",
                        error, error_offset, static_cast<int>(pre.size()), pre.data());
    }
    auto code = std::make_unique<SplitPattern::Compiled>(compiled);
    // Without a JIT (or where the system forbids one) pcre2_match interprets: slower, same words.
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
    return SplitPattern(std::move(code));
  }
  return make_error(Code::kUnsupported, Part::kTokenizer,
                    "tokenizer.ggml.pre is \"%.*s\"; supported are \"smollm\" and \"gpt-2\". Token "
                    "ids can still be submitted",
                    static_cast<int>(pre.size()), pre.data());
}

Status SplitPattern::split(std::string_view text, std::vector<size_t>& word_ends) const {
  word_ends.clear();
  if (text.empty()) {
    return {};
  }
  const std::unique_ptr<pcre2_match_data, FreeMatchData> match(pcre2_match_data_create(1, nullptr));
  if (match == nullptr) {
    return make_error(Code::kOutOfMemory, Part::kTokenizer, "no memory to split the text");
  }
  size_t offset = 0;
  while (offset < text.size()) {
    const int result = pcre2_match(code_->regex, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                   text.size(), offset, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    const size_t end = result < 0 ? offset : pcre2_get_ovector_pointer(match.get())[1];
    if (end <= offset || end > text.size()) {
      return make_error(Code::kInternal, Part::kTokenizer,
                        "the split pattern found no word at byte %zu (PCRE2 result %d)", offset,
                        result);
    }
    word_ends.push_back(end);
    offset = end;
  }
  return {};
}

}  // namespace ifr
