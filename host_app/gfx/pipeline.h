// SPDX-License-Identifier: Apache-2.0
// Graphics pipelines for dynamic rendering, from one description with defaults.
#pragma once

#include <cstdint>
#include <span>

#include "gfx/device.h"

namespace ifr::host {

enum class Blend { kOpaque, kAdditive };
enum class DepthUse { kOff, kTest, kTestAndWrite };

struct PipelineInfo {
  const char* name = "";
  std::span<const uint32_t> vertex_code = {};    // SPIR-V words
  std::span<const uint32_t> fragment_code = {};  // empty: depth only
  std::span<const vk::VertexInputBindingDescription> bindings = {};
  std::span<const vk::VertexInputAttributeDescription> attributes = {};
  vk::PrimitiveTopology topology = vk::PrimitiveTopology::eTriangleList;
  vk::CullModeFlags cull = vk::CullModeFlagBits::eBack;
  DepthUse depth = DepthUse::kTestAndWrite;
  Blend blend = Blend::kOpaque;
  float depth_bias_constant = 0.0f;
  float depth_bias_slope = 0.0f;
  vk::SampleCountFlagBits samples = vk::SampleCountFlagBits::e1;
  vk::Format color_format = vk::Format::eUndefined;  // eUndefined: no colour attachment
  vk::Format depth_format = vk::Format::eUndefined;
  vk::PipelineLayout layout = {};
};

/// Viewport and scissor are dynamic. Any thread.
[[nodiscard]] Result<vk::raii::Pipeline> create_pipeline(const DeviceContext& device,
                                                         const PipelineInfo& info);

/// Sets viewport and scissor to all of `extent`.
void set_viewport(const vk::raii::CommandBuffer& commands, vk::Extent2D extent);

struct ImageTransition {
  vk::Image image = {};
  vk::ImageAspectFlags aspect = vk::ImageAspectFlagBits::eColor;
  vk::ImageLayout from = vk::ImageLayout::eUndefined;
  vk::ImageLayout to = vk::ImageLayout::eUndefined;
  vk::PipelineStageFlags2 wait_stage = {};
  vk::AccessFlags2 wait_access = {};
  vk::PipelineStageFlags2 next_stage = {};
  vk::AccessFlags2 next_access = {};
};

void transition(const vk::raii::CommandBuffer& commands, const ImageTransition& change);

}  // namespace ifr::host
