// SPDX-License-Identifier: Apache-2.0
#include "reference/vector_ops.h"

#ifdef IFR_KERNELS_X86_64
#include <cpuid.h>
#endif

namespace ifr::kernels {

#ifdef IFR_KERNELS_X86_64
extern const VectorOps vector_ops_table_avx2;
extern const VectorOps vector_ops_table_avx512;

// Not a name that __builtin_cpu_supports of clang 14 knows.
static bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

const VectorOps* vector_ops_avx2() {
  const bool runs =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && has_f16c();
  return runs ? &vector_ops_table_avx2 : nullptr;
}

const VectorOps* vector_ops_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 ? &vector_ops_table_avx512 : nullptr;
}
#else
const VectorOps* vector_ops_avx2() {
  return nullptr;
}

const VectorOps* vector_ops_avx512() {
  return nullptr;
}
#endif

const VectorOps& vector_ops() {
  if (const VectorOps* ops = vector_ops_avx512()) {
    return *ops;
  }
  if (const VectorOps* ops = vector_ops_avx2()) {
    return *ops;
  }
  return vector_ops_portable();
}

}  // namespace ifr::kernels
