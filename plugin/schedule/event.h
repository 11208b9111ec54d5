// SPDX-License-Identifier: Apache-2.0
// What the host polls: plain data of fixed size, made by the plugin's threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace ifr {

// Values equal those of interframe.h (a test of abi/ holds them together).
enum class EventType : int32_t { kToken = 1, kFinished = 2, kModelReady = 3, kModelFailed = 4 };
enum class Certainty : int32_t { kFinal = 0, kTentative = 1, kDone = 2 };
enum class FinishReason : int32_t {
  kNone = 0,
  kEndToken = 1,
  kMaxTokens = 2,
  kContext = 3,
  kCancelled = 4,
  kError = 5,
};

inline constexpr size_t kEventTextCapacity = 128;

struct Event {
  EventType type = EventType::kToken;
  uint64_t model = 0;
  uint64_t session = 0;
  uint64_t request = 0;
  int32_t token_id = -1;
  int32_t position = -1;
  Certainty certainty = Certainty::kFinal;
  FinishReason finish_reason = FinishReason::kNone;
  Code code = Code::kOk;
  Part part = Part::kNone;
  uint32_t text_bytes = 0;
  uint32_t raw_bytes = 0;
  std::array<char, kEventTextCapacity> text = {};    // whole UTF-8 characters
  std::array<uint8_t, kEventTextCapacity> raw = {};  // the token's own bytes
  uint64_t seed = 0;
  int32_t prompt_tokens = 0;
  int32_t generated_tokens = 0;
  uint64_t first_token_us = 0;
  uint64_t total_us = 0;
};

}  // namespace ifr
