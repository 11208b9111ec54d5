// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "abi/arguments.h"
#include "abi/calls.h"
#include "abi/fence.h"
#include "base/platform.h"

namespace ifr::abi {

namespace {

ifr_telemetry make_telemetry(Runtime& runtime) {
  ifr_telemetry out = {};
  out.time_ns = monotonic_ns();
  const StepTotals totals = runtime.telemetry().read(out.time_ns);
  const MemoryUse memory = runtime.telemetry().memory();
  out.num_active_requests = runtime.num_active();
  out.num_queued_requests = runtime.num_queued();
  out.context_tokens = totals.context_tokens;
  out.used_tokens = totals.used_tokens;
  out.num_operators = static_cast<int32_t>(kNumOperators);
  out.model = totals.model;
  out.session = totals.session;
  out.prompt_tokens = totals.prompt_tokens;
  out.generated_tokens = totals.generated_tokens;
  out.steps = totals.steps;
  out.decode_tokens_per_second = totals.decode_tokens_per_second;
  out.prefill_tokens_per_second = totals.prefill_tokens_per_second;
  out.first_token_ms = totals.first_token_ms;
  out.step_ms = static_cast<float>(static_cast<double>(totals.step_ns) / 1e6);
  out.memory_used_bytes = memory.used_bytes;
  out.memory_budget_bytes = memory.limit_bytes;
  out.weight_bytes = memory.weight_bytes;
  out.cache_bytes = memory.cache_bytes;
  out.state_bytes = memory.state_bytes;
  out.num_selection_rows = totals.selection_rows;
  return out;
}

Status check_selection_read(const ifr_selection_read& read) {
  IFR_TRY(require_buffer(read.rows, read.row_capacity, "inout_read.rows"));
  if (read.row_capacity != 0) {
    IFR_TRY(require_stride(read.row_stride, sizeof(ifr_selection_row), "inout_read.row_stride"));
  }
  constexpr uint32_t kMostEntries = 1U << 20;
  return require_range(read.entry_capacity, 0, kMostEntries, "inout_read.entry_capacity");
}

// Entries of row `idx` in one of the two arrays; empty when the host does not want them.
template <typename T>
std::span<T> entries_of(T* array, const ifr_selection_read& read, uint32_t idx) {
  if (array == nullptr) {
    return {};
  }
  return {array + static_cast<size_t>(idx) * read.entry_capacity, read.entry_capacity};
}

void read_rows(const SelectionHistory& history, const SelectionHistory::Window& window,
               ifr_selection_read& read) {
  uint64_t number = std::max(read.first_sequence, window.oldest);
  read.num_lost_rows = read.first_sequence != 0 ? std::min(number, window.next) -
                                                      std::min(read.first_sequence, window.next)
                                                : 0;
  read.num_rows = 0;
  for (; number < window.next && read.num_rows < read.row_capacity; ++number) {
    const std::span<int32_t> block_idx = entries_of(read.block_idx, read, read.num_rows);
    const std::span<float> scores = entries_of(read.scores, read, read.num_rows);
    const std::optional<SelectionHistory::Row> row =
        history.read(read.layer, number, block_idx, scores);
    if (!row) {
      ++read.num_lost_rows;
      continue;
    }
    const auto count = std::min(static_cast<uint32_t>(row->num_blocks), read.entry_capacity);
    if (!block_idx.empty()) {
      std::fill(block_idx.begin() + count, block_idx.end(), -1);
    }
    if (!scores.empty()) {
      std::fill(scores.begin() + count, scores.end(), 0.0F);
    }
    ifr_selection_row out = {};
    out.layer = read.layer;
    out.query_position = row->query_position;
    out.num_visible_blocks = row->num_visible_blocks;
    out.num_blocks = static_cast<int32_t>(count);
    out.sequence = number;
    write_record(read.rows, read.row_stride, read.num_rows, out);
    ++read.num_rows;
  }
  read.next_sequence = std::max(number, read.first_sequence);
}

}  // namespace

ifr_result IFR_CALL telemetry_enable(ifr_runtime* runtime, int32_t enabled) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_range(enabled, 0, 1, "enabled"));
    self.telemetry().set_enabled(enabled != 0);
    return {};
  });
}

ifr_result IFR_CALL telemetry_read(ifr_runtime* runtime, ifr_telemetry* out_telemetry) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(check_out_struct(out_telemetry, "out_telemetry"));
    write_struct(out_telemetry, make_telemetry(self));
    return {};
  });
}

ifr_result IFR_CALL telemetry_operators(ifr_runtime* runtime, ifr_operator_record* records,
                                        uint32_t record_stride, uint32_t capacity,
                                        uint32_t* out_count) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    IFR_TRY(require_pointer(out_count, "out_count"));
    IFR_TRY(require_buffer(records, capacity, "records"));
    if (capacity != 0) {
      IFR_TRY(require_stride(record_stride, sizeof(ifr_operator_record), "record_stride"));
    }
    *out_count = static_cast<uint32_t>(kNumOperators);
    IFR_TRY(check_capacity(kNumOperators, capacity, "operators"));
    if (capacity == 0) {
      return {};
    }
    const StepTotals totals = self.telemetry().read(monotonic_ns());
    for (size_t i = 0; i < kNumOperators; ++i) {
      const OperatorTotals& from = totals.operators[i];
      ifr_operator_record record = {};
      record.operator_idx = static_cast<int32_t>(i);
      record.calls = from.calls;
      record.total_ns = from.total_ns;
      record.last_ns = from.last_ns;
      record.max_ns = from.max_ns;
      record.bytes = from.bytes;
      record.flops = from.flops;
      copy_text(record.name, operator_name(static_cast<OperatorId>(i)));
      write_record(records, record_stride, i, record);
    }
    return {};
  });
}

ifr_result IFR_CALL telemetry_selections(ifr_runtime* runtime, ifr_session session,
                                         ifr_selection_read* inout_read) {
  return with_runtime(runtime, [&](Runtime& self) -> Status {
    ifr_selection_read read = {};
    IFR_TRY(read_struct(inout_read, read, "inout_read"));
    IFR_TRY(check_selection_read(read));
    IFR_ASSIGN_OR_RETURN(const SessionRef ref, self.session(session));
    const std::optional<SelectionHistory::Window> window = ref->selections->window(read.layer);
    if (!window) {
      return make_error(Code::kInvalidArgument, Part::kAbi,
                        "inout_read.layer %d does not select; model_selecting_layers has those "
                        "that do",
                        read.layer);
    }
    read_rows(*ref->selections, *window, read);
    write_struct(inout_read, read);
    return {};
  });
}

}  // namespace ifr::abi
