// SPDX-License-Identifier: Apache-2.0
// What a sequence and a workspace of qwen4_exp hold: pointers into their slabs. Private to
// qwen4_exp.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/blocks/delta_net.h"
#include "engine/blocks/hyper_connection.h"
#include "engine/blocks/moe.h"
#include "engine/blocks/ple.h"
#include "engine/blocks/sparse_attention.h"
#include "engine/decoder.h"

namespace ifr {

class Qwen4ExpSequence final : public DecoderSequence {
 public:
  Qwen4ExpSequence(size_t num_delta_net, size_t num_sparse, size_t num_ple, int32_t ngram_eos)
      : delta_net(num_delta_net), sparse(num_sparse), ple(num_ple), eos_(ngram_eos) {}

  std::vector<DeltaNetState> delta_net;
  std::vector<SparseAttentionState> sparse;
  std::vector<PleState> ple;
  int32_t* window = nullptr;  // [window_len]: the last tokens, oldest first
  int32_t window_len = 0;

 protected:
  void begin_states() override { std::fill_n(window, window_len, eos_); }

 private:
  int32_t eos_;
};

class Qwen4ExpWorkspace final : public DecoderWorkspace {
 public:
  explicit Qwen4ExpWorkspace(size_t num_ple) : gathered(num_ple) {}

  float* streams = nullptr;    // [T, C * H]
  float* mixed = nullptr;      // [T, H]
  float* inject = nullptr;     // [T, C]
  float* block_out = nullptr;  // [T, H]
  std::vector<PleGathered> gathered;
  PleGatherScratch gather;
  HyperConnectionScratch mix;
  DeltaNetScratch delta_net;
  SparseAttentionScratch sparse;
  MoeScratch moe;
  PleScratch ple;
};

}  // namespace ifr
