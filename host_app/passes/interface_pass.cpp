// SPDX-License-Identifier: Apache-2.0
#include "passes/interface_pass.h"

#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_vulkan.h>
#include <implot.h>

#include "gfx/pipeline.h"
#include "interframe_overlay/overlay.h"

namespace ifr::host {

Result<InterfacePass> InterfacePass::create(DeviceContext& device, const InterfaceInfo& info) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImPlot::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // panels open where they are designed to stand
  io.LogFilename = nullptr;
  overlay::overlay_apply_style(info.scale);
  InterfacePass pass(device, info.window != nullptr);
  if (info.window != nullptr && !ImGui_ImplGlfw_InitForVulkan(info.window->handle(), true)) {
    return Error{ErrorCode::kNoWindow, "the interface cannot read the window's input"};
  }
  const auto format = static_cast<VkFormat>(info.color_format);
  ImGui_ImplVulkan_InitInfo init{};
  init.ApiVersion = VK_API_VERSION_1_3;
  init.Instance = static_cast<VkInstance>(*device.instance);
  init.PhysicalDevice = static_cast<VkPhysicalDevice>(*device.physical_device);
  init.Device = static_cast<VkDevice>(*device.device);
  init.QueueFamily = device.queue_family;
  init.Queue = static_cast<VkQueue>(*device.queue);
  init.DescriptorPoolSize = 64;
  init.MinImageCount = kFramesInFlight;
  init.ImageCount = kFramesInFlight;
  init.UseDynamicRendering = true;
  init.PipelineInfoMain.PipelineRenderingCreateInfo.sType =
      VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO_KHR;
  init.PipelineInfoMain.PipelineRenderingCreateInfo.colorAttachmentCount = 1;
  init.PipelineInfoMain.PipelineRenderingCreateInfo.pColorAttachmentFormats = &format;
  // No CheckVkResultFn: it has no user pointer. A lost device shows in our own submit of the same
  // frame.
  if (!ImGui_ImplVulkan_Init(&init)) {
    return Error{ErrorCode::kVulkan, "the interface's Vulkan backend did not start"};
  }
  return pass;
}

InterfacePass::~InterfacePass() {
  if (device_ == nullptr) {
    return;
  }
  device_->wait_idle();
  if (ImGui::GetIO().BackendRendererUserData != nullptr) {
    ImGui_ImplVulkan_Shutdown();
  }
  if (ImGui::GetIO().BackendPlatformUserData != nullptr) {
    ImGui_ImplGlfw_Shutdown();
  }
  ImPlot::DestroyContext();
  ImGui::DestroyContext();
}

void InterfacePass::begin_frame(vk::Extent2D extent, double delta_s) const {
  ImGui_ImplVulkan_NewFrame();
  if (has_window_) {
    ImGui_ImplGlfw_NewFrame();
  } else {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(extent.width), static_cast<float>(extent.height)};
    io.DeltaTime = static_cast<float>(delta_s);
  }
  ImGui::NewFrame();
}

void InterfacePass::record(const Frame& frame, const ColorTarget& target) const {
  using Stage = vk::PipelineStageFlagBits2;
  using Access = vk::AccessFlagBits2;
  ImGui::Render();
  // Blending reads what the scene pass wrote.
  transition(frame.commands,
             {.image = target.image,
              .from = vk::ImageLayout::eColorAttachmentOptimal,
              .to = vk::ImageLayout::eColorAttachmentOptimal,
              .wait_stage = Stage::eColorAttachmentOutput,
              .wait_access = Access::eColorAttachmentWrite,
              .next_stage = Stage::eColorAttachmentOutput,
              .next_access = Access::eColorAttachmentRead | Access::eColorAttachmentWrite});
  const vk::RenderingAttachmentInfo color{.imageView = target.view,
                                          .imageLayout = vk::ImageLayout::eColorAttachmentOptimal,
                                          .loadOp = vk::AttachmentLoadOp::eLoad,
                                          .storeOp = vk::AttachmentStoreOp::eStore};
  frame.commands.beginRendering({.renderArea = {.extent = target.extent},
                                 .layerCount = 1,
                                 .colorAttachmentCount = 1,
                                 .pColorAttachments = &color});
  {
    // A changed font texture is uploaded by the backend on our queue.
    const std::lock_guard lock(*device_->queue_mutex);
    ImGui_ImplVulkan_RenderDrawData(ImGui::GetDrawData(),
                                    static_cast<VkCommandBuffer>(*frame.commands));
  }
  frame.commands.endRendering();
}

}  // namespace ifr::host
