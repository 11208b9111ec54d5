// SPDX-License-Identifier: Apache-2.0
#include "model/bpe.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace ifr {
namespace {

uint64_t pair_key(int32_t left, int32_t right) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
}

// Heap order: the best candidate is the "largest", so that std::push_heap keeps it in front.
bool is_worse(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

}  // namespace

size_t BpeMerges::PairHash::operator()(uint64_t key) const {
  // Ids are small and dense: spread them over all bits (the finalizer of MurmurHash3).
  key = (key ^ (key >> 33)) * 0xFF51AFD7ED558CCDull;
  key = (key ^ (key >> 33)) * 0xC4CEB9FE1A85EC53ull;
  return static_cast<size_t>(key ^ (key >> 33));
}

void BpeMerges::add(int32_t left, int32_t right, int32_t merged) {
  const auto rank = static_cast<int32_t>(merges_.size());
  merges_.try_emplace(pair_key(left, right), Merge{.rank = rank, .merged_id = merged});
}

void BpeMerges::push_candidate(BpeScratch& scratch, int32_t left) const {
  if (left < 0) {
    return;
  }
  const BpeScratch::Symbol& symbol = scratch.symbols[static_cast<size_t>(left)];
  if (symbol.next < 0) {
    return;
  }
  const int32_t right_id = scratch.symbols[static_cast<size_t>(symbol.next)].id;
  const auto merge = merges_.find(pair_key(symbol.id, right_id));
  if (merge == merges_.end()) {
    return;
  }
  scratch.heap.push_back({.rank = merge->second.rank,
                          .position = left,
                          .left_id = symbol.id,
                          .right_id = right_id,
                          .merged_id = merge->second.merged_id});
  std::push_heap(scratch.heap.begin(), scratch.heap.end(), is_worse);
}

void BpeMerges::apply(std::span<const int32_t> symbols, BpeScratch& scratch,
                      std::vector<int32_t>& out) const {
  assert(symbols.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max()));
  const auto count = static_cast<int32_t>(symbols.size());
  scratch.heap.clear();
  scratch.symbols.resize(symbols.size());
  for (int32_t i = 0; i < count; ++i) {
    const auto idx = static_cast<size_t>(i);
    scratch.symbols[idx] = {
        .id = symbols[idx], .previous = i - 1, .next = i + 1 < count ? i + 1 : -1};
  }
  for (int32_t i = 0; i < count; ++i) {
    push_candidate(scratch, i);
  }
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), is_worse);
    const BpeScratch::Candidate best = scratch.heap.back();
    scratch.heap.pop_back();
    BpeScratch::Symbol& left = scratch.symbols[static_cast<size_t>(best.position)];
    // Either side may have been merged since this pair was seen; the pairs that came of that have
    // candidates of their own.
    if (left.id != best.left_id || left.next < 0) {
      continue;
    }
    BpeScratch::Symbol& right = scratch.symbols[static_cast<size_t>(left.next)];
    if (right.id != best.right_id) {
      continue;
    }
    left.id = best.merged_id;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) {
      scratch.symbols[static_cast<size_t>(left.next)].previous = best.position;
    }
    push_candidate(scratch, left.previous);
    push_candidate(scratch, best.position);
  }
  for (int32_t i = count > 0 ? 0 : -1; i >= 0; i = scratch.symbols[static_cast<size_t>(i)].next) {
    out.push_back(scratch.symbols[static_cast<size_t>(i)].id);
  }
}

}  // namespace ifr
