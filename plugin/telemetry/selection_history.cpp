// SPDX-License-Identifier: Apache-2.0
#include "telemetry/selection_history.h"

#include <algorithm>

#include "base/checked_math.h"

namespace ifr {

Expected<std::unique_ptr<SelectionHistory>> SelectionHistory::create(
    std::span<const int32_t> selecting_layers, int32_t max_blocks, MemoryBudget& budget) {
  if (max_blocks < 0) {
    return make_error(Code::kInvalidArgument, Part::kTelemetry,
                      "a selection history of %d blocks a row is asked for", max_blocks);
  }
  const uint64_t row_bytes = sizeof(RowHead) + static_cast<uint64_t>(max_blocks) *
                                                   (sizeof(std::atomic<int32_t>) + sizeof(float));
  const std::optional<uint64_t> bytes =
      checked_mul<uint64_t>(row_bytes * kRowsPerLayer, selecting_layers.size());
  if (!bytes) {
    return make_error(Code::kInvalidArgument, Part::kTelemetry,
                      "the selection history of %zu layers is too large", selecting_layers.size());
  }
  std::unique_ptr<SelectionHistory> history(new SelectionHistory);
  IFR_ASSIGN_OR_RETURN(history->reservation_,
                       budget.reserve(MemoryKind::kState, *bytes, "a session's selection history"));
  history->max_blocks_ = max_blocks;
  history->num_layers_ = selecting_layers.size();
  history->layers_ = std::make_unique<Layer[]>(selecting_layers.size());
  const size_t num_entries = static_cast<size_t>(max_blocks) * kRowsPerLayer;
  for (size_t i = 0; i < selecting_layers.size(); ++i) {
    Layer& layer = history->layers_[i];
    layer.layer = selecting_layers[i];
    layer.heads = std::make_unique<RowHead[]>(kRowsPerLayer);
    layer.block = std::make_unique<std::atomic<int32_t>[]>(num_entries);
    layer.score = std::make_unique<std::atomic<float>[]>(num_entries);
  }
  return history;
}

const SelectionHistory::Layer* SelectionHistory::find(int32_t layer) const {
  const Layer* end = layers_.get() + num_layers_;
  const Layer* found =
      std::lower_bound(static_cast<const Layer*>(layers_.get()), end, layer,
                       [](const Layer& entry, int32_t wanted) { return entry.layer < wanted; });
  return found != end && found->layer == layer ? found : nullptr;
}

void SelectionHistory::record(const SelectionSpan& span) {
  auto* layer = const_cast<Layer*>(find(span.layer));  // of this object, which is not const here
  if (layer == nullptr) {
    return;
  }
  const uint64_t number = layer->next.load(std::memory_order_relaxed);
  const size_t slot = number % kRowsPerLayer;
  RowHead& head = layer->heads[slot];
  head.number.store(0, std::memory_order_relaxed);
  // Release from here on: who sees any of these also sees the 0 and drops what was copied.
  const size_t count = std::min(span.block_idx.size(), static_cast<size_t>(max_blocks_));
  std::atomic<int32_t>* block = layer->block.get() + slot * static_cast<size_t>(max_blocks_);
  std::atomic<float>* score = layer->score.get() + slot * static_cast<size_t>(max_blocks_);
  for (size_t i = 0; i < count; ++i) {
    block[i].store(span.block_idx[i], std::memory_order_release);
    score[i].store(i < span.scores.size() ? span.scores[i] : 0.0F, std::memory_order_release);
  }
  head.query_position.store(span.query_position, std::memory_order_release);
  head.num_visible_blocks.store(span.num_visible_blocks, std::memory_order_release);
  head.num_blocks.store(static_cast<int32_t>(count), std::memory_order_release);
  head.number.store(number, std::memory_order_release);
  layer->next.store(number + 1, std::memory_order_release);
}

void SelectionHistory::forget() {
  for (size_t i = 0; i < num_layers_; ++i) {
    layers_[i].floor.store(layers_[i].next.load(std::memory_order_relaxed),
                           std::memory_order_release);
  }
}

std::optional<SelectionHistory::Window> SelectionHistory::window(int32_t layer) const {
  const Layer* found = find(layer);
  if (found == nullptr) {
    return std::nullopt;
  }
  Window window;
  const uint64_t floor = found->floor.load(std::memory_order_acquire);
  window.next = found->next.load(std::memory_order_acquire);
  window.oldest = std::max(floor, window.next > kRowsPerLayer ? window.next - kRowsPerLayer : 1);
  return window;
}

std::optional<SelectionHistory::Row> SelectionHistory::read(int32_t layer, uint64_t number,
                                                            std::span<int32_t> block_idx,
                                                            std::span<float> scores) const {
  const Layer* found = find(layer);
  if (found == nullptr || number == 0) {
    return std::nullopt;
  }
  const size_t slot = number % kRowsPerLayer;
  const RowHead& head = found->heads[slot];
  if (head.number.load(std::memory_order_acquire) != number) {
    return std::nullopt;
  }
  Row row;
  row.query_position = head.query_position.load(std::memory_order_acquire);
  row.num_visible_blocks = head.num_visible_blocks.load(std::memory_order_acquire);
  const auto count = static_cast<size_t>(head.num_blocks.load(std::memory_order_acquire));
  row.num_blocks = static_cast<int32_t>(count);
  const std::atomic<int32_t>* block = found->block.get() + slot * static_cast<size_t>(max_blocks_);
  const std::atomic<float>* score = found->score.get() + slot * static_cast<size_t>(max_blocks_);
  for (size_t i = 0; i < std::min(count, block_idx.size()); ++i) {
    block_idx[i] = block[i].load(std::memory_order_acquire);
  }
  for (size_t i = 0; i < std::min(count, scores.size()); ++i) {
    scores[i] = score[i].load(std::memory_order_acquire);
  }
  if (head.number.load(std::memory_order_relaxed) != number) {
    return std::nullopt;
  }
  return row;
}

}  // namespace ifr
