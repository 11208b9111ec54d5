/* SPDX-License-Identifier: Apache-2.0 */
/* A driver library whose answers come from the environment, for machines without a GPU:
 * STUB_CUDA_VERSION, STUB_CUDA_INIT (result of cuInit), STUB_CUDA_DEVICES, STUB_CUDA_MAJOR. */
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int number(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value != NULL ? atoi(value) : otherwise;
}

EXPORT int cuInit(unsigned int flags);
EXPORT int cuDriverGetVersion(int* version);
EXPORT int cuDeviceGetCount(int* count);
EXPORT int cuDeviceGet(int* device, int ordinal);
EXPORT int cuDeviceGetName(char* name, int capacity, int device);
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device);
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device);

int cuInit(unsigned int flags) {
  (void)flags;
  return number("STUB_CUDA_INIT", 0);
}
int cuDriverGetVersion(int* version) {
  *version = number("STUB_CUDA_VERSION", 13000);
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = number("STUB_CUDA_DEVICES", 1);
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int capacity, int device) {
  (void)device;
  strncpy(name, "Stub GPU", (size_t)capacity);
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)1 << 34;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? number("STUB_CUDA_MAJOR", 9) : 0;
  return 0;
}
