// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "interframe_overlay/overlay.h"

namespace ifr::overlay {

void SelectionRing::reset(int32_t layer, uint32_t row_capacity, uint32_t entry_capacity) {
  layer_ = layer;
  row_capacity_ = std::max(row_capacity, 1U);
  entry_capacity_ = std::max(entry_capacity, 1U);
  rows_.assign(row_capacity_, SelectionRow{});
  block_idx_.assign(size_t{row_capacity_} * entry_capacity_, -1);
  scores_.assign(size_t{row_capacity_} * entry_capacity_, 0.0F);
  clear();
}

void SelectionRing::clear() {
  begin_ = 0;
  num_rows_ = 0;
  ++revision_;
}

void SelectionRing::push(SelectionRow row, const int32_t* block_idx, const float* scores) {
  if (row_capacity_ == 0) {
    return;
  }
  if (num_rows_ == row_capacity_) {
    begin_ = (begin_ + 1) % row_capacity_;
  } else {
    ++num_rows_;
  }
  row.num_chosen = std::clamp(row.num_chosen, 0, static_cast<int32_t>(entry_capacity_));
  const size_t at = slot(num_rows_ - 1);
  rows_[at] = row;
  std::copy_n(block_idx, row.num_chosen, block_idx_.data() + at * entry_capacity_);
  std::copy_n(scores, row.num_chosen, scores_.data() + at * entry_capacity_);
  ++revision_;
}

void History::add(uint64_t time_ns, float tokens_per_second, float last_step_ms) {
  if (count > 0 && time_ns - last_ns < kIntervalNs && time_ns >= last_ns) {
    return;
  }
  last_ns = time_ns;
  const auto at = static_cast<size_t>((begin + count) % kCapacity);
  decode_tokens_per_second[at] = tokens_per_second;
  step_ms[at] = last_step_ms;
  if (count < kCapacity) {
    ++count;
  } else {
    begin = (begin + 1) % kCapacity;
  }
}

}  // namespace ifr::overlay
