// SPDX-License-Identifier: Apache-2.0
// The frames in flight: command buffers, the render-done timeline, GPU times of each pass.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gfx/device.h"
#include "gfx/retire.h"

namespace ifr::host {

inline constexpr uint32_t kFramesInFlight = 2;
inline constexpr uint32_t kMaxPasses = 8;

/// Binary semaphores of the two kinds that never may be mixed up.
struct AcquireSemaphore {
  vk::raii::Semaphore semaphore = nullptr;  // one per frame in flight
};
struct PresentSemaphore {
  vk::raii::Semaphore semaphore = nullptr;  // one per swapchain image
};

struct PassTime {
  double gpu_ms = 0.0;
  bool valid = false;
};

struct Frame {
  vk::raii::CommandPool pool = nullptr;
  vk::raii::CommandBuffer commands = nullptr;
  vk::raii::QueryPool timestamps = nullptr;  // null when the queue has none
  AcquireSemaphore acquired;
  uint64_t end_value = 0;  // timeline value that its last submission signals; 0: never submitted
  uint32_t num_passes = 0;
};

/// Main thread only.
class FrameRing {
 public:
  [[nodiscard]] static Result<FrameRing> create(DeviceContext& device);

  /// Waits until the GPU is done with the oldest frame, reads its times and drops what has retired.
  /// Its acquire semaphore may be used from here on. Harmless when no begin() follows.
  [[nodiscard]] Result<Frame*> wait_for_frame();
  /// wait_for_frame(), then starts recording.
  [[nodiscard]] Result<Frame*> begin();
  /// Brackets pass number `pass` (< kMaxPasses, in rising order) of the frame being recorded.
  void begin_pass(Frame& frame, uint32_t pass);
  void end_pass(Frame& frame, uint32_t pass);
  /// Ends recording and submits. `wait` and `signal` are null when nothing is presented.
  [[nodiscard]] Result<void> submit(Frame& frame, vk::Semaphore wait, vk::Semaphore signal);
  /// Blocks until everything submitted so far has run.
  [[nodiscard]] Result<void> wait_all();

  /// GPU times of the newest frame known to be finished.
  [[nodiscard]] const std::array<PassTime, kMaxPasses>& pass_times() const { return pass_times_; }
  [[nodiscard]] uint32_t index() const { return index_; }
  /// Value that the submission being recorded will signal.
  [[nodiscard]] uint64_t next_value() const { return next_value_; }
  [[nodiscard]] RetireQueue& retire_queue() { return retire_queue_; }

 private:
  explicit FrameRing(DeviceContext& device) : device_(&device) {}
  [[nodiscard]] Result<void> wait(uint64_t value);
  void read_times(Frame& frame);

  DeviceContext* device_;
  vk::raii::Semaphore timeline_ = nullptr;
  std::array<Frame, kFramesInFlight> frames_;
  std::array<PassTime, kMaxPasses> pass_times_;
  RetireQueue retire_queue_;
  uint32_t index_ = 0;
  uint64_t next_value_ = 1;
};

}  // namespace ifr::host
