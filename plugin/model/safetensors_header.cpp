// SPDX-License-Identifier: Apache-2.0
#include "model/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/checked_math.h"
#include "model/byte_cursor.h"
#include "model/text_check.h"

namespace ifr {

namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxDims = 8;
constexpr uint64_t kMaxElements = uint64_t{1} << 48;

std::optional<kernels::DataType> data_type(std::string_view name) {
  for (const auto type :
       {kernels::DataType::kF32, kernels::DataType::kF16, kernels::DataType::kBf16,
        kernels::DataType::kI64, kernels::DataType::kI32, kernels::DataType::kU8}) {
    if (name == kernels::data_type_name(type)) {
      return type;
    }
  }
  return std::nullopt;
}

struct Entry {
  std::string name;
  std::string type_name;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> offsets;  // begin, end, from the data's start
};

// Takes the header as events, so that nothing but the tensors is ever allocated and depth cannot
// matter: whatever is not of the one valid form stops the parser.
class HeaderEvents {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  std::vector<Entry> entries;
  std::string problem;  // not empty after a stop
  std::string name;     // the entry it is about, may be empty

  bool null() { return refuse("null"); }
  bool boolean(bool /*value*/) { return refuse("a bool"); }
  bool number_integer(number_integer_t /*value*/) { return refuse("a negative number"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) {
    return refuse("a fractional number");
  }
  bool binary(binary_t& /*value*/) { return refuse("binary"); }

  bool number_unsigned(number_unsigned_t value) {
    if (place_ == Place::kShape && entries.back().shape.size() < kMaxDims) {
      entries.back().shape.push_back(value);
      return true;
    }
    if (place_ == Place::kOffsets && entries.back().offsets.size() < 2) {
      entries.back().offsets.push_back(value);
      return true;
    }
    return refuse("a number too many or in a wrong place");
  }

  bool string(string_t& value) {
    if (place_ == Place::kMetadata) {
      return true;
    }
    if (place_ == Place::kEntry && field_ == "dtype") {
      entries.back().type_name = value;
      return true;
    }
    return refuse("a string");
  }

  bool start_object(size_t /*len*/) {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
      return true;
    }
    if (place_ == Place::kTop) {
      fields_seen_.clear();
      if (name == "__metadata__") {
        place_ = Place::kMetadata;
        return true;
      }
      place_ = Place::kEntry;
      field_.clear();
      entries.push_back({name, {}, {}, {}});
      return true;
    }
    return refuse("an object");
  }

  bool key(string_t& value) {
    if (place_ == Place::kTop) {
      name = value;
      if (!names_.insert(value).second) {
        return stop("stands twice in the header");
      }
      if (value.empty() || value.size() > kMaxNameBytes || value.find('\0') != std::string::npos) {
        return stop("has a name of " + std::to_string(value.size()) +
                    " bytes or with a NUL byte; 1 to 1024 are valid");
      }
      return true;
    }
    if (!fields_seen_.insert(value).second) {
      return stop("has the key '" + printable(value) + "' twice");
    }
    if (place_ == Place::kEntry) {
      if (value != "dtype" && value != "shape" && value != "data_offsets") {
        return stop("has the unknown key '" + printable(value) + "'");
      }
      field_ = value;
    }
    return true;
  }

  bool end_object() {
    if (place_ == Place::kEntry) {
      if (fields_seen_.size() != 3 || entries.back().offsets.size() != 2) {
        return stop("does not have dtype, shape and two data_offsets");
      }
    }
    place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
    return true;
  }

  bool start_array(size_t /*len*/) {
    if (place_ == Place::kEntry && field_ != "dtype" && !field_.empty()) {
      place_ = field_ == "shape" ? Place::kShape : Place::kOffsets;
      return true;
    }
    return refuse("an array");
  }

  bool end_array() {
    place_ = Place::kEntry;
    return true;
  }

  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    name.clear();
    return stop("is not valid JSON at its byte " + std::to_string(position) + " (" +
                printable(error.what(), 200) + ")");
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kEntry, kShape, kOffsets, kEnd };

  bool stop(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool refuse(const char* what) {
    return stop(std::string("holds ") + what +
                (place_ == Place::kEntry ? " as '" + printable(field_) + "'" : std::string()) +
                ", which the format does not allow there");
  }

  Place place_ = Place::kStart;
  std::string field_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_seen_;
};

// Where a name stands in the header, for messages; the header's start when it is escaped there.
uint64_t name_offset(std::string_view header, const std::string& name) {
  const size_t found = name.empty() ? std::string_view::npos : header.find('"' + name + '"');
  return 8 + (found == std::string_view::npos ? 0 : found);
}

Expected<TensorInfo> make_tensor(const ByteSource& source, const Entry& entry, uint64_t entry_at,
                                 uint64_t data_at) {
  const std::string name = printable(entry.name);
  TensorInfo tensor;
  tensor.name = entry.name;
  const std::optional<kernels::DataType> type = data_type(entry.type_name);
  if (!type) {
    return error_at(
        source, entry_at, Code::kUnsupported,
        "tensor '%s' has dtype '%s', which is not read; F32, F16, BF16, I64, I32 and U8 "
        "are",
        name.c_str(), printable(entry.type_name).c_str());
  }
  tensor.type = *type;
  std::optional<uint64_t> num_elements = 1;
  for (const uint64_t extent : entry.shape) {
    num_elements = checked_mul(*num_elements, extent);
    if (extent > kMaxElements || !num_elements || *num_elements > kMaxElements) {
      return error_at(source, entry_at, Code::kInvalidFile,
                      "shape of tensor '%s' has the extent %llu: every extent and their product "
                      "must be at most 2^48",
                      name.c_str(), static_cast<unsigned long long>(extent));
    }
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }
  tensor.size_bytes = *num_elements * static_cast<uint64_t>(kernels::block_bytes(*type));
  const uint64_t begin = entry.offsets[0];
  const uint64_t end = entry.offsets[1];
  if (begin > end || end - begin != tensor.size_bytes) {
    return error_at(source, entry_at, Code::kInvalidFile,
                    "data_offsets of tensor '%s' are [%llu, %llu], but its shape and dtype need "
                    "%llu bytes",
                    name.c_str(), static_cast<unsigned long long>(begin),
                    static_cast<unsigned long long>(end),
                    static_cast<unsigned long long>(tensor.size_bytes));
  }
  if (!range_inside(begin, tensor.size_bytes, source.size_bytes() - data_at)) {
    return error_at(source, entry_at, Code::kInvalidFile,
                    "data_offsets of tensor '%s' are [%llu, %llu] from the data's start at byte "
                    "%llu, past the end of the file at %llu: the file is damaged or was cut",
                    name.c_str(), static_cast<unsigned long long>(begin),
                    static_cast<unsigned long long>(end), static_cast<unsigned long long>(data_at),
                    static_cast<unsigned long long>(source.size_bytes()));
  }
  tensor.offset = data_at + begin;
  return tensor;
}

Status check_overlap(const ByteSource& source, std::vector<TensorInfo>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.offset, a.size_bytes) < std::pair(b.offset, b.size_bytes);
  });
  for (size_t idx = 1; idx < tensors.size(); ++idx) {
    const TensorInfo& before = tensors[idx - 1];
    if (before.offset + before.size_bytes > tensors[idx].offset) {
      return error_at(source, tensors[idx].offset, Code::kInvalidFile,
                      "tensors '%s' and '%s' overlap", printable(before.name).c_str(),
                      printable(tensors[idx].name).c_str());
    }
  }
  return {};
}

// The text of the header.
Expected<std::string> read_header_text(const ByteSource& source) {
  ByteCursor cursor(source);
  uint64_t len = 0;
  IFR_TRY(cursor.read_u64(len, "header length"));
  if (len < 2 || len > kMaxHeaderBytes || len > cursor.remaining_bytes()) {
    return error_at(source, 0, Code::kInvalidFile,
                    "header length is %llu, but %llu bytes follow (2 to %llu are valid): not a "
                    "safetensors file, damaged or cut",
                    static_cast<unsigned long long>(len),
                    static_cast<unsigned long long>(cursor.remaining_bytes()),
                    static_cast<unsigned long long>(kMaxHeaderBytes));
  }
  std::string text(len, '\0');
  IFR_TRY(source.read(8, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace

Expected<SafetensorsHeader> read_safetensors_header(const ByteSource& source, uint32_t file_idx) {
  IFR_ASSIGN_OR_RETURN(const std::string text, read_header_text(source));
  HeaderEvents events;
  // With event handlers the library reports instead of throwing.
  if (!nlohmann::json::sax_parse(text, &events)) {
    const char* const subject = events.name.empty() ? "the header" : "tensor";
    const std::string quoted = events.name.empty() ? "" : " '" + printable(events.name) + "'";
    return error_at(source, name_offset(text, events.name), Code::kInvalidFile, "%s%s %s", subject,
                    quoted.c_str(), events.problem.c_str());
  }
  SafetensorsHeader header;
  header.header_bytes = 8 + text.size();
  header.tensors.reserve(events.entries.size());
  for (const Entry& entry : events.entries) {
    // Found only for a message: searching each name would be quadratic.
    Expected<TensorInfo> tensor = make_tensor(source, entry, 8, header.header_bytes);
    if (!tensor.is_ok()) {
      return make_tensor(source, entry, name_offset(text, entry.name), header.header_bytes)
          .status();
    }
    tensor->file_idx = file_idx;
    header.tensors.push_back(std::move(tensor).value());
  }
  IFR_TRY(check_overlap(source, header.tensors));
  return header;
}

}  // namespace ifr
