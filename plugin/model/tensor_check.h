// SPDX-License-Identifier: Apache-2.0
// Holds the tensors of a file against what its configuration needs. Private to model/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/model_file.h"

namespace ifr {

enum class TensorRole {
  kMatrix,    // F32, F16, BF16 and the block formats
  kPlain,     // F32, F16, BF16: norms, convolutions, Hugging Face weights
  kIntegers,  // I64
};

class TensorChecker {
 public:
  explicit TensorChecker(const ModelFile& model)
      : model_(model), is_needed_(model.tensors().size()) {}

  // There, of exactly this shape (outermost first) and a type of its role.
  [[nodiscard]] Status need(const std::string& name, const std::vector<int64_t>& shape,
                            TensorRole role);
  // The whole of a checked I64 tensor.
  [[nodiscard]] Expected<std::vector<int64_t>> integers(const std::string& name) const;
  [[nodiscard]] const ModelFile& model() const { return model_; }
  [[nodiscard]] const std::vector<bool>& is_needed() const { return is_needed_; }

 private:
  const ModelFile& model_;
  std::vector<bool> is_needed_;  // by index in model.tensors()
};

// Everything the architecture needs; sets TensorChecker::is_needed.
[[nodiscard]] Status check_llama_tensors(const LlamaConfig& config, TensorChecker& checker);
[[nodiscard]] Status check_qwen4_exp_tensors(const Qwen4ExpConfig& config, TensorChecker& checker);

}  // namespace ifr
