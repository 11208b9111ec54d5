// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>
#include <limits>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "model/gguf_parser.h"
#include "model/gguf_tensor_type.h"
#include "model/text_check.h"

namespace ifr {

namespace {

constexpr uint64_t kMaxTensorNameBytes = 64;
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kMaxExtent = uint64_t{1} << 48;

}  // namespace

Status GgufParser::read_tensor() {
  const uint64_t at = cursor_.offset();
  TensorInfo tensor;
  IFR_TRY(read_text(tensor.name, kMaxTensorNameBytes, "tensor name"));
  if (!tensor_names_.insert(tensor.name).second) {
    return error(at, "two tensors have the name '" + printable(tensor.name) + "'");
  }
  context_ = tensor.name;
  IFR_TRY(read_shape(tensor));
  IFR_TRY(read_tensor_type(tensor));
  const uint64_t offset_at = cursor_.offset();
  IFR_TRY(cursor_.read_u64(tensor.offset, "tensor offset"));
  if (tensor.offset % header_.alignment_ != 0) {
    return error(offset_at, "offset " + std::to_string(tensor.offset) + " of tensor '" +
                                printable(context_) + "' is not a multiple of the alignment " +
                                std::to_string(header_.alignment_));
  }
  offset_positions_.push_back(offset_at);
  header_.tensors_.push_back(std::move(tensor));
  return {};
}

Status GgufParser::read_shape(TensorInfo& tensor) {
  const uint64_t at = cursor_.offset();
  uint32_t num_dims = 0;
  IFR_TRY(cursor_.read_u32(num_dims, "dimension count"));
  if (num_dims == 0 || num_dims > kMaxDims) {
    return error(at, "tensor '" + printable(context_) + "' has " + std::to_string(num_dims) +
                         " dimensions; 1 to 4 are valid");
  }
  std::optional<uint64_t> num_elements = 1;
  for (uint32_t idx = 0; idx < num_dims; ++idx) {
    const uint64_t extent_at = cursor_.offset();
    uint64_t extent = 0;
    IFR_TRY(cursor_.read_u64(extent, "dimension"));
    num_elements = checked_mul(*num_elements, extent);
    if (extent == 0 || extent > kMaxExtent || !num_elements || *num_elements > kMaxExtent) {
      return error(extent_at, "dimension " + std::to_string(idx) + " of tensor '" +
                                  printable(context_) + "' is " + std::to_string(extent) +
                                  "; every dimension and their product must be 1 to 2^48");
    }
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  return {};
}

Status GgufParser::read_tensor_type(TensorInfo& tensor) {
  const uint64_t at = cursor_.offset();
  uint32_t type = 0;
  IFR_TRY(cursor_.read_u32(type, "tensor type"));
  const std::optional<kernels::DataType> known = gguf_data_type(type);
  if (!known) {
    const char* name = gguf_tensor_type_name(type);
    return error_at(source_, at, name != nullptr ? Code::kUnsupported : Code::kInvalidFile,
                    "tensor '%s' has type %" PRIu32
                    " (%s), which is not read; F32, F16, BF16, "
                    "Q8_0 and Q4_1 are",
                    printable(context_).c_str(), type, name != nullptr ? name : "unknown");
  }
  tensor.type = *known;
  const int64_t block = kernels::block_len(tensor.type);
  if (tensor.shape.back() % block != 0) {
    return error(at, "tensor '" + printable(context_) + "' has rows of " +
                         std::to_string(tensor.shape.back()) + " elements, but " +
                         kernels::data_type_name(tensor.type) + " needs a multiple of " +
                         std::to_string(block));
  }
  // At most 2^48 elements of at most 4 bytes: no overflow.
  tensor.size_bytes =
      static_cast<uint64_t>(kernels::tensor_bytes(tensor.type, tensor.num_elements()));
  return {};
}

// Offsets count from the aligned end of the table; from here on they are the file's.
Status GgufParser::place_tensors() {
  const std::optional<uint64_t> start = checked_round_up(cursor_.offset(), header_.alignment_);
  header_.data_offset_ = start.value_or(std::numeric_limits<uint64_t>::max());
  const uint64_t file_bytes = source_.size_bytes();
  const uint64_t data_bytes =
      file_bytes > header_.data_offset_ ? file_bytes - header_.data_offset_ : 0;
  for (size_t idx = 0; idx < header_.tensors_.size(); ++idx) {
    TensorInfo& tensor = header_.tensors_[idx];
    if (!range_inside(tensor.offset, tensor.size_bytes, data_bytes)) {
      return error(offset_positions_[idx],
                   "tensor '" + printable(tensor.name) + "' has offset " +
                       std::to_string(tensor.offset) + " and size " +
                       std::to_string(tensor.size_bytes) + " from the data's start at byte " +
                       std::to_string(header_.data_offset_) + ", past the end of the file at " +
                       std::to_string(file_bytes) + ": the file is damaged or was cut");
    }
    tensor.offset += header_.data_offset_;
  }
  return check_overlap();
}

Status GgufParser::check_overlap() const {
  std::vector<size_t> order(header_.tensors_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto& tensors = header_.tensors_;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return tensors[a].offset < tensors[b].offset; });
  for (size_t idx = 1; idx < order.size(); ++idx) {
    const TensorInfo& before = tensors[order[idx - 1]];
    const TensorInfo& tensor = tensors[order[idx]];
    if (before.offset + before.size_bytes > tensor.offset) {
      return error(offset_positions_[order[idx]],
                   "tensors '" + printable(before.name) + "' (bytes " +
                       std::to_string(before.offset) + "..+" + std::to_string(before.size_bytes) +
                       ") and '" + printable(tensor.name) + "' (from byte " +
                       std::to_string(tensor.offset) + ") overlap");
    }
  }
  return {};
}

}  // namespace ifr
