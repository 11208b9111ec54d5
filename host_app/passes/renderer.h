// SPDX-License-Identifier: Apache-2.0
// All passes of a frame in their order, into a window or into an image of our own.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "gfx/readback.h"
#include "gfx/swapchain.h"
#include "passes/daylight.h"
#include "passes/interface_pass.h"
#include "passes/scene_pass.h"

namespace ifr::host {

enum class Pass : uint32_t { kShadow, kScene, kInterface, kCount };
inline constexpr uint32_t kNumPasses = static_cast<uint32_t>(Pass::kCount);
[[nodiscard]] const char* pass_name(Pass pass);

struct RendererInfo {
  PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;  // null: the linked loader's
  Validation validation = Validation::kOff;
  const Window* window = nullptr;  // null: headless
  vk::Extent2D size{1280, 720};    // headless only
  FramePacing pacing = FramePacing::kDisplay;
  uint32_t num_samples = 0;   // 1, 2, 4 or 8; 0: 4 on a GPU, 1 on a CPU
  bool has_interface = true;  // false draws the scene alone (tests)
};

struct FrameInput {
  SceneTime time;
  bool wants_picture = false;
};

/// CPU time that recording a pass took, and GPU time of the newest finished frame.
struct PassCost {
  double cpu_ms = 0.0;
  double gpu_ms = 0.0;
  bool has_gpu_time = false;
};

/// Main thread only.
class Renderer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Renderer>> create(const RendererInfo& info);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// Starts a frame. Nothing comes back when there is nothing to draw to (minimised): skip
  /// end_frame() then. Else the size of the frame; ImGui calls may follow.
  [[nodiscard]] Result<std::optional<vk::Extent2D>> begin_frame(double delta_s);
  /// Records, submits and presents.
  [[nodiscard]] Result<void> end_frame(const FrameInput& input);
  /// The picture that the last end_frame() with wants_picture asked for. Waits for the GPU.
  [[nodiscard]] Result<Picture> take_picture();

  [[nodiscard]] const std::array<PassCost, kNumPasses>& costs() const { return costs_; }
  [[nodiscard]] const DeviceContext& device() const { return *device_; }
  [[nodiscard]] uint64_t num_validation_messages() const {
    return device_->validation_log != nullptr ? device_->validation_log->count() : 0;
  }
  [[nodiscard]] uint64_t num_swapchain_rebuilds() const {
    return presenter_ ? presenter_->num_rebuilds() : 0;
  }
  /// Of the display: 1 on ordinary ones, and headless.
  [[nodiscard]] float interface_scale() const { return interface_scale_; }
  [[nodiscard]] uint32_t num_samples() const { return static_cast<uint32_t>(samples_); }

 private:
  Renderer() = default;
  [[nodiscard]] Result<void> create_target(const RendererInfo& info);
  [[nodiscard]] Result<void> create_passes(const RendererInfo& info);
  [[nodiscard]] Result<void> record_picture(const Frame& frame);
  void finish_target(const Frame& frame, bool was_copied);

  std::unique_ptr<DeviceContext> device_;
  std::optional<FrameRing> frames_;
  std::optional<Swapchain> swapchain_;
  std::optional<Presenter> presenter_;
  Image offscreen_;
  float interface_scale_ = 1.0f;
  vk::SampleCountFlagBits samples_ = vk::SampleCountFlagBits::e1;
  std::optional<ScenePass> scene_;
  std::optional<InterfacePass> interface_;
  std::optional<PendingReadback> readback_;
  std::array<PassCost, kNumPasses> costs_;
  // Of the frame between begin_frame() and end_frame().
  Frame* frame_ = nullptr;
  ColorTarget target_;
  std::optional<uint32_t> swapchain_image_;
};

}  // namespace ifr::host
