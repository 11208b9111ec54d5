// SPDX-License-Identifier: Apache-2.0
#include "reference/vector_ops.h"

namespace ifr::kernels {

#ifdef IFR_KERNELS_X86_64
extern const VectorOps kVectorOpsAvx2;
extern const VectorOps kVectorOpsAvx512;

const VectorOps* vector_ops_avx2() {
  const bool runs = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    __builtin_cpu_supports("f16c") != 0;
  return runs ? &kVectorOpsAvx2 : nullptr;
}

const VectorOps* vector_ops_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 ? &kVectorOpsAvx512 : nullptr;
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
