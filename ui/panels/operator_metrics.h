// SPDX-License-Identifier: Apache-2.0
// What follows from an operator's counters; order, search and CSV of the table. No ImGui.
#ifndef INTERFRAME_PANELS_OPERATOR_METRICS_H
#define INTERFRAME_PANELS_OPERATOR_METRICS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interframe/interframe.h"

namespace ifr::overlay {

struct OperatorMetrics {
  double total_ns = 0.0;
  double mean_ns = 0.0;
  double last_ns = 0.0;
  double share = 0.0;                 ///< of the time of all operators, 0..1
  double gigabytes_per_second = 0.0;  ///< 1e9 bytes; of the bytes that had to move
  double gigaflops_per_second = 0.0;
};

uint64_t total_ns_of(std::span<const ifr_operator_record> records);
OperatorMetrics metrics_of(const ifr_operator_record& record, uint64_t all_ns);

enum class OperatorColumn : int32_t { kName, kCalls, kTotal, kMean, kShare, kLast, kBytes, kFlops };
enum class Direction : int32_t { kAscending, kDescending };

/// Indices of the records whose name contains `filter` (ASCII case ignored), in order; ties by
/// operator_idx.
void order_operators(std::span<const ifr_operator_record> records, std::string_view filter,
                     OperatorColumn column, Direction direction, std::vector<int32_t>& order);

/// RFC 4180: a header line, one line a record, CRLF. Raw counters and derived values.
std::string operators_csv(std::span<const ifr_operator_record> records);

}  // namespace ifr::overlay

#endif  // INTERFRAME_PANELS_OPERATOR_METRICS_H
