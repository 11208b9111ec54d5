// SPDX-License-Identifier: Apache-2.0
#include "passes/scene_pass.h"

#include <cstring>

#include "gfx/pipeline.h"

namespace ifr::host {
namespace {

using Stage = vk::PipelineStageFlagBits2;
using Access = vk::AccessFlagBits2;
using Layout = vk::ImageLayout;

constexpr vk::PipelineStageFlags2 kDepthStages =
    Stage::eEarlyFragmentTests | Stage::eLateFragmentTests;

void to_depth_attachment(const vk::raii::CommandBuffer& commands, vk::Image image,
                         vk::PipelineStageFlags2 after, vk::AccessFlags2 after_access) {
  transition(commands, {.image = image,
                        .aspect = vk::ImageAspectFlagBits::eDepth,
                        .from = Layout::eUndefined,
                        .to = Layout::eDepthAttachmentOptimal,
                        .wait_stage = after,
                        .wait_access = after_access,
                        .next_stage = kDepthStages,
                        .next_access = Access::eDepthStencilAttachmentRead |
                                       Access::eDepthStencilAttachmentWrite});
}

void to_color_attachment(const vk::raii::CommandBuffer& commands, vk::Image image) {
  // The wait also orders the layout change after the swapchain's acquire, whose semaphore waits in
  // the same stage.
  transition(commands,
             {.image = image,
              .from = Layout::eUndefined,
              .to = Layout::eColorAttachmentOptimal,
              .wait_stage = Stage::eColorAttachmentOutput,
              .wait_access = Access::eColorAttachmentWrite,
              .next_stage = Stage::eColorAttachmentOutput,
              .next_access = Access::eColorAttachmentRead | Access::eColorAttachmentWrite});
}

}  // namespace

Result<void> ScenePass::resize(FrameRing& frames, vk::Extent2D extent) {
  if (depth_.extent == extent) {
    return {};
  }
  frames.retire_queue().retire(std::move(depth_), frames.next_value());
  frames.retire_queue().retire(std::move(multisampled_), frames.next_value());
  IFR_HOST_ASSIGN(depth_,
                  create_image(*device_, {.name = "scene depth",
                                          .extent = extent,
                                          .format = vk::Format::eD32Sfloat,
                                          .usage = vk::ImageUsageFlagBits::eDepthStencilAttachment,
                                          .aspect = vk::ImageAspectFlagBits::eDepth,
                                          .samples = info_.samples}));
  if (info_.samples != vk::SampleCountFlagBits::e1) {
    IFR_HOST_ASSIGN(multisampled_,
                    create_image(*device_, {.name = "scene colour",
                                            .extent = extent,
                                            .format = info_.color_format,
                                            .usage = vk::ImageUsageFlagBits::eColorAttachment,
                                            .samples = info_.samples}));
  }
  return {};
}

void ScenePass::update(uint32_t frame_index, const shared::FrameUniforms& uniforms, double time_s) {
  FrameData& data = frame_data_[frame_index];
  std::memcpy(data.uniforms.mapped.data(), &uniforms, sizeof(uniforms));
  has_stars_ = uniforms.sky_zenith.w > 0.01f;
  animate(time_s,
          {reinterpret_cast<shared::SceneInstance*>(data.moving.mapped.data()), num_moving_});
}

void ScenePass::draw_batches(const Frame& frame, uint32_t frame_index, DrawKind kind) {
  const bool is_shadow = kind == DrawKind::kShadow;
  const auto& ranges = is_shadow ? shadow_ranges_ : ranges_;
  const vk::Buffer vertices = is_shadow ? *shadow_vertices_.buffer : *vertices_.buffer;
  frame.commands.bindPipeline(vk::PipelineBindPoint::eGraphics,
                              is_shadow ? *shadow_pipeline_ : *scene_pipeline_);
  frame.commands.bindDescriptorSets(vk::PipelineBindPoint::eGraphics, *layout_, 0,
                                    frame_data_[frame_index].set, {});
  frame.commands.bindIndexBuffer(is_shadow ? *shadow_indices_.buffer : *indices_.buffer, 0,
                                 vk::IndexType::eUint32);
  const auto draw = [&](const std::vector<Batch>& batches, const Buffer& instances) {
    frame.commands.bindVertexBuffers(0, {vertices, *instances.buffer}, {0, 0});
    for (const Batch& batch : batches) {
      if (is_shadow && !batch.casts_shadow) {
        continue;
      }
      const DrawRange& range = ranges[static_cast<size_t>(batch.prop)];
      frame.commands.drawIndexed(range.num_indices, batch.num_instances, range.first_index,
                                 range.vertex_offset, batch.first_instance);
    }
  };
  draw(batches_, instances_);
  draw(moving_batches_, frame_data_[frame_index].moving);
}

void ScenePass::record_shadow(const Frame& frame, uint32_t frame_index) {
  if (shadow_age_++ % info_.shadow_interval != 0) {
    return;
  }
  to_depth_attachment(frame.commands, *shadow_map_.image, Stage::eFragmentShader,
                      Access::eShaderSampledRead);
  const vk::RenderingAttachmentInfo depth{.imageView = *shadow_map_.view,
                                          .imageLayout = Layout::eDepthAttachmentOptimal,
                                          .loadOp = vk::AttachmentLoadOp::eClear,
                                          .storeOp = vk::AttachmentStoreOp::eStore,
                                          .clearValue = vk::ClearDepthStencilValue{1.0f, 0}};
  frame.commands.beginRendering(
      {.renderArea = {.extent = shadow_map_.extent}, .layerCount = 1, .pDepthAttachment = &depth});
  set_viewport(frame.commands, shadow_map_.extent);
  draw_batches(frame, frame_index, DrawKind::kShadow);
  frame.commands.endRendering();
  transition(frame.commands, {.image = *shadow_map_.image,
                              .aspect = vk::ImageAspectFlagBits::eDepth,
                              .from = Layout::eDepthAttachmentOptimal,
                              .to = Layout::eShaderReadOnlyOptimal,
                              .wait_stage = kDepthStages,
                              .wait_access = Access::eDepthStencilAttachmentWrite,
                              .next_stage = Stage::eFragmentShader,
                              .next_access = Access::eShaderSampledRead});
}

void ScenePass::record_scene(const Frame& frame, uint32_t frame_index, const ColorTarget& target) {
  const bool resolves = info_.samples != vk::SampleCountFlagBits::e1;
  to_color_attachment(frame.commands, target.image);
  if (resolves) {
    to_color_attachment(frame.commands, *multisampled_.image);
  }
  to_depth_attachment(frame.commands, *depth_.image, kDepthStages,
                      Access::eDepthStencilAttachmentWrite);
  // No clear of colour: the sky covers what the world does not.
  const vk::RenderingAttachmentInfo color{
      .imageView = resolves ? *multisampled_.view : target.view,
      .imageLayout = Layout::eColorAttachmentOptimal,
      .resolveMode = resolves ? vk::ResolveModeFlagBits::eAverage : vk::ResolveModeFlagBits::eNone,
      .resolveImageView = resolves ? target.view : vk::ImageView{},
      .resolveImageLayout = resolves ? Layout::eColorAttachmentOptimal : Layout::eUndefined,
      .loadOp = vk::AttachmentLoadOp::eDontCare,
      .storeOp = resolves ? vk::AttachmentStoreOp::eDontCare : vk::AttachmentStoreOp::eStore};
  const vk::RenderingAttachmentInfo depth{.imageView = *depth_.view,
                                          .imageLayout = Layout::eDepthAttachmentOptimal,
                                          .loadOp = vk::AttachmentLoadOp::eClear,
                                          .storeOp = vk::AttachmentStoreOp::eDontCare,
                                          .clearValue = vk::ClearDepthStencilValue{1.0f, 0}};
  frame.commands.beginRendering({.renderArea = {.extent = target.extent},
                                 .layerCount = 1,
                                 .colorAttachmentCount = 1,
                                 .pColorAttachments = &color,
                                 .pDepthAttachment = &depth});
  set_viewport(frame.commands, target.extent);
  draw_batches(frame, frame_index, DrawKind::kScene);
  frame.commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *sky_pipeline_);
  frame.commands.draw(6 * shared::kSkyColumns * shared::kSkyRows, 1, 0, 0);
  if (has_stars_) {
    frame.commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *star_pipeline_);
    frame.commands.draw(6, shared::kNumStars, 0, 0);
  }
  frame.commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *disc_pipeline_);
  frame.commands.draw(6, 1, 0, 0);
  if (num_glows_ > 0) {
    frame.commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *glow_pipeline_);
    frame.commands.bindVertexBuffers(0, *glows_.buffer, {0});
    frame.commands.draw(6, num_glows_, 0, 0);
  }
  frame.commands.endRendering();
}

}  // namespace ifr::host
