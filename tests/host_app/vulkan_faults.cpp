// SPDX-License-Identifier: Apache-2.0
#include "host_app/vulkan_faults.h"

#include <algorithm>
#include <cstring>

namespace ifr::host {
namespace {

/// Compile-time name, so that each wrapped function is a type of its own with its own slot.
template <size_t kLength>
struct Name {
  constexpr Name(const char (&text)[kLength]) { std::copy_n(text, kLength, value); }
  char value[kLength] = {};
};

bool begin_creation() {
  FaultCounts& counts = fault_counts();
  return counts.num_creations++ == counts.fail_at;
}

template <Name kName, Name kKind, class Function>
struct Create;
template <Name kName, Name kKind, class... Arguments>
struct Create<kName, kKind, VkResult(VKAPI_PTR*)(Arguments...)> {
  static inline VkResult(VKAPI_PTR* original)(Arguments...) = nullptr;
  static VKAPI_ATTR VkResult VKAPI_CALL call(Arguments... arguments) {
    if (begin_creation()) {
      return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkResult result = original(arguments...);
    if (result == VK_SUCCESS) {
      ++fault_counts().balance[kKind.value];
    }
    return result;
  }
};

template <Name kName, Name kKind, class Function>
struct Destroy;
template <Name kName, Name kKind, class First, class Second>
struct Destroy<kName, kKind, void(VKAPI_PTR*)(First, Second)> {
  static inline void(VKAPI_PTR* original)(First, Second) = nullptr;
  static VKAPI_ATTR void VKAPI_CALL call(First handle, Second allocator) {
    --fault_counts().balance[kKind.value];
    original(handle, allocator);
  }
};
template <Name kName, Name kKind, class First, class Handle, class Last>
struct Destroy<kName, kKind, void(VKAPI_PTR*)(First, Handle, Last)> {
  static inline void(VKAPI_PTR* original)(First, Handle, Last) = nullptr;
  static VKAPI_ATTR void VKAPI_CALL call(First owner, Handle handle, Last allocator) {
    if (handle != VK_NULL_HANDLE) {
      --fault_counts().balance[kKind.value];
    }
    original(owner, handle, allocator);
  }
};

template <class Wrapper>
PFN_vkVoidFunction wrap(PFN_vkVoidFunction original) {
  Wrapper::original = reinterpret_cast<decltype(Wrapper::original)>(original);
  return reinterpret_cast<PFN_vkVoidFunction>(&Wrapper::call);
}

PFN_vkVoidFunction VKAPI_CALL faulty_get_device_proc_addr(VkDevice device, const char* name);

#define IFR_CREATE(function, kind)                                              \
  if (std::strcmp(name, #function) == 0) {                                      \
    return wrap<Create<Name(#function), Name(kind), PFN_##function>>(original); \
  }
#define IFR_DESTROY(function, kind)                                              \
  if (std::strcmp(name, #function) == 0) {                                       \
    return wrap<Destroy<Name(#function), Name(kind), PFN_##function>>(original); \
  }

PFN_vkVoidFunction replace(const char* name, PFN_vkVoidFunction original) {
  IFR_CREATE(vkCreateInstance, "instance")
  IFR_DESTROY(vkDestroyInstance, "instance")
  IFR_CREATE(vkCreateDevice, "device")
  IFR_DESTROY(vkDestroyDevice, "device")
  IFR_CREATE(vkCreateBuffer, "buffer")
  IFR_DESTROY(vkDestroyBuffer, "buffer")
  IFR_CREATE(vkCreateImage, "image")
  IFR_DESTROY(vkDestroyImage, "image")
  IFR_CREATE(vkCreateImageView, "view")
  IFR_DESTROY(vkDestroyImageView, "view")
  IFR_CREATE(vkAllocateMemory, "memory")
  IFR_DESTROY(vkFreeMemory, "memory")
  IFR_CREATE(vkCreateCommandPool, "command pool")
  IFR_DESTROY(vkDestroyCommandPool, "command pool")
  IFR_CREATE(vkCreateSemaphore, "semaphore")
  IFR_DESTROY(vkDestroySemaphore, "semaphore")
  IFR_CREATE(vkCreateQueryPool, "query pool")
  IFR_DESTROY(vkDestroyQueryPool, "query pool")
  IFR_CREATE(vkCreateSampler, "sampler")
  IFR_DESTROY(vkDestroySampler, "sampler")
  IFR_CREATE(vkCreateDescriptorSetLayout, "set layout")
  IFR_DESTROY(vkDestroyDescriptorSetLayout, "set layout")
  IFR_CREATE(vkCreateDescriptorPool, "descriptor pool")
  IFR_DESTROY(vkDestroyDescriptorPool, "descriptor pool")
  IFR_CREATE(vkCreatePipelineLayout, "pipeline layout")
  IFR_DESTROY(vkDestroyPipelineLayout, "pipeline layout")
  IFR_CREATE(vkCreateShaderModule, "shader module")
  IFR_DESTROY(vkDestroyShaderModule, "shader module")
  IFR_CREATE(vkCreateGraphicsPipelines, "pipeline")
  IFR_DESTROY(vkDestroyPipeline, "pipeline")
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(&faulty_get_device_proc_addr);
  }
  return original;
}

PFN_vkVoidFunction VKAPI_CALL faulty_get_device_proc_addr(VkDevice device, const char* name) {
  const PFN_vkVoidFunction original = vkGetDeviceProcAddr(device, name);
  return original != nullptr ? replace(name, original) : nullptr;
}

}  // namespace

FaultCounts& fault_counts() {
  static FaultCounts counts;
  return counts;
}

PFN_vkVoidFunction VKAPI_CALL faulty_get_instance_proc_addr(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction original = vkGetInstanceProcAddr(instance, name);
  return original != nullptr ? replace(name, original) : nullptr;
}

}  // namespace ifr::host
