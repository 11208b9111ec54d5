// SPDX-License-Identifier: Apache-2.0
// The commands of the `interframe` program. Each returns the process's exit code: 0, 1 (failed,
// reason on stderr).
#pragma once

#include <cstdint>
#include <string>

namespace ifr::tools {

struct InfoOptions {
  std::string model;
  std::string sparse;          // as parse_sparse takes it
  int32_t context_tokens = 0;  // 0: the smaller of the model's and 4096
};
int command_info(const InfoOptions& options);

struct GenerateOptions {
  std::string model;
  std::string prompt;
  std::string backend = "cpu";
  int32_t max_tokens = 64;
  int32_t context_tokens = 0;
  int32_t threads = 0;
  float temperature = 0.0F;
  float top_p = 1.0F;
  int32_t top_k = 0;
  uint64_t seed = 0;
  bool has_seed = false;
  bool chat = false;
  bool parse_special = false;
  bool ignore_end = false;
  bool json = false;
};
int command_generate(const GenerateOptions& options);

struct LogitsOptions {
  std::string model;
  std::string tokens;
  std::string out;
  std::string backend = "cpu";
  std::string activations = "f32";
  std::string sparse;
  int32_t chunk_tokens = 64;
  int32_t threads = 0;
};
int command_logits(const LogitsOptions& options);

struct PerplexityOptions {
  std::string model;
  std::string text;
  std::string sparse;
  std::string json;           // a path, "-" for standard output, empty for none
  int32_t num_windows = 0;    // 0: all that the text fills
  int32_t window_tokens = 0;  // 0: the smaller of the model's context and 2048
  int32_t threads = 0;
};
int command_perplexity(const PerplexityOptions& options);

}  // namespace ifr::tools
