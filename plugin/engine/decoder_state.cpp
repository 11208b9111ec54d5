// SPDX-License-Identifier: Apache-2.0
// What a sequence was: going back to it, copying it, taking it out and putting it in again.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/decoder.h"

namespace ifr {

void DecoderSequence::reset() {
  num_tokens_ = 0;
  is_broken_ = false;
  checkpoints_.clear();
  if (recurrent_.size_bytes() > 0) {
    std::memset(recurrent_.data(), 0, recurrent_.size_bytes());
  }
  begin_states();
}

std::byte* DecoderSequence::saved_state(int32_t slot) {
  return saved_states_.data() + static_cast<uint64_t>(slot) * recurrent_.size_bytes();
}

int32_t DecoderSequence::rewindable_tokens(int32_t num_tokens) const {
  const int32_t wanted = std::clamp(num_tokens, 0, num_tokens_);
  if (recurrent_.size_bytes() == 0 || (wanted == num_tokens_ && !is_broken_)) {
    return wanted;
  }
  int32_t best = 0;
  for (const Checkpoint& checkpoint : checkpoints_) {
    if (checkpoint.num_tokens <= wanted) {
      best = checkpoint.num_tokens;
    }
  }
  return best;
}

Status DecoderSequence::rewind(int32_t num_tokens) {
  if (num_tokens != rewindable_tokens(num_tokens)) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "a sequence of %d tokens cannot go back to %d; the nearest possible is %d",
                      num_tokens_, num_tokens, rewindable_tokens(num_tokens));
  }
  if (num_tokens == 0) {
    reset();
    return {};
  }
  const auto behind =
      std::find_if(checkpoints_.begin(), checkpoints_.end(),
                   [&](const Checkpoint& entry) { return entry.num_tokens > num_tokens; });
  checkpoints_.erase(behind, checkpoints_.end());
  if (recurrent_.size_bytes() > 0 && (num_tokens != num_tokens_ || is_broken_)) {
    std::memcpy(recurrent_.data(), saved_state(checkpoints_.back().slot), recurrent_.size_bytes());
  }
  num_tokens_ = num_tokens;
  is_broken_ = false;
  return {};
}

int32_t DecoderSequence::slot_to_save() {
  if (static_cast<int32_t>(checkpoints_.size()) < num_slots_) {
    // The first slot that none uses.
    int32_t slot = 0;
    while (std::any_of(checkpoints_.begin(), checkpoints_.end(),
                       [&](const Checkpoint& entry) { return entry.slot == slot; })) {
      ++slot;
    }
    return slot;
  }
  size_t victim = 0;
  int32_t smallest_gap = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < checkpoints_.size(); ++i) {
    const int32_t before = i == 0 ? 0 : checkpoints_[i - 1].num_tokens;
    const int32_t after =
        i + 1 < checkpoints_.size() ? checkpoints_[i + 1].num_tokens : num_tokens_;
    if (after - before < smallest_gap) {
      smallest_gap = after - before;
      victim = i;
    }
  }
  const int32_t slot = checkpoints_[victim].slot;
  checkpoints_.erase(checkpoints_.begin() + static_cast<std::ptrdiff_t>(victim));
  return slot;
}

void DecoderSequence::save_checkpoint() {
  if (num_slots_ == 0 || is_broken_ || num_tokens_ == 0 || newest_checkpoint() == num_tokens_) {
    return;
  }
  const int32_t slot = slot_to_save();
  std::memcpy(saved_state(slot), recurrent_.data(), recurrent_.size_bytes());
  checkpoints_.push_back({.num_tokens = num_tokens_, .slot = slot});
}

int32_t DecoderSequence::newest_checkpoint() const {
  if (recurrent_.size_bytes() == 0) {
    return num_tokens_;
  }
  return checkpoints_.empty() ? 0 : checkpoints_.back().num_tokens;
}

std::vector<std::span<std::byte>> Decoder::state_parts(DecoderSequence& sequence,
                                                       int32_t num_tokens) const {
  std::vector<std::span<std::byte>> parts;
  const KvShape shape = kv_shape();
  const auto add_rows = [&](float* first, int64_t num_rows) {
    parts.push_back(std::as_writable_bytes(
        std::span(first, static_cast<size_t>(num_rows) * static_cast<size_t>(shape.head_dim))));
  };
  for (int32_t layer = 0; layer < shape.num_layers; ++layer) {
    const kernels::PagedKvCache cache = kv_cache(sequence, layer);
    for (int64_t begin = 0; begin < num_tokens; begin += kernels::kPageTokens) {
      const int64_t num_rows = std::min(kernels::kPageTokens, num_tokens - begin);
      const int64_t page = cache.block_table[begin / kernels::kPageTokens];
      for (int64_t head = 0; head < shape.num_kv_heads; ++head) {
        const int64_t offset =
            page * cache.page_stride + head * kernels::kPageTokens * shape.head_dim;
        add_rows(cache.key_pool + offset, num_rows);
        add_rows(cache.value_pool + offset, num_rows);
      }
    }
  }
  if (sequence.recurrent_.size_bytes() > 0) {
    parts.emplace_back(sequence.recurrent_.data(), sequence.recurrent_.size_bytes());
  }
  for (const std::span<std::byte> rows : appended_rows(sequence, num_tokens)) {
    parts.push_back(rows);
  }
  return parts;
}

uint64_t Decoder::state_bytes(int32_t num_tokens) const {
  const auto tokens = static_cast<uint64_t>(std::max(num_tokens, 0));
  uint64_t bytes = page_bytes() / static_cast<uint64_t>(kernels::kPageTokens) * tokens;
  const std::unique_ptr<DecoderSequence> sequence = make_sequence();
  ScratchLayout recurrent(nullptr);
  lay_out_recurrent(*sequence, recurrent);
  bytes += recurrent.peak_bytes();
  ScratchLayout appended(nullptr);
  lay_out_appended(*sequence, std::max(num_tokens, 1), appended);
  for (const std::span<std::byte> rows : appended_rows(*sequence, num_tokens)) {
    bytes += rows.size();
  }
  return bytes;
}

uint64_t Decoder::state_layout() const {
  const KvShape shape = kv_shape();
  constexpr int32_t kSampleTokens = 4096;
  const uint64_t numbers[] = {
      static_cast<uint64_t>(shape.num_layers),
      static_cast<uint64_t>(shape.num_kv_heads),
      static_cast<uint64_t>(shape.head_dim),
      sizeof(float),
      state_bytes(0),
      state_bytes(std::min(kSampleTokens, info_.context_tokens)),
      static_cast<uint64_t>(info_.options.activations),
      static_cast<uint64_t>(info_.options.sparse_budget_tokens),
  };
  uint64_t hash = 0xCBF29CE484222325ULL;  // 64-bit FNV-1a, a number at a time
  for (const uint64_t number : numbers) {
    hash = (hash ^ number) * 0x100000001B3ULL;
  }
  return hash;
}

Status Decoder::check_own(const Sequence& sequence) const {
  const auto* own = dynamic_cast<const DecoderSequence*>(&sequence);
  if (own == nullptr || own->owner_ != this) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "the sequence was made by another model");
  }
  if (own->is_broken_) {
    return make_error(Code::kInvalidState, Part::kEngine,
                      "an earlier step of this sequence failed half way; reset or rewind it first");
  }
  return {};
}

Expected<std::unique_ptr<Sequence>> Decoder::fork(const Sequence& source) const {
  IFR_TRY(check_own(source));
  // Only read: the parts of a sequence are found through its non-const pointers.
  auto& from = const_cast<DecoderSequence&>(static_cast<const DecoderSequence&>(source));
  IFR_ASSIGN_OR_RETURN(std::unique_ptr<Sequence> made,
                       create_sequence(from.context_tokens_, {.num_checkpoints = from.num_slots_}));
  auto& to = static_cast<DecoderSequence&>(*made);
  const std::vector<std::span<std::byte>> from_parts = state_parts(from, from.num_tokens_);
  const std::vector<std::span<std::byte>> to_parts = state_parts(to, from.num_tokens_);
  for (size_t i = 0; i < from_parts.size(); ++i) {
    std::copy(from_parts[i].begin(), from_parts[i].end(), to_parts[i].begin());
  }
  for (const DecoderSequence::Checkpoint& checkpoint : from.checkpoints_) {
    std::memcpy(to.saved_state(checkpoint.slot), from.saved_state(checkpoint.slot),
                from.recurrent_.size_bytes());
    to.checkpoints_.push_back(checkpoint);
  }
  to.num_tokens_ = from.num_tokens_;
  return made;
}

Status Decoder::export_state(const Sequence& sequence, std::span<std::byte> out) const {
  IFR_TRY(check_own(sequence));
  auto& own = const_cast<DecoderSequence&>(static_cast<const DecoderSequence&>(sequence));
  const uint64_t needed = state_bytes(own.num_tokens_);
  if (out.size() != needed) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "room for %zu bytes of state was given; %llu are needed", out.size(),
                      static_cast<unsigned long long>(needed));
  }
  auto* at = out.data();
  for (const std::span<std::byte> part : state_parts(own, own.num_tokens_)) {
    at = std::copy(part.begin(), part.end(), at);
  }
  return {};
}

Status Decoder::import_state(Sequence& sequence, int32_t num_tokens,
                             std::span<const std::byte> state) const {
  auto* own = dynamic_cast<DecoderSequence*>(&sequence);
  if (own == nullptr || own->owner_ != this) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "the sequence was made by another model");
  }
  if (num_tokens < 0 || num_tokens > own->context_tokens_) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "a state of %d tokens does not fit a context of %d", num_tokens,
                      own->context_tokens_);
  }
  if (state.size() != state_bytes(num_tokens)) {
    return make_error(Code::kInvalidArgument, Part::kEngine,
                      "a state of %d tokens has %llu bytes; %zu were given", num_tokens,
                      static_cast<unsigned long long>(state_bytes(num_tokens)), state.size());
  }
  own->reset();
  auto at = state.begin();
  for (const std::span<std::byte> part : state_parts(*own, num_tokens)) {
    std::copy_n(at, part.size(), part.begin());
    at += static_cast<std::ptrdiff_t>(part.size());
  }
  own->num_tokens_ = num_tokens;
  own->save_checkpoint();
  return {};
}

}  // namespace ifr
