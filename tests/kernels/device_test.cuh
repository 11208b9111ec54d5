// SPDX-License-Identifier: Apache-2.0
// For tests and benches on the device: buffers with guard bands, a stream, a captured graph.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ifr::kernels::test {

// Tests and benches may end the program where the library may not.
inline void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
  }
}

inline constexpr int kExitSkipped = 77;

// The number of devices, 0 with a line on stderr that says why.
inline int count_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    std::fprintf(stderr, "skipped: no CUDA device (%s); run this on a machine with one\n",
                 cudaGetErrorString(error));
    return 0;
  }
  return count;
}

// Device memory between two bands of 0xa5, filled with 0xff (a NaN, or -1) at first.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t len) : len_(len) {
    require(cudaMalloc(&base_, bytes() + 2 * kGuardBytes), "cudaMalloc");
    require(cudaMemset(base_, kGuard, bytes() + 2 * kGuardBytes), "cudaMemset");
    refill();
  }
  explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) {
    upload(values);
  }
  ~DeviceBuffer() { static_cast<void>(cudaFree(base_)); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(base_ + kGuardBytes); }
  [[nodiscard]] size_t bytes() const { return len_ * sizeof(T); }

  // Both are done when they return: other streams do not wait for the default stream, which may
  // still be filling after the call that asked it to.
  void refill() {
    require(cudaMemset(data(), 0xff, bytes()), "cudaMemset");
    require(cudaDeviceSynchronize(), "cudaMemset");
  }
  void upload(const std::vector<T>& values) {
    require(cudaMemcpy(data(), values.data(), bytes(), cudaMemcpyHostToDevice), "upload");
    require(cudaDeviceSynchronize(), "upload");
  }
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> values(len_);
    require(cudaMemcpy(values.data(), data(), bytes(), cudaMemcpyDeviceToHost), "download");
    return values;
  }
  [[nodiscard]] bool guards_intact() const {
    return band_intact(base_) && band_intact(base_ + kGuardBytes + bytes());
  }

 private:
  static constexpr size_t kGuardBytes = 1024;  // keeps the data 256-byte aligned
  static constexpr unsigned char kGuard = 0xa5;

  static bool band_intact(const unsigned char* band) {
    std::vector<unsigned char> bytes(kGuardBytes);
    require(cudaMemcpy(bytes.data(), band, kGuardBytes, cudaMemcpyDeviceToHost), "guard band");
    const std::vector<unsigned char> expected(kGuardBytes, kGuard);
    return bytes == expected;
  }

  size_t len_;
  unsigned char* base_ = nullptr;
};

class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void wait() const { require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

// What `queue(stream)` queued, to be run again and again.
class Graph {
 public:
  template <typename Queue>
  Graph(const Stream& stream, Queue&& queue) {
    require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "capture");
    queue(stream.get());
    cudaGraph_t graph = nullptr;
    require(cudaStreamEndCapture(stream.get(), &graph), "end of capture");
    require(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
    require(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  ~Graph() {
    if (graph_ != nullptr) {
      static_cast<void>(cudaGraphExecDestroy(graph_));
    }
  }
  Graph(Graph&& other) noexcept : graph_(other.graph_) { other.graph_ = nullptr; }
  Graph& operator=(Graph&&) = delete;
  void run(const Stream& stream) const {
    require(cudaGraphLaunch(graph_, stream.get()), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace ifr::kernels::test
