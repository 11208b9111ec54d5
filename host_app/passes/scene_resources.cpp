// SPDX-License-Identifier: Apache-2.0
// Creation of what ScenePass draws with.
#include <cstring>
#include <utility>

#include "gfx/pipeline.h"
#include "passes/scene_pass.h"
#include "shared/shader_table.h"

namespace ifr::host {
namespace {

using shared::GlowInstance;
using shared::SceneInstance;
using shared::SceneVertex;

constexpr vk::Format kFloat4 = vk::Format::eR32G32B32A32Sfloat;
constexpr vk::Format kShadowFormat = vk::Format::eD32Sfloat;

constexpr vk::VertexInputBindingDescription kSceneBindings[] = {
    {.binding = 0, .stride = sizeof(SceneVertex), .inputRate = vk::VertexInputRate::eVertex},
    {.binding = 1, .stride = sizeof(SceneInstance), .inputRate = vk::VertexInputRate::eInstance}};
constexpr vk::VertexInputAttributeDescription kSceneAttributes[] = {
    {0, 0, vk::Format::eR32G32B32Sfloat, offsetof(SceneVertex, position)},
    {1, 0, vk::Format::eR8G8B8A8Snorm, offsetof(SceneVertex, normal)},
    {2, 0, vk::Format::eR8G8B8A8Unorm, offsetof(SceneVertex, color)},
    {3, 1, kFloat4, offsetof(SceneInstance, row0)},
    {4, 1, kFloat4, offsetof(SceneInstance, row1)},
    {5, 1, kFloat4, offsetof(SceneInstance, row2)},
    {6, 1, kFloat4, offsetof(SceneInstance, tint)}};
constexpr vk::VertexInputBindingDescription kShadowBindings[] = {
    {.binding = 0, .stride = sizeof(glm::vec3), .inputRate = vk::VertexInputRate::eVertex},
    kSceneBindings[1]};
constexpr vk::VertexInputAttributeDescription kShadowAttributes[] = {
    {0, 0, vk::Format::eR32G32B32Sfloat, 0},
    {1, 1, kFloat4, offsetof(SceneInstance, row0)},
    {2, 1, kFloat4, offsetof(SceneInstance, row1)},
    {3, 1, kFloat4, offsetof(SceneInstance, row2)}};
constexpr vk::VertexInputBindingDescription kGlowBindings[] = {
    {.binding = 0, .stride = sizeof(GlowInstance), .inputRate = vk::VertexInputRate::eInstance}};
constexpr vk::VertexInputAttributeDescription kGlowAttributes[] = {
    {0, 0, kFloat4, offsetof(GlowInstance, center)},
    {1, 0, kFloat4, offsetof(GlowInstance, color)}};

}  // namespace

Result<ScenePass> ScenePass::create(DeviceContext& device, FrameRing& frames, const World& world,
                                    const SceneInfo& info) {
  ScenePass pass(device, info);
  IFR_HOST_TRY(pass.create_geometry(world));
  IFR_HOST_ASSIGN(pass.light_map_,
                  create_image(device, {.name = "light map",
                                        .extent = {kLightMapSize, kLightMapSize},
                                        .format = vk::Format::eR8G8B8A8Unorm,
                                        .usage = vk::ImageUsageFlagBits::eTransferDst |
                                                 vk::ImageUsageFlagBits::eSampled}));
  IFR_HOST_ASSIGN(pass.shadow_map_,
                  create_image(device, {.name = "shadow map",
                                        .extent = {info.shadow_size, info.shadow_size},
                                        .format = kShadowFormat,
                                        .usage = vk::ImageUsageFlagBits::eDepthStencilAttachment |
                                                 vk::ImageUsageFlagBits::eSampled,
                                        .aspect = vk::ImageAspectFlagBits::eDepth}));
  IFR_HOST_TRY(pass.create_descriptors());
  IFR_HOST_TRY(pass.create_pipelines());
  // Last: from here on the GPU may be at work on what the pass owns, and nothing more can fail.
  IFR_HOST_TRY(pass.upload_light_map(frames, world));
  return pass;
}

Result<void> ScenePass::create_geometry(const World& world) {
  std::vector<SceneVertex> vertices;
  std::vector<uint32_t> indices;
  std::vector<glm::vec3> positions;
  std::vector<uint32_t> shadow_indices;
  for (size_t prop = 0; prop < world.meshes.size(); ++prop) {
    const Mesh mesh = share_corners(world.meshes[prop]);
    const Silhouette outline = silhouette(world.meshes[prop]);
    shadow_ranges_[prop] = {static_cast<uint32_t>(shadow_indices.size()),
                            static_cast<uint32_t>(outline.indices.size()),
                            static_cast<int32_t>(positions.size())};
    positions.insert(positions.end(), outline.positions.begin(), outline.positions.end());
    shadow_indices.insert(shadow_indices.end(), outline.indices.begin(), outline.indices.end());
    ranges_[prop] = {static_cast<uint32_t>(indices.size()),
                     static_cast<uint32_t>(mesh.indices.size()),
                     static_cast<int32_t>(vertices.size())};
    vertices.insert(vertices.end(), mesh.vertices.begin(), mesh.vertices.end());
    indices.insert(indices.end(), mesh.indices.begin(), mesh.indices.end());
  }
  batches_ = world.batches;
  moving_batches_ = world.moving_batches;
  num_moving_ = world.num_moving;
  num_glows_ = static_cast<uint32_t>(world.glows.size());
  const auto vertex_usage = vk::BufferUsageFlagBits::eVertexBuffer;
  IFR_HOST_ASSIGN(vertices_,
                  create_filled_buffer(*device_, {.name = "scene vertices", .usage = vertex_usage},
                                       std::as_bytes(std::span(vertices))));
  IFR_HOST_ASSIGN(indices_, create_filled_buffer(*device_,
                                                 {.name = "scene indices",
                                                  .usage = vk::BufferUsageFlagBits::eIndexBuffer},
                                                 std::as_bytes(std::span(indices))));
  IFR_HOST_ASSIGN(shadow_vertices_,
                  create_filled_buffer(*device_, {.name = "shadow vertices", .usage = vertex_usage},
                                       std::as_bytes(std::span(positions))));
  IFR_HOST_ASSIGN(
      shadow_indices_,
      create_filled_buffer(
          *device_, {.name = "shadow indices", .usage = vk::BufferUsageFlagBits::eIndexBuffer},
          std::as_bytes(std::span(shadow_indices))));
  IFR_HOST_ASSIGN(instances_,
                  create_filled_buffer(*device_, {.name = "scene instances", .usage = vertex_usage},
                                       std::as_bytes(std::span(world.instances))));
  IFR_HOST_ASSIGN(glows_, create_filled_buffer(*device_, {.name = "glows", .usage = vertex_usage},
                                               std::as_bytes(std::span(world.glows))));
  for (FrameData& data : frame_data_) {
    IFR_HOST_ASSIGN(data.uniforms,
                    create_buffer(*device_, {.name = "frame uniforms",
                                             .size_bytes = sizeof(shared::FrameUniforms),
                                             .usage = vk::BufferUsageFlagBits::eUniformBuffer}));
    IFR_HOST_ASSIGN(data.moving,
                    create_buffer(*device_, {.name = "moving instances",
                                             .size_bytes = num_moving_ * sizeof(SceneInstance),
                                             .usage = vertex_usage}));
  }
  return {};
}

Result<void> ScenePass::upload_light_map(FrameRing& frames, const World& world) {
  const vk::Extent2D extent{kLightMapSize, kLightMapSize};
  IFR_HOST_ASSIGN(
      Buffer staging,
      create_filled_buffer(
          *device_, {.name = "light map staging", .usage = vk::BufferUsageFlagBits::eTransferSrc},
          std::as_bytes(std::span(world.light_map))));
  IFR_HOST_ASSIGN(Frame * frame, frames.begin());
  transition(frame->commands, {.image = *light_map_.image,
                               .to = vk::ImageLayout::eTransferDstOptimal,
                               .next_stage = vk::PipelineStageFlagBits2::eCopy,
                               .next_access = vk::AccessFlagBits2::eTransferWrite});
  const vk::BufferImageCopy2 region{
      .imageSubresource = {.aspectMask = vk::ImageAspectFlagBits::eColor, .layerCount = 1},
      .imageExtent = {extent.width, extent.height, 1}};
  frame->commands.copyBufferToImage2({.srcBuffer = *staging.buffer,
                                      .dstImage = *light_map_.image,
                                      .dstImageLayout = vk::ImageLayout::eTransferDstOptimal,
                                      .regionCount = 1,
                                      .pRegions = &region});
  transition(frame->commands, {.image = *light_map_.image,
                               .from = vk::ImageLayout::eTransferDstOptimal,
                               .to = vk::ImageLayout::eShaderReadOnlyOptimal,
                               .wait_stage = vk::PipelineStageFlagBits2::eCopy,
                               .wait_access = vk::AccessFlagBits2::eTransferWrite,
                               .next_stage = vk::PipelineStageFlagBits2::eFragmentShader,
                               .next_access = vk::AccessFlagBits2::eShaderSampledRead});
  frames.retire_queue().retire(std::move(staging), frames.next_value());
  return frames.submit(*frame, nullptr, nullptr);
}

Result<void> ScenePass::create_descriptors() {
  return guard("creating the scene's descriptors", [&] {
    const auto& device = device_->device;
    shadow_sampler_ = device.createSampler({.magFilter = vk::Filter::eLinear,
                                            .minFilter = vk::Filter::eLinear,
                                            .addressModeU = vk::SamplerAddressMode::eClampToBorder,
                                            .addressModeV = vk::SamplerAddressMode::eClampToBorder,
                                            .addressModeW = vk::SamplerAddressMode::eClampToBorder,
                                            .compareEnable = VK_TRUE,
                                            .compareOp = vk::CompareOp::eLessOrEqual,
                                            .borderColor = vk::BorderColor::eFloatOpaqueWhite});
    light_sampler_ = device.createSampler({.magFilter = vk::Filter::eLinear,
                                           .minFilter = vk::Filter::eLinear,
                                           .addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                           .addressModeV = vk::SamplerAddressMode::eClampToEdge});
    const auto all_stages = vk::ShaderStageFlagBits::eVertex | vk::ShaderStageFlagBits::eFragment;
    const vk::DescriptorSetLayoutBinding bindings[] = {
        {.binding = 0,
         .descriptorType = vk::DescriptorType::eUniformBuffer,
         .descriptorCount = 1,
         .stageFlags = all_stages},
        {.binding = 1,
         .descriptorType = vk::DescriptorType::eCombinedImageSampler,
         .descriptorCount = 1,
         .stageFlags = vk::ShaderStageFlagBits::eFragment},
        {.binding = 2,
         .descriptorType = vk::DescriptorType::eCombinedImageSampler,
         .descriptorCount = 1,
         .stageFlags = vk::ShaderStageFlagBits::eFragment}};
    set_layout_ = device.createDescriptorSetLayout({.bindingCount = 3, .pBindings = bindings});
    const vk::DescriptorPoolSize sizes[] = {
        {vk::DescriptorType::eUniformBuffer, kFramesInFlight},
        {vk::DescriptorType::eCombinedImageSampler, 2 * kFramesInFlight}};
    pool_ = device.createDescriptorPool(
        {.maxSets = kFramesInFlight, .poolSizeCount = 2, .pPoolSizes = sizes});
    const std::array<vk::DescriptorSetLayout, kFramesInFlight> layouts = {*set_layout_,
                                                                          *set_layout_};
    const auto sets = (*device).allocateDescriptorSets({.descriptorPool = *pool_,
                                                        .descriptorSetCount = kFramesInFlight,
                                                        .pSetLayouts = layouts.data()},
                                                       *device.getDispatcher());
    for (uint32_t index = 0; index < kFramesInFlight; ++index) {
      FrameData& data = frame_data_[index];
      data.set = sets[index];
      const vk::DescriptorBufferInfo uniforms{.buffer = *data.uniforms.buffer,
                                              .range = VK_WHOLE_SIZE};
      const auto layout = vk::ImageLayout::eShaderReadOnlyOptimal;
      const vk::DescriptorImageInfo shadow{*shadow_sampler_, *shadow_map_.view, layout};
      const vk::DescriptorImageInfo light{*light_sampler_, *light_map_.view, layout};
      const auto image_type = vk::DescriptorType::eCombinedImageSampler;
      device.updateDescriptorSets(
          {vk::WriteDescriptorSet{.dstSet = data.set,
                                  .dstBinding = 0,
                                  .descriptorCount = 1,
                                  .descriptorType = vk::DescriptorType::eUniformBuffer,
                                  .pBufferInfo = &uniforms},
           vk::WriteDescriptorSet{.dstSet = data.set,
                                  .dstBinding = 1,
                                  .descriptorCount = 1,
                                  .descriptorType = image_type,
                                  .pImageInfo = &shadow},
           vk::WriteDescriptorSet{.dstSet = data.set,
                                  .dstBinding = 2,
                                  .descriptorCount = 1,
                                  .descriptorType = image_type,
                                  .pImageInfo = &light}},
          {});
    }
    const vk::DescriptorSetLayout set_layout = *set_layout_;
    layout_ = device.createPipelineLayout({.setLayoutCount = 1, .pSetLayouts = &set_layout});
  });
}

Result<void> ScenePass::create_pipelines() {
  IFR_HOST_ASSIGN(shadow_pipeline_,
                  create_pipeline(*device_, {.name = "shadow",
                                             .vertex_code = shader_code(Shader::kShadowVertex),
                                             .bindings = kShadowBindings,
                                             .attributes = kShadowAttributes,
                                             .cull = vk::CullModeFlagBits::eNone,
                                             .depth_bias_constant = 1.5f,
                                             .depth_bias_slope = 2.0f,
                                             .depth_format = kShadowFormat,
                                             .layout = *layout_}));
  IFR_HOST_ASSIGN(scene_pipeline_,
                  create_pipeline(*device_, {.name = "scene",
                                             .vertex_code = shader_code(Shader::kSceneVertex),
                                             .fragment_code = shader_code(Shader::kSceneFragment),
                                             .bindings = kSceneBindings,
                                             .attributes = kSceneAttributes,
                                             .samples = info_.samples,
                                             .color_format = info_.color_format,
                                             .depth_format = vk::Format::eD32Sfloat,
                                             .layout = *layout_}));
  // The rest is drawn over the world with its depth as a test.
  PipelineInfo over{.name = "sky",
                    .vertex_code = shader_code(Shader::kSkyVertex),
                    .fragment_code = shader_code(Shader::kSkyFragment),
                    .cull = vk::CullModeFlagBits::eNone,
                    .depth = DepthUse::kTest,
                    .samples = info_.samples,
                    .color_format = info_.color_format,
                    .depth_format = vk::Format::eD32Sfloat,
                    .layout = *layout_};
  IFR_HOST_ASSIGN(sky_pipeline_, create_pipeline(*device_, over));
  over.name = "disc";
  over.vertex_code = shader_code(Shader::kDiscVertex);
  over.fragment_code = shader_code(Shader::kDiscFragment);
  over.blend = Blend::kAdditive;
  IFR_HOST_ASSIGN(disc_pipeline_, create_pipeline(*device_, over));
  over.name = "star";
  over.vertex_code = shader_code(Shader::kStarVertex);
  over.fragment_code = shader_code(Shader::kGlowFragment);
  IFR_HOST_ASSIGN(star_pipeline_, create_pipeline(*device_, over));
  over.name = "glow";
  over.vertex_code = shader_code(Shader::kGlowVertex);
  over.fragment_code = shader_code(Shader::kGlowFragment);
  over.bindings = kGlowBindings;
  over.attributes = kGlowAttributes;
  IFR_HOST_ASSIGN(glow_pipeline_, create_pipeline(*device_, over));
  return {};
}

}  // namespace ifr::host
