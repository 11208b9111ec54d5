// SPDX-License-Identifier: Apache-2.0
// Plugin -> snapshot, once a frame. Only calls that neither wait nor lock; everything is bounded by
// capacities.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "interframe_overlay/overlay.h"
#include "panels/format.h"

namespace ifr::overlay {
namespace {

constexpr uint32_t kMaxOperators = 512;
constexpr uint32_t kMaxLayers = 256;
constexpr uint32_t kMaxRowsPerFrame = 1024;
constexpr uint32_t kMaxRowsKept = 1 << 16;
constexpr uint32_t kMaxEntriesKept = 1 << 14;
constexpr int32_t kMaxTextTokens = 64;
// Positions stay far from the end of int32: blocks times tokens of a block is at most 2^30.
constexpr int32_t kMaxBlocks = 1 << 22;
constexpr int32_t kMaxBlockTokens = 1 << 8;
constexpr size_t kTextCacheEntries = 32;

/// A plugin older or newer than this header leaves fields of its table out.
#define IFR_TABLE_HAS(api, call) \
  ((api).struct_size >= offsetof(ifr_api, call) + sizeof((api).call) && (api).call != nullptr)

bool succeeded(ifr_result result) {
  return result.code == IFR_OK;
}

void read_operators(const ifr_api& api, ifr_runtime* runtime, Snapshot& snapshot) {
  if (!IFR_TABLE_HAS(api, telemetry_operators)) {
    return;
  }
  const auto wanted = static_cast<uint32_t>(std::clamp(snapshot.telemetry.num_operators, int32_t{0},
                                                       static_cast<int32_t>(kMaxOperators)));
  const size_t before = snapshot.operators.size();
  snapshot.operators.resize(std::max<size_t>(wanted, before));
  for (ifr_operator_record& record : snapshot.operators) {
    record.struct_size = sizeof(ifr_operator_record);
  }
  uint32_t count = 0;
  const ifr_result result =
      api.telemetry_operators(runtime, snapshot.operators.data(), sizeof(ifr_operator_record),
                              static_cast<uint32_t>(snapshot.operators.size()), &count);
  snapshot.operators.resize(succeeded(result) ? std::min<size_t>(count, snapshot.operators.size())
                                              : before);
  for (ifr_operator_record& record : snapshot.operators) {
    record.name[sizeof(record.name) - 1] = '\0';
  }
}

/// Makes one ring for each selecting layer. False when it has to be tried again.
bool read_layers(const ifr_api& api, ifr_runtime* runtime, ifr_model model, Snapshot& snapshot,
                 CollectState& state) {
  snapshot.layers.clear();
  state.next_sequence.clear();
  if (snapshot.model.num_selecting_layers <= 0 || !IFR_TABLE_HAS(api, model_selecting_layers) ||
      !IFR_TABLE_HAS(api, telemetry_selections)) {
    return true;
  }
  std::vector<int32_t> layers(kMaxLayers);
  uint32_t count = 0;
  if (!succeeded(api.model_selecting_layers(runtime, model, layers.data(), kMaxLayers, &count))) {
    return false;
  }
  const uint32_t num_layers = std::min(count, kMaxLayers);
  const uint32_t rows = std::clamp(state.row_capacity, 1U, kMaxRowsKept);
  const auto most = static_cast<uint32_t>(std::max(snapshot.model.selection_max_blocks, 1));
  const uint32_t entries = std::min(most, std::clamp(state.max_entries, 1U, kMaxEntriesKept));
  const uint32_t read_rows = std::clamp(state.max_rows_per_frame, 1U, kMaxRowsPerFrame);
  snapshot.layers.resize(num_layers);
  for (uint32_t i = 0; i < num_layers; ++i) {
    snapshot.layers[i].reset(layers[i], rows, entries);
  }
  state.next_sequence.assign(num_layers, 0);
  state.row_scratch.resize(read_rows);
  state.block_scratch.resize(size_t{read_rows} * entries);
  state.score_scratch.resize(size_t{read_rows} * entries);
  return true;
}

void read_model(const ifr_api& api, ifr_runtime* runtime, Snapshot& snapshot, CollectState& state) {
  const ifr_model model = state.model != 0 ? state.model : snapshot.telemetry.model;
  const bool known = snapshot.has_model && model == state.described_model;
  if (model == 0 || known || !IFR_TABLE_HAS(api, model_describe)) {
    return;
  }
  ifr_model_description description{};
  description.struct_size = sizeof(description);
  if (!succeeded(api.model_describe(runtime, model, &description))) {
    return;  // still loading, or released: what was known stays, and the next frame asks again
  }
  description.architecture[sizeof(description.architecture) - 1] = '\0';
  description.name[sizeof(description.name) - 1] = '\0';
  description.selection_block_tokens =
      std::clamp(description.selection_block_tokens, 0, kMaxBlockTokens);
  snapshot.model = description;
  snapshot.has_model = true;
  state.text_cache.clear();
  state.read_session = 0;
  if (read_layers(api, runtime, model, snapshot, state)) {
    state.described_model = model;
  }
}

void forget_conversation(Snapshot& snapshot, CollectState& state) {
  for (SelectionRing& ring : snapshot.layers) {
    ring.clear();
  }
  std::fill(state.next_sequence.begin(), state.next_sequence.end(), 0U);
  state.text_cache.clear();
  state.next_cache_entry = 0;
  snapshot.num_lost_rows = 0;
  snapshot.block_text = TokenText{};
  snapshot.query_text = TokenText{};
}

/// Follows the session that is shown; a new one, or one that began anew, empties the maps.
void follow_session(const ifr_api& api, ifr_runtime* runtime, Snapshot& snapshot,
                    CollectState& state) {
  const ifr_session session = state.session != 0 ? state.session : snapshot.telemetry.session;
  if (session == 0) {
    return;
  }
  if (session != state.read_session) {
    forget_conversation(snapshot, state);
    state.read_session = session;
    state.last_used_tokens = 0;
    snapshot.session = session;
    snapshot.session_state = SessionState::kOpen;
  }
  if (!IFR_TABLE_HAS(api, session_status)) {
    return;
  }
  ifr_session_status status{};
  status.struct_size = sizeof(status);
  const ifr_result result = api.session_status(runtime, session, &status);
  if (!succeeded(result)) {
    if (result.code == IFR_ERROR_INVALID_HANDLE) {
      snapshot.session_state = SessionState::kClosed;
    }
    return;
  }
  snapshot.session_state = SessionState::kOpen;
  if (status.used_tokens < state.last_used_tokens) {
    forget_conversation(snapshot, state);
  }
  state.last_used_tokens = status.used_tokens;
}

/// Copies rows out of the scratch arrays. A query at or before the last one means that the
/// conversation began anew.
void push_rows(const ifr_selection_read& read, SelectionRing& ring) {
  const uint32_t num_rows = std::min(read.num_rows, read.row_capacity);
  for (uint32_t i = 0; i < num_rows; ++i) {
    const ifr_selection_row& row = read.rows[i];
    if (ring.num_rows() > 0) {
      const SelectionRow& newest = ring.row(ring.num_rows() - 1);
      if (row.query_position <= newest.query_position) {
        ring.clear();
      }
    }
    const auto num_chosen =
        static_cast<int32_t>(std::clamp<int64_t>(row.num_blocks, 0, read.entry_capacity));
    const int32_t num_visible = std::clamp(row.num_visible_blocks, 0, kMaxBlocks);
    ring.push({row.sequence, row.query_position, num_visible, num_chosen},
              read.block_idx + size_t{i} * read.entry_capacity,
              read.scores + size_t{i} * read.entry_capacity);
  }
}

void read_selections(const ifr_api& api, ifr_runtime* runtime, Snapshot& snapshot,
                     CollectState& state) {
  if (snapshot.session_state != SessionState::kOpen) {
    return;
  }
  for (size_t i = 0; i < snapshot.layers.size(); ++i) {
    SelectionRing& ring = snapshot.layers[i];
    ifr_selection_read read{};
    read.struct_size = sizeof(read);
    read.layer = ring.layer();
    read.first_sequence = state.next_sequence[i];
    read.rows = state.row_scratch.data();
    read.row_stride = sizeof(ifr_selection_row);
    read.row_capacity = static_cast<uint32_t>(state.row_scratch.size());
    read.block_idx = state.block_scratch.data();
    read.scores = state.score_scratch.data();
    read.entry_capacity = ring.entry_capacity();
    for (ifr_selection_row& row : state.row_scratch) {
      row.struct_size = sizeof(ifr_selection_row);
    }
    if (!succeeded(api.telemetry_selections(runtime, state.read_session, &read))) {
      continue;
    }
    push_rows(read, ring);
    snapshot.num_lost_rows += read.num_lost_rows;
    state.next_sequence[i] = read.next_sequence;
  }
}

/// The bytes of `ids` as valid UTF-8; false when the model has no tokenizer or refuses.
bool read_bytes(const ifr_api& api, ifr_runtime* runtime, ifr_model model, TokenText& text) {
  if (!IFR_TABLE_HAS(api, detokenize)) {
    return false;
  }
  std::array<char, 2048> bytes;
  uint64_t num_bytes = 0;
  if (!succeeded(api.detokenize(runtime, model, text.ids.data(), text.ids.size(), bytes.data(),
                                bytes.size(), &num_bytes))) {
    return false;
  }
  text.text = printable_utf8({bytes.data(), std::min<size_t>(num_bytes, bytes.size())});
  return true;
}

void read_text(const ifr_api& api, ifr_runtime* runtime, const Snapshot& snapshot,
               CollectState& state, TokenRange wanted, TokenText& out) {
  if (wanted == out.range) {
    return;
  }
  const auto cached = std::find_if(state.text_cache.begin(), state.text_cache.end(),
                                   [&](const TokenText& text) { return text.range == wanted; });
  if (cached != state.text_cache.end()) {
    out = *cached;
    return;
  }
  out = TokenText{};
  if (wanted.count <= 0 || wanted.first < 0 || snapshot.session_state != SessionState::kOpen ||
      !IFR_TABLE_HAS(api, session_tokens)) {
    return;
  }
  TokenText text;
  text.range = wanted;
  text.ids.resize(static_cast<size_t>(std::min(wanted.count, kMaxTextTokens)));
  uint32_t count = 0;
  if (!succeeded(api.session_tokens(runtime, state.read_session, wanted.first, text.ids.data(),
                                    static_cast<uint32_t>(text.ids.size()), &count)) ||
      count == 0) {
    return;
  }
  text.ids.resize(std::min<size_t>(count, text.ids.size()));
  text.has_text =
      snapshot.model.has_tokenizer != 0 && read_bytes(api, runtime, state.described_model, text);
  if (state.text_cache.size() < kTextCacheEntries) {
    state.text_cache.push_back(text);
  } else {
    state.text_cache[state.next_cache_entry] = text;
    state.next_cache_entry = (state.next_cache_entry + 1) % kTextCacheEntries;
  }
  out = std::move(text);
}

}  // namespace

void collect(const ifr_api& api, ifr_runtime* runtime, Snapshot& snapshot, CollectState& state) {
  snapshot.live = false;
  if (runtime == nullptr || !IFR_TABLE_HAS(api, telemetry_read)) {
    snapshot.error_code = IFR_ERROR_INVALID_STATE;
    return;
  }
  ifr_telemetry telemetry{};
  telemetry.struct_size = sizeof(telemetry);
  const ifr_result result = api.telemetry_read(runtime, &telemetry);
  snapshot.error_code = result.code;
  if (!succeeded(result)) {
    return;
  }
  snapshot.telemetry = telemetry;
  snapshot.connected = true;
  snapshot.live = true;
  snapshot.history.add(telemetry.time_ns, telemetry.decode_tokens_per_second, telemetry.step_ms);
  read_operators(api, runtime, snapshot);
  read_model(api, runtime, snapshot, state);
  follow_session(api, runtime, snapshot, state);
  read_selections(api, runtime, snapshot, state);
  read_text(api, runtime, snapshot, state, state.wanted_block, snapshot.block_text);
  read_text(api, runtime, snapshot, state, state.wanted_query, snapshot.query_text);
}

#undef IFR_TABLE_HAS

}  // namespace ifr::overlay
