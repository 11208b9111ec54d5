// SPDX-License-Identifier: Apache-2.0
// Any text as a config.json: refused, or a configuration whose divisions and products are safe.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/model_config.h"
#include "model/ngram_constants.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto model = ifr::parse_config_json(text, "fuzz");
  if (!model.is_ok()) {
    return 0;
  }
  const ifr::Qwen4ExpConfig& config = *model->qwen4_exp();
  if (config.num_heads % config.num_kv_heads != 0 || config.linear_conv_channels() <= 0 ||
      config.layer_kinds.size() != static_cast<size_t>(config.num_layers)) {
    std::abort();
  }
  if (!config.ple.layers.empty() &&
      ifr::make_ngram_constants(config.ple, config.vocab_size, 0).num_rows <= 0) {
    std::abort();
  }
  return 0;
}
