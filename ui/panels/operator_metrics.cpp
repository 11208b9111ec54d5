// SPDX-License-Identifier: Apache-2.0
#include "panels/operator_metrics.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace ifr::overlay {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

double value_of(const ifr_operator_record& record, OperatorColumn column) {
  const OperatorMetrics metrics = metrics_of(record, 0);
  switch (column) {
    case OperatorColumn::kCalls:
      return static_cast<double>(record.calls);
    case OperatorColumn::kMean:
      return metrics.mean_ns;
    case OperatorColumn::kLast:
      return metrics.last_ns;
    case OperatorColumn::kBytes:
      return metrics.gigabytes_per_second;
    case OperatorColumn::kFlops:
      return metrics.gigaflops_per_second;
    case OperatorColumn::kTotal:
    case OperatorColumn::kShare:
    case OperatorColumn::kName:
      break;
  }
  return metrics.total_ns;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace

uint64_t total_ns_of(std::span<const ifr_operator_record> records) {
  uint64_t total = 0;
  for (const ifr_operator_record& record : records) {
    total += record.total_ns;
  }
  return total;
}

OperatorMetrics metrics_of(const ifr_operator_record& record, uint64_t all_ns) {
  OperatorMetrics metrics;
  metrics.total_ns = static_cast<double>(record.total_ns);
  metrics.last_ns = static_cast<double>(record.last_ns);
  if (record.calls > 0) {
    metrics.mean_ns = metrics.total_ns / static_cast<double>(record.calls);
  }
  if (all_ns > 0) {
    metrics.share = metrics.total_ns / static_cast<double>(all_ns);
  }
  if (record.total_ns > 0) {  // bytes per ns are GB/s
    metrics.gigabytes_per_second = static_cast<double>(record.bytes) / metrics.total_ns;
    metrics.gigaflops_per_second = static_cast<double>(record.flops) / metrics.total_ns;
  }
  return metrics;
}

void order_operators(std::span<const ifr_operator_record> records, std::string_view filter,
                     OperatorColumn column, Direction direction, std::vector<int32_t>& order) {
  order.clear();
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].calls > 0 && contains(records[i].name, filter)) {
      order.push_back(static_cast<int32_t>(i));
    }
  }
  const auto before = [&](int32_t a, int32_t b) {
    const ifr_operator_record& left = records[static_cast<size_t>(a)];
    const ifr_operator_record& right = records[static_cast<size_t>(b)];
    int compared = 0;
    if (column == OperatorColumn::kName) {
      compared = std::string_view(left.name).compare(right.name);
    } else {
      const double x = value_of(left, column);
      const double y = value_of(right, column);
      compared = x < y ? -1 : static_cast<int>(x > y);
    }
    if (compared == 0) {
      return left.operator_idx < right.operator_idx;
    }
    return direction == Direction::kAscending ? compared < 0 : compared > 0;
  };
  std::sort(order.begin(), order.end(), before);
}

std::string operators_csv(std::span<const ifr_operator_record> records) {
  const uint64_t all_ns = total_ns_of(records);
  std::string csv =
      "name,calls,total_ns,mean_ns,last_ns,max_ns,share,bytes,flops,GB_per_s,GFLOP_per_s\r\n";
  for (const ifr_operator_record& record : records) {
    const OperatorMetrics metrics = metrics_of(record, all_ns);
    std::array<char, 256> line;
    std::snprintf(line.data(), line.size(),
                  ",%llu,%llu,%.1f,%llu,%llu,%.6f,%llu,%llu,%.4f,%.4f\r\n",
                  static_cast<unsigned long long>(record.calls),
                  static_cast<unsigned long long>(record.total_ns), metrics.mean_ns,
                  static_cast<unsigned long long>(record.last_ns),
                  static_cast<unsigned long long>(record.max_ns), metrics.share,
                  static_cast<unsigned long long>(record.bytes),
                  static_cast<unsigned long long>(record.flops), metrics.gigabytes_per_second,
                  metrics.gigaflops_per_second);
    csv += csv_field(record.name);
    csv += line.data();
  }
  return csv;
}

}  // namespace ifr::overlay
