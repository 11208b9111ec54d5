// SPDX-License-Identifier: Apache-2.0
#include "model/tensor_check.h"

#include "model/text_check.h"

namespace ifr {

namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "]";
}

bool type_fits(kernels::DataType type, TensorRole role) {
  switch (type) {
    case kernels::DataType::kF32:
    case kernels::DataType::kF16:
    case kernels::DataType::kBf16:
      return role != TensorRole::kIntegers;
    case kernels::DataType::kQ8_0:
    case kernels::DataType::kQ4_1:
      return role == TensorRole::kMatrix;
    case kernels::DataType::kI64:
      return role == TensorRole::kIntegers;
    case kernels::DataType::kI32:
    case kernels::DataType::kU8:
      return false;
  }
  return false;
}

const char* fitting_types(TensorRole role) {
  switch (role) {
    case TensorRole::kMatrix:
      return "F32, F16, BF16, Q8_0 and Q4_1 are";
    case TensorRole::kPlain:
      return "F32, F16 and BF16 are";
    case TensorRole::kIntegers:
      return "I64 is";
  }
  return "";
}

}  // namespace

Status TensorChecker::need(const std::string& name, const std::vector<int64_t>& shape,
                           TensorRole role) {
  const TensorInfo* tensor = model_.find(name);
  if (tensor == nullptr) {
    return make_error(Code::kInvalidFile, Part::kModel,
                      "'%s': tensor '%s' is missing; a %s model needs it, of shape %s",
                      printable(model_.path(), 200).c_str(), name.c_str(),
                      model_.config().arch_name(), shape_text(shape).c_str());
  }
  if (tensor->shape != shape) {
    return make_error(Code::kInvalidFile, Part::kModel,
                      "'%s', byte %llu: tensor '%s' has shape %s (outermost first), but the "
                      "configuration needs %s",
                      printable(model_.path(), 200).c_str(),
                      static_cast<unsigned long long>(tensor->offset), name.c_str(),
                      shape_text(tensor->shape).c_str(), shape_text(shape).c_str());
  }
  if (!type_fits(tensor->type, role)) {
    return make_error(Code::kUnsupported, Part::kModel,
                      "'%s', byte %llu: tensor '%s' has type %s, which is not read for it; %s",
                      printable(model_.path(), 200).c_str(),
                      static_cast<unsigned long long>(tensor->offset), name.c_str(),
                      kernels::data_type_name(tensor->type), fitting_types(role));
  }
  is_needed_[static_cast<size_t>(tensor - model_.tensors().data())] = true;
  return {};
}

Expected<std::vector<int64_t>> TensorChecker::integers(const std::string& name) const {
  const TensorInfo* tensor = model_.find(name);
  std::vector<std::byte> bytes(tensor->size_bytes);
  IFR_TRY(model_.read(*tensor, 0, bytes));
  std::vector<int64_t> values(bytes.size() / 8);
  for (size_t idx = 0; idx < bytes.size(); ++idx) {
    const auto byte = std::to_integer<uint64_t>(bytes[idx]) << (8 * (idx % 8));
    values[idx / 8] = static_cast<int64_t>(static_cast<uint64_t>(values[idx / 8]) | byte);
  }
  return values;
}

}  // namespace ifr
