// SPDX-License-Identifier: Apache-2.0
// The pattern that cuts text into words before byte-pair merging (`tokenizer.ggml.pre`).
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ifr {

// Immutable; split() may be called from any thread.
class SplitPattern {
 public:
  // `pre`: "smollm" (every digit alone) or "gpt-2" (digits in runs). Others: kUnsupported.
  [[nodiscard]] static Expected<SplitPattern> create(std::string_view pre);

  SplitPattern(SplitPattern&&) noexcept;
  SplitPattern& operator=(SplitPattern&&) noexcept;
  ~SplitPattern();

  // `word_ends`: replaced by the end offset of each word, ascending; the words cover all of `text`,
  // which has to be valid UTF-8.
  [[nodiscard]] Status split(std::string_view text, std::vector<size_t>& word_ends) const;

 private:
  struct Compiled;
  explicit SplitPattern(std::unique_ptr<Compiled> code);

  std::unique_ptr<Compiled> code_;
};

}  // namespace ifr
