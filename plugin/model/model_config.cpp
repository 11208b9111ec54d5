// SPDX-License-Identifier: Apache-2.0
#include "model/model_config.h"

#include <algorithm>

namespace ifr {

int32_t Qwen4ExpConfig::ple_index_of_layer(int32_t layer_idx) const {
  const auto found = std::find(ple.layers.begin(), ple.layers.end(), layer_idx);
  return found == ple.layers.end() ? -1 : static_cast<int32_t>(found - ple.layers.begin());
}

bool Qwen4ExpConfig::has_layer_of_kind(LayerKind kind) const {
  return std::find(layer_kinds.begin(), layer_kinds.end(), kind) != layer_kinds.end();
}

const char* ModelConfig::arch_name() const {
  return llama() != nullptr ? "llama" : "qwen4_exp";
}

int32_t ModelConfig::vocab_size() const {
  return std::visit([](const auto& config) { return config.vocab_size; }, arch);
}

int32_t ModelConfig::context_length() const {
  return std::visit([](const auto& config) { return config.context_length; }, arch);
}

int32_t ModelConfig::hidden_size() const {
  return std::visit([](const auto& config) { return config.hidden_size; }, arch);
}

int32_t ModelConfig::num_layers() const {
  return std::visit([](const auto& config) { return config.num_layers; }, arch);
}

}  // namespace ifr
