// SPDX-License-Identifier: Apache-2.0
#include "gfx/pipeline.h"

#include <array>

namespace ifr::host {
namespace {

vk::raii::ShaderModule create_module(const DeviceContext& device, std::span<const uint32_t> code) {
  return device.device.createShaderModule({.codeSize = code.size_bytes(), .pCode = code.data()});
}

vk::PipelineColorBlendAttachmentState blend_state(Blend blend) {
  using Channel = vk::ColorComponentFlagBits;
  vk::PipelineColorBlendAttachmentState state{.colorWriteMask = Channel::eR | Channel::eG |
                                                                Channel::eB | Channel::eA};
  if (blend == Blend::kAdditive) {
    state.blendEnable = VK_TRUE;
    state.srcColorBlendFactor = vk::BlendFactor::eOne;
    state.dstColorBlendFactor = vk::BlendFactor::eOne;
    state.colorBlendOp = vk::BlendOp::eAdd;
    state.srcAlphaBlendFactor = vk::BlendFactor::eZero;
    state.dstAlphaBlendFactor = vk::BlendFactor::eOne;
    state.alphaBlendOp = vk::BlendOp::eAdd;
  }
  return state;
}

vk::PipelineDepthStencilStateCreateInfo depth_state(DepthUse depth) {
  return {.depthTestEnable = depth != DepthUse::kOff,
          .depthWriteEnable = depth == DepthUse::kTestAndWrite,
          .depthCompareOp = vk::CompareOp::eLessOrEqual};
}

}  // namespace

Result<vk::raii::Pipeline> create_pipeline(const DeviceContext& device, const PipelineInfo& info) {
  return guard(info.name, [&] {
    const auto vertex = create_module(device, info.vertex_code);
    const auto fragment = info.fragment_code.empty() ? vk::raii::ShaderModule(nullptr)
                                                     : create_module(device, info.fragment_code);
    const std::array<vk::PipelineShaderStageCreateInfo, 2> stages = {{
        {.stage = vk::ShaderStageFlagBits::eVertex, .module = *vertex, .pName = "main"},
        {.stage = vk::ShaderStageFlagBits::eFragment, .module = *fragment, .pName = "main"},
    }};
    const vk::PipelineVertexInputStateCreateInfo input{
        .vertexBindingDescriptionCount = static_cast<uint32_t>(info.bindings.size()),
        .pVertexBindingDescriptions = info.bindings.data(),
        .vertexAttributeDescriptionCount = static_cast<uint32_t>(info.attributes.size()),
        .pVertexAttributeDescriptions = info.attributes.data()};
    const vk::PipelineInputAssemblyStateCreateInfo assembly{.topology = info.topology};
    const vk::PipelineViewportStateCreateInfo viewport{.viewportCount = 1, .scissorCount = 1};
    const bool biased = info.depth_bias_constant != 0.0f || info.depth_bias_slope != 0.0f;
    const vk::PipelineRasterizationStateCreateInfo raster{
        .polygonMode = vk::PolygonMode::eFill,
        .cullMode = info.cull,
        .frontFace = vk::FrontFace::eCounterClockwise,
        .depthBiasEnable = biased,
        .depthBiasConstantFactor = info.depth_bias_constant,
        .depthBiasSlopeFactor = info.depth_bias_slope,
        .lineWidth = 1.0f};
    const vk::PipelineMultisampleStateCreateInfo multisample{.rasterizationSamples = info.samples};
    const auto depth = depth_state(info.depth);
    const auto attachment = blend_state(info.blend);
    const bool has_color = info.color_format != vk::Format::eUndefined;
    const vk::PipelineColorBlendStateCreateInfo blend{.attachmentCount = has_color ? 1u : 0u,
                                                      .pAttachments = &attachment};
    const std::array dynamic = {vk::DynamicState::eViewport, vk::DynamicState::eScissor};
    const vk::PipelineDynamicStateCreateInfo dynamic_info{
        .dynamicStateCount = static_cast<uint32_t>(dynamic.size()),
        .pDynamicStates = dynamic.data()};
    const vk::PipelineRenderingCreateInfo rendering{.colorAttachmentCount = has_color ? 1u : 0u,
                                                    .pColorAttachmentFormats = &info.color_format,
                                                    .depthAttachmentFormat = info.depth_format};
    auto pipeline = device.device.createGraphicsPipeline(
        nullptr, {.pNext = &rendering,
                  .stageCount = info.fragment_code.empty() ? 1u : 2u,
                  .pStages = stages.data(),
                  .pVertexInputState = &input,
                  .pInputAssemblyState = &assembly,
                  .pViewportState = &viewport,
                  .pRasterizationState = &raster,
                  .pMultisampleState = &multisample,
                  .pDepthStencilState = &depth,
                  .pColorBlendState = &blend,
                  .pDynamicState = &dynamic_info,
                  .layout = info.layout});
    device.set_name(vk::ObjectType::ePipeline,
                    reinterpret_cast<uint64_t>(static_cast<VkPipeline>(*pipeline)), info.name);
    return pipeline;
  });
}

void set_viewport(const vk::raii::CommandBuffer& commands, vk::Extent2D extent) {
  commands.setViewport(0, vk::Viewport{.width = static_cast<float>(extent.width),
                                       .height = static_cast<float>(extent.height),
                                       .minDepth = 0.0f,
                                       .maxDepth = 1.0f});
  commands.setScissor(0, vk::Rect2D{.extent = extent});
}

void transition(const vk::raii::CommandBuffer& commands, const ImageTransition& change) {
  const vk::ImageMemoryBarrier2 barrier{
      .srcStageMask = change.wait_stage,
      .srcAccessMask = change.wait_access,
      .dstStageMask = change.next_stage,
      .dstAccessMask = change.next_access,
      .oldLayout = change.from,
      .newLayout = change.to,
      .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .image = change.image,
      .subresourceRange = {.aspectMask = change.aspect, .levelCount = 1, .layerCount = 1}};
  commands.pipelineBarrier2({.imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier});
}

}  // namespace ifr::host
