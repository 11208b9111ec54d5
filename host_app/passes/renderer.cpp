// SPDX-License-Identifier: Apache-2.0
#include "passes/renderer.h"

#include <chrono>

#include "gfx/pipeline.h"

namespace ifr::host {
namespace {

using Stage = vk::PipelineStageFlagBits2;
using Access = vk::AccessFlagBits2;
using Layout = vk::ImageLayout;

Result<VkSurfaceKHR> surface_of_window(VkInstance instance, void* user) {
  return static_cast<const Window*>(user)->create_surface(instance);
}

vk::SampleCountFlagBits choose_samples(const DeviceContext& device, uint32_t wanted) {
  if (wanted == 0) {
    wanted = device.is_software() ? 1 : 4;
  }
  const auto& limits = device.properties.limits;
  const auto supported = limits.framebufferColorSampleCounts & limits.framebufferDepthSampleCounts;
  for (uint32_t count = wanted; count > 1; count /= 2) {
    const auto bit = static_cast<vk::SampleCountFlagBits>(count);
    if ((supported & bit) == bit) {
      return bit;
    }
  }
  return vk::SampleCountFlagBits::e1;
}

}  // namespace

const char* pass_name(Pass pass) {
  switch (pass) {
    case Pass::kShadow:
      return "shadow";
    case Pass::kScene:
      return "scene";
    case Pass::kInterface:
      return "interface";
    case Pass::kCount:
      break;
  }
  return "";
}

Result<std::unique_ptr<Renderer>> Renderer::create(const RendererInfo& info) {
  auto renderer = std::unique_ptr<Renderer>(new Renderer());
  DeviceInfo device{.get_instance_proc_addr = info.get_instance_proc_addr,
                    .validation = info.validation};
  if (info.window != nullptr) {
    device.instance_extensions = Window::instance_extensions();
    device.needs_swapchain = true;
    device.create_surface = surface_of_window;
    device.user = const_cast<Window*>(info.window);
  }
  IFR_HOST_ASSIGN(renderer->device_, create_device(device));
  IFR_HOST_ASSIGN(renderer->frames_, FrameRing::create(*renderer->device_));
  IFR_HOST_TRY(renderer->create_target(info));
  IFR_HOST_TRY(renderer->create_passes(info));
  return renderer;
}

Result<void> Renderer::create_target(const RendererInfo& info) {
  if (info.window != nullptr) {
    swapchain_.emplace(*device_, *frames_, *info.window, info.pacing);
    IFR_HOST_ASSIGN(target_.format, swapchain_->choose_format());
    presenter_.emplace(*swapchain_);
    return {};
  }
  IFR_HOST_ASSIGN(offscreen_,
                  create_image(*device_, {.name = "frame",
                                          .extent = info.size,
                                          .format = vk::Format::eR8G8B8A8Unorm,
                                          .usage = vk::ImageUsageFlagBits::eColorAttachment |
                                                   vk::ImageUsageFlagBits::eTransferSrc}));
  target_ = {*offscreen_.image, *offscreen_.view, offscreen_.format, offscreen_.extent};
  return {};
}

Result<void> Renderer::create_passes(const RendererInfo& info) {
  samples_ = choose_samples(*device_, info.num_samples);
  const World world = build_world();
  IFR_HOST_ASSIGN(scene_, ScenePass::create(*device_, *frames_, world,
                                            {.color_format = target_.format,
                                             .samples = samples_,
                                             .shadow_size = device_->is_software() ? 1024u : 2048u,
                                             .shadow_interval = device_->is_software() ? 3u : 1u}));
  if (info.has_interface) {
    interface_scale_ = info.window != nullptr ? info.window->content_scale() : 1.0f;
    IFR_HOST_ASSIGN(auto pass, InterfacePass::create(*device_, {.color_format = target_.format,
                                                                .window = info.window,
                                                                .scale = interface_scale_}));
    interface_.emplace(std::move(pass));
  }
  return {};
}

Renderer::~Renderer() {
  if (device_ != nullptr) {
    device_->wait_idle();
  }
}

Result<std::optional<vk::Extent2D>> Renderer::begin_frame(double delta_s) {
  if (presenter_) {
    IFR_HOST_ASSIGN(Frame * free_frame, frames_->wait_for_frame());
    IFR_HOST_ASSIGN(swapchain_image_, presenter_->acquire(*free_frame->acquired.semaphore));
    if (!swapchain_image_) {
      return std::optional<vk::Extent2D>{};
    }
    target_.image = swapchain_->image(*swapchain_image_);
    target_.view = swapchain_->view(*swapchain_image_);
    target_.extent = swapchain_->built_extent();
  }
  IFR_HOST_ASSIGN(frame_, frames_->begin());
  if (interface_) {
    interface_->begin_frame(target_.extent, delta_s);
  }
  return std::optional<vk::Extent2D>{target_.extent};
}

Result<void> Renderer::end_frame(const FrameInput& input) {
  const uint32_t index = frames_->index();
  IFR_HOST_TRY(scene_->resize(*frames_, target_.extent));
  scene_->update(index, frame_uniforms(input.time), input.time.time_s);
  const auto timed = [&](Pass pass, auto&& record) {
    const auto number = static_cast<uint32_t>(pass);
    const auto start = std::chrono::steady_clock::now();
    frames_->begin_pass(*frame_, number);
    record();
    frames_->end_pass(*frame_, number);
    costs_[number].cpu_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    costs_[number].gpu_ms = frames_->pass_times()[number].gpu_ms;
    costs_[number].has_gpu_time = frames_->pass_times()[number].valid;
  };
  timed(Pass::kShadow, [&] { scene_->record_shadow(*frame_, index); });
  timed(Pass::kScene, [&] { scene_->record_scene(*frame_, index, target_); });
  if (interface_) {
    timed(Pass::kInterface, [&] { interface_->record(*frame_, target_); });
  }
  if (input.wants_picture) {
    IFR_HOST_TRY(record_picture(*frame_));
  }
  finish_target(*frame_, input.wants_picture);
  if (!presenter_) {
    return frames_->submit(*frame_, nullptr, nullptr);
  }
  IFR_HOST_TRY(frames_->submit(*frame_, *frame_->acquired.semaphore,
                               swapchain_->rendered(*swapchain_image_)));
  return presenter_->present(*swapchain_image_);
}

Result<void> Renderer::record_picture(const Frame& frame) {
  transition(frame.commands, {.image = target_.image,
                              .from = Layout::eColorAttachmentOptimal,
                              .to = Layout::eTransferSrcOptimal,
                              .wait_stage = Stage::eColorAttachmentOutput,
                              .wait_access = Access::eColorAttachmentWrite,
                              .next_stage = Stage::eCopy,
                              .next_access = Access::eTransferRead});
  IFR_HOST_ASSIGN(readback_, record_readback(*device_, frame.commands,
                                             {target_.image, target_.format, target_.extent}));
  return {};
}

void Renderer::finish_target(const Frame& frame, bool was_copied) {
  const Layout layout = was_copied ? Layout::eTransferSrcOptimal : Layout::eColorAttachmentOptimal;
  const auto stage = was_copied ? Stage::eCopy : Stage::eColorAttachmentOutput;
  if (presenter_) {
    transition(frame.commands,
               {.image = target_.image,
                .from = layout,
                .to = Layout::ePresentSrcKHR,
                .wait_stage = stage,
                .wait_access = was_copied ? vk::AccessFlags2{} : Access::eColorAttachmentWrite});
  } else if (was_copied) {
    // The next frame's pass writes the image that this copy reads.
    transition(frame.commands, {.image = target_.image,
                                .from = layout,
                                .to = Layout::eColorAttachmentOptimal,
                                .wait_stage = stage,
                                .next_stage = Stage::eColorAttachmentOutput,
                                .next_access = Access::eColorAttachmentWrite});
  }
}

Result<Picture> Renderer::take_picture() {
  if (!readback_) {
    return Error{ErrorCode::kBadArgument, "no frame was drawn that a screenshot could be taken of"};
  }
  IFR_HOST_TRY(frames_->wait_all());
  Picture picture = host::take_picture(*readback_);
  readback_.reset();
  return picture;
}

}  // namespace ifr::host
