// SPDX-License-Identifier: Apache-2.0
#include "memory/slab.h"

#include <new>

namespace ifr {

void Slab::Free::operator()(std::byte* data) const {
  ::operator delete (data, std::align_val_t{kSlabAlignment});
}

Expected<Slab> Slab::create(MemoryBudget& budget, MemoryKind kind, uint64_t bytes,
                            const char* what) {
  Slab slab;
  IFR_ASSIGN_OR_RETURN(slab.reservation_, budget.reserve(kind, bytes, what));
  if (bytes == 0) {
    return slab;
  }
  slab.data_.reset(static_cast<std::byte*>(
      ::operator new (bytes, std::align_val_t{kSlabAlignment}, std::nothrow)));
  if (slab.data_ == nullptr) {
    return make_error(Code::kOutOfMemory, Part::kMemory,
                      "%s needs %llu bytes, which the system does not have. Free memory or use a "
                      "smaller model or context",
                      what, static_cast<unsigned long long>(bytes));
  }
  return slab;
}

}  // namespace ifr
