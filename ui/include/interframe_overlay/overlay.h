// SPDX-License-Identifier: Apache-2.0
// The overlay: ImGui panels over what a running plugin tells of itself. Any host with Dear ImGui
// and ImPlot can link it.
//
// How it is used
//   1. Once, after ImGui::CreateContext and ImPlot::CreateContext: overlay_apply_style(dpi_scale).
//   2. Each frame, between ImGui::NewFrame and ImGui::Render: overlay.update(api, runtime);
//   overlay.draw();
//      or the two halves by hand: collect() fills a Snapshot, draw() shows it.
//
// Rules
//   - Threads: one, the one that owns the ImGui context. Nothing here waits, and a frame in steady
//   state allocates nothing.
//   - A Snapshot is memory of the host: it can be drawn when the session, the runtime or the plugin
//   are gone.
//   - Nothing here keeps an ImGui pointer from frame to frame: the context may be destroyed and
//   made anew.
//   - Reading by mouse and keyboard: F1 shows and hides all; panels are reached with ImGui's
//   keyboard navigation.
#ifndef INTERFRAME_OVERLAY_OVERLAY_H
#define INTERFRAME_OVERLAY_OVERLAY_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <imgui.h>

#include "interframe/interframe.h"

namespace ifr::overlay {

// ---- Snapshot: what is drawn
// ---------------------------------------------------------------------------------------

/// Tokens [first, first + count) of a conversation. count 0: none.
struct TokenRange {
  int32_t first = 0;
  int32_t count = 0;
  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

/// What stands at a token range. `text` is valid UTF-8, empty without a tokenizer.
struct TokenText {
  TokenRange range;
  std::vector<int32_t> ids;  ///< [range.count]
  std::string text;
  bool has_text = false;
};

/// One query of one layer.
struct SelectionRow {
  uint64_t sequence = 0;
  int32_t query_position = 0;
  int32_t num_visible_blocks = 0;  ///< complete blocks at or before the query
  int32_t num_chosen = 0;          ///< entries, best first
};

/// The newest rows of one selecting layer, oldest first: a ring of fixed capacity.
class SelectionRing {
 public:
  /// Empties the ring; allocates for `row_capacity` rows of `entry_capacity` entries.
  void reset(int32_t layer, uint32_t row_capacity, uint32_t entry_capacity);
  void clear();
  /// Adds a row, dropping the oldest when full. `block_idx` and `scores` have row.num_chosen
  /// entries; those past entry_capacity are dropped (they are the worst ones).
  void push(SelectionRow row, const int32_t* block_idx, const float* scores);

  [[nodiscard]] int32_t layer() const { return layer_; }
  [[nodiscard]] uint32_t num_rows() const { return num_rows_; }
  [[nodiscard]] uint32_t row_capacity() const { return row_capacity_; }
  [[nodiscard]] uint32_t entry_capacity() const { return entry_capacity_; }
  /// Counts every change, so that a picture of the ring can be kept while it is equal.
  [[nodiscard]] uint64_t revision() const { return revision_; }
  /// `i` in 0..num_rows() - 1, 0 the oldest.
  [[nodiscard]] const SelectionRow& row(uint32_t i) const { return rows_[slot(i)]; }
  [[nodiscard]] const int32_t* block_idx(uint32_t i) const {
    return block_idx_.data() + slot(i) * entry_capacity_;
  }
  [[nodiscard]] const float* scores(uint32_t i) const {
    return scores_.data() + slot(i) * entry_capacity_;
  }

 private:
  [[nodiscard]] size_t slot(uint32_t i) const { return (begin_ + i) % row_capacity_; }

  std::vector<SelectionRow> rows_;  // [row_capacity]
  std::vector<int32_t> block_idx_;  // [row_capacity, entry_capacity]
  std::vector<float> scores_;       // [row_capacity, entry_capacity]
  uint64_t revision_ = 0;
  uint32_t row_capacity_ = 0;
  uint32_t entry_capacity_ = 0;
  uint32_t begin_ = 0;
  uint32_t num_rows_ = 0;
  int32_t layer_ = -1;
};

/// Samples of the recent past for the plots, oldest at `begin`: a ring.
struct History {
  static constexpr int kCapacity = 300;
  static constexpr uint64_t kIntervalNs = 100'000'000;  // 30 s in all
  std::array<float, kCapacity> decode_tokens_per_second{};
  std::array<float, kCapacity> step_ms{};
  int begin = 0;
  int count = 0;
  uint64_t last_ns = 0;

  void add(uint64_t time_ns, float tokens_per_second, float last_step_ms);
};

enum class SessionState : uint8_t {
  kNone,  ///< nothing has run yet
  kOpen,
  kClosed,  ///< destroyed: what is shown is the last that was read of it
};

struct Snapshot {
  bool connected = false;       ///< telemetry was read at least once
  bool live = false;            ///< the last collect() could read it
  int32_t error_code = IFR_OK;  ///< why not live: ifr_result.code
  ifr_telemetry telemetry{};
  std::vector<ifr_operator_record> operators;
  History history;

  bool has_model = false;
  ifr_model_description model{};
  SessionState session_state = SessionState::kNone;
  ifr_session session = 0;            ///< whose selections are in `layers`
  std::vector<SelectionRing> layers;  ///< one a selecting layer, ascending
  uint64_t num_lost_rows = 0;  ///< of all layers: overwritten in the plugin before they were read

  TokenText block_text;  ///< what stands at OverlayState::wanted_block
  TokenText query_text;  ///< what stands at OverlayState::wanted_query
};

// ---- Collecting
// ----------------------------------------------------------------------------------------------------

/// What collect() keeps between frames. The host may set what stands above the mark.
/// marks.
struct CollectState {
  /// Whose model and selections are shown; 0: those that ran last.
  ifr_model model = 0;
  ifr_session session = 0;
  /// Rows kept a layer, and entries kept a row (the best). Read when a model is first seen.
  uint32_t row_capacity = 512;
  uint32_t max_entries = 1024;
  /// Rows read at most a frame and layer; what is left comes in the next frame.
  uint32_t max_rows_per_frame = 64;
  /// Text wanted in the snapshot (Overlay::update copies them from OverlayState).
  TokenRange wanted_block;
  TokenRange wanted_query;

  // ---- Owned by collect() ----
  ifr_model described_model = 0;
  ifr_session read_session = 0;
  int32_t last_used_tokens = 0;
  std::vector<uint64_t> next_sequence;         // [layers]
  std::vector<ifr_selection_row> row_scratch;  // [max_rows_per_frame]
  std::vector<int32_t> block_scratch;          // [max_rows_per_frame, entries]
  std::vector<float> score_scratch;            // [max_rows_per_frame, entries]
  std::vector<TokenText> text_cache;           // round robin
  size_t next_cache_entry = 0;
};

/// Reads the plugin into `snapshot`, which goes on from the last frame. Calls of the table that
/// neither wait nor allocate only, detokenize aside (a few tokens, when the hovered block changes).
/// A runtime that refuses leaves the snapshot as it was, with live = false. `runtime` may be null
/// (nothing is called).
void collect(const ifr_api& api, ifr_runtime* runtime, Snapshot& snapshot, CollectState& state);

// ---- Drawing
// -------------------------------------------------------------------------------------------------------

enum class MapColor : int32_t { kRank, kScore };
enum class Palette : int32_t { kViridian, kCivic, kGrey };  ///< all readable with any colour vision

/// What a map shows of a ring: rows [first_row, first_row + num_rows) and blocks [0, num_blocks),
/// binned into cells.
struct MapGrid {
  int32_t columns = 0;
  int32_t rows = 0;
  uint32_t first_row = 0;
  uint32_t num_rows = 0;
  int32_t num_blocks = 0;
  float cell_height = 0.0F;  ///< pixels
  friend bool operator==(const MapGrid&, const MapGrid&) = default;
};

/// One layer's map as cells, kept while nothing changed.
struct MapPicture {
  static constexpr int32_t kNotVisible = -2;
  static constexpr int32_t kNotChosen = -1;

  MapGrid grid;
  uint64_t revision = ~uint64_t{0};
  int32_t layer = -1;
  MapColor color = MapColor::kRank;
  Palette palette = Palette::kViridian;
  float low = 0.0F;   ///< score (or rank) of the scale's dark end
  float high = 1.0F;  ///< of its bright end
  std::vector<int32_t>
      best_rank;  ///< [rows, columns]: 0-based rank of the best block in the cell, or kNot...
  std::vector<float> best_score;  ///< [rows, columns]: its score
  std::vector<ImU32> colors;      ///< [rows, columns]
};

struct OverlayState {
  bool visible = true;
  bool show_generation = true;
  bool show_operators = true;
  bool show_selection = true;

  // Operators
  char operator_filter[64] = {};
  std::vector<int32_t> operator_order;

  // Selection
  int32_t layer_choice = 0;  ///< index into Snapshot::layers
  MapColor map_color = MapColor::kRank;
  Palette palette = Palette::kViridian;
  int32_t rows_back = 0;       ///< rows between the newest and the last one shown; 0 follows
  uint64_t seen_revision = 0;  ///< of the ring when rows_back was last brought up to date
  bool pinned = false;
  int32_t pinned_query = 0;  ///< position
  int32_t pinned_block = 0;
  MapPicture map;
  std::vector<MapPicture> thumbnails;

  // Out: what the next collect() should bring.
  TokenRange wanted_block;
  TokenRange wanted_query;

  // Owned by draw().
  std::array<float, 5> layout_key{};
};

enum class DrawResult : uint8_t {
  kDrawn,
  kHidden,     ///< switched off
  kNoContext,  ///< no current ImGui context, or not between NewFrame and Render
};

/// Draws all panels that are on. Never touches the plugin. F1 toggles OverlayState::visible.
DrawResult draw(const Snapshot& snapshot, OverlayState& state);

/// Contents of one panel, into the current window.
void draw_generation_panel(const Snapshot& snapshot, OverlayState& state);
void draw_operators_panel(const Snapshot& snapshot, OverlayState& state);
void draw_selection_panel(const Snapshot& snapshot, OverlayState& state);

/// All three parts with the wiring between them.
struct Overlay {
  Snapshot snapshot;
  CollectState collection;
  OverlayState view;

  /// collect() with what the panels asked for. A null api or runtime marks the snapshot as not
  /// live.
  void update(const ifr_api* api, ifr_runtime* runtime);
  DrawResult draw();
};

// ---- Style and versions
// --------------------------------------------------------------------------------------------

/// Sets the theme, the embedded font (Inter, OFL) and keyboard navigation on the current ImGui
/// context, sizes scaled by `dpi_scale` (clamped to 0.5..4; not finite: 1). May be called again
/// when the scale changes. Without a context: nothing.
void overlay_apply_style(float dpi_scale);

/// Where the overlay leaves room at the left for the host's own windows, in unscaled pixels.
inline constexpr float kReservedLeftWidth = 420.0F;

/// What must be equal for two builds to share one ImGui context.
struct ImGuiBuild {
  const char* version;
  size_t io_bytes;
  size_t style_bytes;
  size_t vec2_bytes;
  size_t vec4_bytes;
  size_t vertex_bytes;
  size_t index_bytes;
};

/// Of the translation unit that calls it.
[[nodiscard]] static inline ImGuiBuild imgui_build_here() {
  return {IMGUI_VERSION,  sizeof(ImGuiIO),    sizeof(ImGuiStyle), sizeof(ImVec2),
          sizeof(ImVec4), sizeof(ImDrawVert), sizeof(ImDrawIdx)};
}

/// True when the overlay was built against the same ImGui as `host` (from imgui_build_here() in the
/// host). Touches no ImGui state: call it before anything else where the overlay comes as a library
/// of its own.
[[nodiscard]] bool overlay_matches_imgui(const ImGuiBuild& host);

}  // namespace ifr::overlay

#endif  // INTERFRAME_OVERLAY_OVERLAY_H
