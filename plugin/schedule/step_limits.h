// SPDX-License-Identifier: Apache-2.0
// How long a quantum of work may be.
#pragma once

#include <cstdint>

namespace ifr {

// Longest chunk of a prompt. Chunks are powers of two up to this; results do not depend on them on
// the CPU (the engine's contract).
inline constexpr int32_t kMaxChunkTokens = 64;
// Of a chunk whose cost is not known yet.
inline constexpr int32_t kFirstChunkTokens = 16;
// What a chunk should last at most: bounds cancel, and how long other sessions wait for their turn.
inline constexpr double kChunkTargetNs = 100e6;

// Tokens of the next chunk of `unfed`, by the measured cost of one (0: unknown).
[[nodiscard]] inline int32_t chunk_tokens(int32_t unfed, double ns_per_token) {
  int32_t chunk = ns_per_token > 0.0 ? kMaxChunkTokens : kFirstChunkTokens;
  while (chunk > 1 && ns_per_token * chunk > kChunkTargetNs) {
    chunk /= 2;
  }
  return unfed < chunk ? unfed : chunk;
}

}  // namespace ifr
