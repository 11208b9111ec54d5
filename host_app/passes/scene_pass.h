// SPDX-License-Identifier: Apache-2.0
// The island on the GPU: a shadow pass and a scene pass that draws world, sky and glows.
#pragma once

#include <array>
#include <vector>

#include "gfx/frames.h"
#include "gfx/memory.h"
#include "passes/world.h"
#include "shared/scene_shared.h"

namespace ifr::host {

/// Where a frame is drawn to. Not owned.
struct ColorTarget {
  vk::Image image;
  vk::ImageView view;
  vk::Format format = vk::Format::eUndefined;
  vk::Extent2D extent;
};

struct SceneInfo {
  vk::Format color_format = vk::Format::eUndefined;
  vk::SampleCountFlagBits samples = vk::SampleCountFlagBits::e1;
  uint32_t shadow_size = 1024;   // edge of the shadow map in texels
  uint32_t shadow_interval = 1;  // frames between two drawings of the shadow map; the sun is slow
};

/// Main thread only.
class ScenePass {
 public:
  [[nodiscard]] static Result<ScenePass> create(DeviceContext& device, FrameRing& frames,
                                                const World& world, const SceneInfo& info);

  /// Makes the depth (and multisample) images fit; the old ones retire. Call when the target's size
  /// changes.
  [[nodiscard]] Result<void> resize(FrameRing& frames, vk::Extent2D extent);
  /// Writes this frame's uniforms and moving instances. The frame's earlier use has ended.
  void update(uint32_t frame_index, const shared::FrameUniforms& uniforms, double time_s);
  void record_shadow(const Frame& frame, uint32_t frame_index);
  /// Takes the target in layout eUndefined (its content is replaced) and leaves it in
  /// eColorAttachmentOptimal.
  void record_scene(const Frame& frame, uint32_t frame_index, const ColorTarget& target);

 private:
  struct DrawRange {
    uint32_t first_index = 0;
    uint32_t num_indices = 0;
    int32_t vertex_offset = 0;
  };
  struct FrameData {
    Buffer uniforms;
    Buffer moving;
    vk::DescriptorSet set;  // of pool_
  };

  ScenePass(DeviceContext& device, const SceneInfo& info) : device_(&device), info_(info) {}
  [[nodiscard]] Result<void> create_geometry(const World& world);
  [[nodiscard]] Result<void> upload_light_map(FrameRing& frames, const World& world);
  [[nodiscard]] Result<void> create_descriptors();
  [[nodiscard]] Result<void> create_pipelines();
  enum class DrawKind { kShadow, kScene };
  void draw_batches(const Frame& frame, uint32_t frame_index, DrawKind kind);

  DeviceContext* device_;
  SceneInfo info_;
  std::array<DrawRange, kNumProps> ranges_;
  std::array<DrawRange, kNumProps> shadow_ranges_;
  std::vector<Batch> batches_;
  std::vector<Batch> moving_batches_;
  uint32_t num_moving_ = 0;
  uint32_t num_glows_ = 0;
  Buffer vertices_;
  Buffer indices_;
  Buffer shadow_vertices_;
  Buffer shadow_indices_;
  Buffer instances_;
  Buffer glows_;
  Image shadow_map_;
  Image light_map_;
  Image depth_;
  Image multisampled_;
  vk::raii::Sampler shadow_sampler_ = nullptr;
  vk::raii::Sampler light_sampler_ = nullptr;
  vk::raii::DescriptorSetLayout set_layout_ = nullptr;
  vk::raii::DescriptorPool pool_ = nullptr;
  std::array<FrameData, kFramesInFlight> frame_data_;
  vk::raii::PipelineLayout layout_ = nullptr;
  vk::raii::Pipeline shadow_pipeline_ = nullptr;
  vk::raii::Pipeline scene_pipeline_ = nullptr;
  vk::raii::Pipeline sky_pipeline_ = nullptr;
  vk::raii::Pipeline glow_pipeline_ = nullptr;
  vk::raii::Pipeline disc_pipeline_ = nullptr;
  vk::raii::Pipeline star_pipeline_ = nullptr;
  bool has_stars_ = false;   // in the frame last updated
  uint32_t shadow_age_ = 0;  // frames since the start
};

}  // namespace ifr::host
