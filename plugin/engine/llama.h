// SPDX-License-Identifier: Apache-2.0
// The `llama` architecture, as GGUF files hold it.
#pragma once

#include <memory>

#include "engine/decoder.h"

namespace ifr {

// Not loaded yet. The file is of this architecture; it and `budget` outlive the decoder.
[[nodiscard]] std::unique_ptr<Decoder> make_llama(const ModelFile& file, MemoryBudget& budget);

}  // namespace ifr
