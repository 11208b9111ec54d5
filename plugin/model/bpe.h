// SPDX-License-Identifier: Apache-2.0
// The merges of a byte-pair encoding: pairs of token ids, best first.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace ifr {

// Working memory of BpeMerges::apply; one for each thread, reused from word to word.
struct BpeScratch {
  struct Symbol {
    int32_t id = -1;  // -1: merged into the one before
    int32_t previous = -1;
    int32_t next = -1;
  };
  struct Candidate {
    int32_t rank = 0;
    int32_t position = 0;  // of the left symbol
    int32_t left_id = 0;
    int32_t right_id = 0;
    int32_t merged_id = 0;
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

// Immutable after the last add(); apply() may then be called from any thread.
class BpeMerges {
 public:
  void reserve(size_t num_merges) { merges_.reserve(num_merges); }

  // The pair `left`, `right` becomes `merged`. Ranked by the order of calls; a pair that is there
  // already keeps its rank.
  void add(int32_t left, int32_t right, int32_t merged);

  // Appends to `out` what is left of `symbols` (fewer than 2^31 ids) when, again and again, the
  // best pair was merged, the leftmost among equals. Time: n log n.
  void apply(std::span<const int32_t> symbols, BpeScratch& scratch,
             std::vector<int32_t>& out) const;

 private:
  struct Merge {
    int32_t rank = 0;
    int32_t merged_id = 0;
  };
  struct PairHash {
    size_t operator()(uint64_t key) const;
  };

  void push_candidate(BpeScratch& scratch, int32_t left) const;

  std::unordered_map<uint64_t, Merge, PairHash> merges_;  // key: left id, right id
};

}  // namespace ifr
