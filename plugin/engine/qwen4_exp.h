// SPDX-License-Identifier: Apache-2.0
// The sparse hybrid decoder `qwen4_exp`, as Hugging Face folders hold it.
#pragma once

#include <memory>

#include "engine/decoder.h"

namespace ifr {

// Not loaded yet. The file is of this architecture; it and `budget` outlive the decoder.
[[nodiscard]] std::unique_ptr<Decoder> make_qwen4_exp(const ModelFile& file, MemoryBudget& budget);

}  // namespace ifr
