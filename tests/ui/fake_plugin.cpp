// SPDX-License-Identifier: Apache-2.0
#include "ui/fake_plugin.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>

namespace ifr::overlay::testing {
namespace {

FakePlugin& plugin_of(ifr_runtime* runtime) {
  return *reinterpret_cast<FakePlugin*>(runtime);
}

ifr_result result_of(int32_t code) {
  return {code, code == IFR_OK ? IFR_PART_NONE : IFR_PART_ABI};
}

ifr_result telemetry_read(ifr_runtime* runtime, ifr_telemetry* out) {
  FakePlugin& plugin = plugin_of(runtime);
  if (plugin.telemetry_code == IFR_OK) {
    *out = plugin.telemetry;
    out->struct_size = sizeof(ifr_telemetry);
    out->used_tokens = plugin.used_tokens;
    out->num_operators = static_cast<int32_t>(plugin.operators.size());
  }
  return result_of(plugin.telemetry_code);
}

ifr_result telemetry_operators(ifr_runtime* runtime, ifr_operator_record* records, uint32_t stride,
                               uint32_t capacity, uint32_t* out_count) {
  FakePlugin& plugin = plugin_of(runtime);
  if (plugin.operators_code != IFR_OK) {
    return result_of(plugin.operators_code);
  }
  *out_count = std::min(capacity, static_cast<uint32_t>(plugin.operators.size()));
  for (uint32_t i = 0; i < *out_count; ++i) {
    std::memcpy(reinterpret_cast<char*>(records) + size_t{i} * stride, &plugin.operators[i],
                sizeof(ifr_operator_record));
  }
  return result_of(IFR_OK);
}

ifr_result model_describe(ifr_runtime* runtime, ifr_model /*model*/, ifr_model_description* out) {
  FakePlugin& plugin = plugin_of(runtime);
  ++plugin.num_describe_calls;
  if (plugin.describe_code == IFR_OK) {
    *out = plugin.model;
    out->struct_size = sizeof(ifr_model_description);
  }
  return result_of(plugin.describe_code);
}

ifr_result model_selecting_layers(ifr_runtime* runtime, ifr_model /*model*/, int32_t* layers,
                                  uint32_t capacity, uint32_t* out_count) {
  FakePlugin& plugin = plugin_of(runtime);
  if (plugin.layers_code != IFR_OK) {
    return result_of(plugin.layers_code);
  }
  *out_count = static_cast<uint32_t>(plugin.layers.size());
  if (capacity < *out_count) {
    return result_of(IFR_ERROR_INVALID_ARGUMENT);
  }
  for (const auto& [layer, rows] : plugin.layers) {
    *layers++ = layer;
  }
  return result_of(IFR_OK);
}

ifr_result session_status(ifr_runtime* runtime, ifr_session /*session*/, ifr_session_status* out) {
  FakePlugin& plugin = plugin_of(runtime);
  if (plugin.session_code == IFR_OK) {
    out->context_tokens = plugin.telemetry.context_tokens;
    out->used_tokens = plugin.used_tokens;
    out->busy = 0;
  }
  return result_of(plugin.session_code);
}

ifr_result telemetry_selections(ifr_runtime* runtime, ifr_session /*session*/,
                                ifr_selection_read* read) {
  FakePlugin& plugin = plugin_of(runtime);
  const auto found = plugin.layers.find(read->layer);
  if (plugin.selections_code != IFR_OK || found == plugin.layers.end()) {
    return result_of(plugin.selections_code != IFR_OK ? plugin.selections_code
                                                      : IFR_ERROR_INVALID_ARGUMENT);
  }
  const FakeLayer& layer = found->second;
  const uint64_t end = layer.first_sequence + layer.rows.size();
  const uint64_t first = std::clamp(read->first_sequence, layer.first_sequence, end);
  read->num_lost_rows =
      read->first_sequence == 0 ? 0 : first - std::min(first, read->first_sequence);
  read->num_rows = static_cast<uint32_t>(std::min<uint64_t>(end - first, read->row_capacity));
  for (uint32_t i = 0; i < read->num_rows; ++i) {
    const FakeRow& row = layer.rows[first - layer.first_sequence + i];
    auto* const out = reinterpret_cast<ifr_selection_row*>(reinterpret_cast<char*>(read->rows) +
                                                           size_t{i} * read->row_stride);
    out->layer = read->layer;
    out->query_position = row.query_position;
    out->num_visible_blocks = row.num_visible_blocks;
    out->num_blocks = static_cast<int32_t>(row.blocks.size());
    out->sequence = first + i;
    for (uint32_t entry = 0; entry < read->entry_capacity; ++entry) {
      const size_t at = size_t{i} * read->entry_capacity + entry;
      read->block_idx[at] = entry < row.blocks.size() ? row.blocks[entry] : -1;
      read->scores[at] = entry < row.scores.size() ? row.scores[entry] : 0.0F;
    }
  }
  read->next_sequence = first + read->num_rows;
  return result_of(IFR_OK);
}

ifr_result session_tokens(ifr_runtime* runtime, ifr_session /*session*/, int32_t first,
                          int32_t* ids, uint32_t capacity, uint32_t* out_count) {
  FakePlugin& plugin = plugin_of(runtime);
  if (plugin.tokens_code != IFR_OK) {
    return result_of(plugin.tokens_code);
  }
  *out_count = 0;
  for (auto i = static_cast<size_t>(first); i < plugin.tokens.size() && *out_count < capacity;
       ++i) {
    ids[(*out_count)++] = plugin.tokens[i];
  }
  return result_of(IFR_OK);
}

ifr_result detokenize(ifr_runtime* runtime, ifr_model /*model*/, const int32_t* ids,
                      uint64_t num_ids, char* text, uint64_t capacity, uint64_t* out_bytes) {
  FakePlugin& plugin = plugin_of(runtime);
  ++plugin.num_detokenize_calls;
  if (plugin.detokenize_code != IFR_OK) {
    return result_of(plugin.detokenize_code);
  }
  std::string all;
  for (uint64_t i = 0; i < num_ids; ++i) {
    all += plugin.token_texts[static_cast<size_t>(ids[i])];
  }
  if (all.size() > capacity) {
    return result_of(IFR_ERROR_INVALID_ARGUMENT);
  }
  std::copy(all.begin(), all.end(), text);
  *out_bytes = all.size();
  return result_of(IFR_OK);
}

/// Blocks that a query likes: the start, its neighbourhood, and a few themes that come and go.
FakeRow make_row(int32_t layer, int32_t query, int32_t num_blocks, std::mt19937& random) {
  std::normal_distribution<float> noise(0.0F, 0.25F);
  std::vector<float> scores(static_cast<size_t>(num_blocks));
  const auto q = static_cast<float>(query);
  for (int32_t block = 0; block < num_blocks; ++block) {
    const auto distance = static_cast<float>(num_blocks - 1 - block);
    float score = 1.4F * std::exp(-distance / (6.0F + 5.0F * static_cast<float>(layer % 4)));
    score += block < 3 ? 0.9F : 0.0F;
    const float theme =
        std::sin(static_cast<float>(block) * 0.21F + q * 0.013F * static_cast<float>(layer % 3) +
                 static_cast<float>(layer));
    score += theme > 0.8F ? 0.8F * theme : 0.0F;
    scores[static_cast<size_t>(block)] = std::max(score + noise(random), 0.0F);
  }
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  FakeRow row{query, num_blocks, {}, {}};
  for (size_t i = 0; i < std::min<size_t>(order.size(), 64); ++i) {
    row.blocks.push_back(order[i]);
    row.scores.push_back(scores[static_cast<size_t>(order[i])]);
  }
  return row;
}

void set_text(char* target, size_t capacity, const char* text) {
  std::snprintf(target, capacity, "%s", text);
}

void fill_telemetry(FakePlugin& plugin) {
  ifr_telemetry& telemetry = plugin.telemetry;
  telemetry.num_active_requests = 1;
  telemetry.context_tokens = 4096;
  telemetry.model = 11;
  telemetry.session = 21;
  telemetry.time_ns = 1'000'000'000;
  telemetry.prompt_tokens = 1184;
  telemetry.generated_tokens = 316;
  telemetry.steps = 340;
  telemetry.decode_tokens_per_second = 27.4F;
  telemetry.prefill_tokens_per_second = 212.0F;
  telemetry.first_token_ms = 418.0F;
  telemetry.step_ms = 36.2F;
  telemetry.memory_used_bytes = 612ULL << 20U;
  telemetry.memory_budget_bytes = 1024ULL << 20U;
  telemetry.weight_bytes = 402ULL << 20U;
  telemetry.cache_bytes = 168ULL << 20U;
  telemetry.state_bytes = 42ULL << 20U;
}

}  // namespace

ifr_api fake_api() {
  ifr_api api{};
  api.struct_size = sizeof(ifr_api);
  api.abi_version = IFR_ABI_VERSION;
  api.version = "0.1.0";
  api.telemetry_read = telemetry_read;
  api.telemetry_operators = telemetry_operators;
  api.telemetry_selections = telemetry_selections;
  api.model_describe = model_describe;
  api.model_selecting_layers = model_selecting_layers;
  api.session_status = session_status;
  api.session_tokens = session_tokens;
  api.detokenize = detokenize;
  return api;
}

ifr_operator_record make_operator(int32_t idx, const char* name, uint64_t calls, uint64_t total_ns,
                                  uint64_t bytes, uint64_t flops) {
  ifr_operator_record record{};
  record.struct_size = sizeof(record);
  record.operator_idx = idx;
  record.calls = calls;
  record.total_ns = total_ns;
  record.last_ns = calls > 0 ? total_ns / calls + 40 : 0;
  record.max_ns = record.last_ns * 3;
  record.bytes = bytes;
  record.flops = flops;
  set_text(record.name, sizeof(record.name), name);
  return record;
}

FakePlugin make_busy_plugin(int32_t num_layers, int32_t num_queries) {
  FakePlugin plugin;
  fill_telemetry(plugin);
  set_text(plugin.model.architecture, sizeof(plugin.model.architecture), "qwen4_exp");
  set_text(plugin.model.name, sizeof(plugin.model.name), "Lantern 0.4B");
  plugin.model.num_parameters = 412'000'000;
  plugin.model.num_layers = num_layers * 4;
  plugin.model.has_tokenizer = 1;
  plugin.model.num_selecting_layers = num_layers;
  plugin.model.selection_block_tokens = 4;
  plugin.model.selection_max_blocks = 64;
  plugin.operators = {
      make_operator(0, "linear_q8", 48'960, 6'420'000'000, 81'000'000'000, 162'000'000'000),
      make_operator(1, "moe_experts", 5'440, 2'310'000'000, 30'200'000'000, 60'100'000'000),
      make_operator(2, "sparse_attention", 1'360, 812'000'000, 4'100'000'000, 9'200'000'000),
      make_operator(3, "delta_net", 4'080, 640'000'000, 2'900'000'000, 3'800'000'000),
      make_operator(4, "indexer_scores", 1'360, 402'000'000, 1'800'000'000, 3'100'000'000),
      make_operator(5, "block_selection", 1'360, 51'000'000, 120'000'000, 0),
      make_operator(6, "rms_norm", 21'760, 96'000'000, 640'000'000, 480'000'000),
      make_operator(7, "rope", 2'720, 21'000'000, 180'000'000, 110'000'000),
      make_operator(8, "router_top_k", 5'440, 38'000'000, 90'000'000, 20'000'000),
      make_operator(9, "sample", 316, 4'900'000, 63'000'000, 12'000'000),
  };
  const int32_t first_query = 1500 - num_queries;
  plugin.used_tokens = 1500;
  plugin.tokens.resize(1500);
  for (size_t i = 0; i < plugin.tokens.size(); ++i) {
    plugin.tokens[i] = static_cast<int32_t>(i % 8);
  }
  plugin.token_texts = {" the", " lantern", " swings", " over", " a", " quiet", " harbour", ",\n"};
  std::mt19937 random(7);
  for (int32_t i = 0; i < num_layers; ++i) {
    FakeLayer& layer = plugin.layers[i * 4 + 3];
    for (int32_t query = std::max(first_query, 0); query < 1500; ++query) {
      layer.rows.push_back(make_row(i, query, (query + 1) / 4, random));
    }
  }
  return plugin;
}

FakePlugin make_dense_plugin() {
  FakePlugin plugin = make_busy_plugin(0, 0);
  set_text(plugin.model.architecture, sizeof(plugin.model.architecture), "llama");
  set_text(plugin.model.name, sizeof(plugin.model.name), "SmolLM2 135M Instruct");
  plugin.model.num_parameters = 134'515'008;
  plugin.model.selection_block_tokens = 0;
  return plugin;
}

}  // namespace ifr::overlay::testing
