// SPDX-License-Identifier: Apache-2.0
// A plugin of plain data behind the function table: what the overlay reads, every call can be told
// to fail.
#ifndef INTERFRAME_TESTS_UI_FAKE_PLUGIN_H
#define INTERFRAME_TESTS_UI_FAKE_PLUGIN_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interframe/interframe.h"

namespace ifr::overlay::testing {

struct FakeRow {
  int32_t query_position = 0;
  int32_t num_visible_blocks = 0;
  std::vector<int32_t> blocks;  ///< best first
  std::vector<float> scores;    ///< of the same size
};

/// Rows of a layer. The sequence of rows[i] is first_sequence + i; older ones are overwritten.
struct FakeLayer {
  uint64_t first_sequence = 1;
  std::vector<FakeRow> rows;
};

struct FakePlugin {
  ifr_telemetry telemetry{};
  std::vector<ifr_operator_record> operators;
  ifr_model_description model{};
  std::map<int32_t, FakeLayer> layers;
  std::vector<int32_t> tokens;           ///< of the session
  std::vector<std::string> token_texts;  ///< by token id
  int32_t used_tokens = 0;

  // Codes that the calls return.
  int32_t telemetry_code = IFR_OK;
  int32_t operators_code = IFR_OK;
  int32_t describe_code = IFR_OK;
  int32_t layers_code = IFR_OK;
  int32_t session_code = IFR_OK;
  int32_t selections_code = IFR_OK;
  int32_t tokens_code = IFR_OK;
  int32_t detokenize_code = IFR_OK;

  int32_t num_detokenize_calls = 0;
  int32_t num_describe_calls = 0;

  [[nodiscard]] ifr_runtime* runtime() { return reinterpret_cast<ifr_runtime*>(this); }
};

/// A table whose calls read the FakePlugin that the runtime pointer is. Calls the overlay must not
/// make are null.
ifr_api fake_api();

ifr_operator_record make_operator(int32_t idx, const char* name, uint64_t calls, uint64_t total_ns,
                                  uint64_t bytes, uint64_t flops);

/// A small qwen4_exp model in the middle of an answer: `num_layers` selecting layers with
/// `num_queries` queries each over blocks of 4 tokens, 64 chosen at most. Always the same.
FakePlugin make_busy_plugin(int32_t num_layers, int32_t num_queries);
/// A dense llama model.
FakePlugin make_dense_plugin();

}  // namespace ifr::overlay::testing

#endif  // INTERFRAME_TESTS_UI_FAKE_PLUGIN_H
