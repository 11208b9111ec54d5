// SPDX-License-Identifier: Apache-2.0
#include "gfx/frames.h"

namespace ifr::host {
namespace {

// A frame takes milliseconds; a GPU that is silent for this long is not coming back.
constexpr uint64_t kWaitLimitNs = 20'000'000'000;

void create_frame(DeviceContext& device, Frame& frame) {
  frame.pool = device.device.createCommandPool({.flags = vk::CommandPoolCreateFlagBits::eTransient,
                                                .queueFamilyIndex = device.queue_family});
  frame.commands =
      std::move(vk::raii::CommandBuffers(device.device, {.commandPool = *frame.pool,
                                                         .level = vk::CommandBufferLevel::ePrimary,
                                                         .commandBufferCount = 1})
                    .front());
  if (device.timestamp_valid_bits != 0) {
    frame.timestamps = device.device.createQueryPool(
        {.queryType = vk::QueryType::eTimestamp, .queryCount = 2 * kMaxPasses});
  }
  frame.acquired.semaphore = device.device.createSemaphore({});
}

}  // namespace

Result<FrameRing> FrameRing::create(DeviceContext& device) {
  return guard("creating the frames in flight", [&] {
    FrameRing ring(device);
    const vk::SemaphoreTypeCreateInfo timeline{.semaphoreType = vk::SemaphoreType::eTimeline,
                                               .initialValue = 0};
    ring.timeline_ = device.device.createSemaphore({.pNext = &timeline});
    for (Frame& frame : ring.frames_) {
      create_frame(device, frame);
    }
    return ring;
  });
}

Result<void> FrameRing::wait(uint64_t value) {
  return guard("waiting for the GPU", [&]() -> Result<void> {
    const vk::Semaphore semaphore = *timeline_;
    const vk::Result result = device_->device.waitSemaphores(
        {.semaphoreCount = 1, .pSemaphores = &semaphore, .pValues = &value}, kWaitLimitNs);
    if (result == vk::Result::eTimeout) {
      return Error{ErrorCode::kDeviceLost, "the GPU did not finish a frame within 20 s"};
    }
    return {};
  });
}

void FrameRing::read_times(Frame& frame) {
  if (frame.num_passes == 0 || !*frame.timestamps) {
    return;
  }
  std::array<uint64_t, 2 * kMaxPasses> stamps{};
  const VkResult result = frame.timestamps.getDispatcher()->vkGetQueryPoolResults(
      static_cast<VkDevice>(*device_->device), static_cast<VkQueryPool>(*frame.timestamps), 0,
      2 * frame.num_passes, sizeof(stamps), stamps.data(), sizeof(uint64_t),
      VK_QUERY_RESULT_64_BIT);
  if (result != VK_SUCCESS) {
    return;  // VK_NOT_READY: keep the older times
  }
  const uint64_t mask =
      device_->timestamp_valid_bits >= 64 ? ~0ull : (1ull << device_->timestamp_valid_bits) - 1;
  const double ms_per_tick = static_cast<double>(device_->properties.limits.timestampPeriod) * 1e-6;
  for (uint32_t pass = 0; pass < frame.num_passes; ++pass) {
    const uint64_t ticks = (stamps[2 * pass + 1] - stamps[2 * pass]) & mask;
    pass_times_[pass] = {static_cast<double>(ticks) * ms_per_tick, true};
  }
}

Result<Frame*> FrameRing::wait_for_frame() {
  Frame& frame = frames_[index_];
  if (frame.end_value != 0) {
    IFR_HOST_TRY(wait(frame.end_value));
    read_times(frame);
    frame.num_passes = 0;
  }
  return guard("reading the render timeline", [&]() -> Result<Frame*> {
    retire_queue_.collect(timeline_.getCounterValue());
    return &frame;
  });
}

Result<Frame*> FrameRing::begin() {
  IFR_HOST_ASSIGN(Frame * frame, wait_for_frame());
  return guard("starting a frame", [&]() -> Result<Frame*> {
    frame->pool.reset();
    frame->commands.begin({.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    if (*frame->timestamps) {
      frame->commands.resetQueryPool(*frame->timestamps, 0, 2 * kMaxPasses);
    }
    return frame;
  });
}

void FrameRing::begin_pass(Frame& frame, uint32_t pass) {
  frame.num_passes = pass + 1;
  if (*frame.timestamps) {
    frame.commands.writeTimestamp2(vk::PipelineStageFlagBits2::eAllCommands, *frame.timestamps,
                                   2 * pass);
  }
}

void FrameRing::end_pass(Frame& frame, uint32_t pass) {
  if (*frame.timestamps) {
    frame.commands.writeTimestamp2(vk::PipelineStageFlagBits2::eAllCommands, *frame.timestamps,
                                   2 * pass + 1);
  }
}

Result<void> FrameRing::submit(Frame& frame, vk::Semaphore wait, vk::Semaphore signal) {
  IFR_HOST_TRY(guard("ending a frame", [&] { frame.commands.end(); }));
  const vk::CommandBufferSubmitInfo commands{.commandBuffer = *frame.commands};
  const vk::SemaphoreSubmitInfo wait_info{
      .semaphore = wait, .stageMask = vk::PipelineStageFlagBits2::eColorAttachmentOutput};
  const vk::SemaphoreSubmitInfo signals[] = {
      {.semaphore = *timeline_,
       .value = next_value_,
       .stageMask = vk::PipelineStageFlagBits2::eAllCommands},
      {.semaphore = signal, .stageMask = vk::PipelineStageFlagBits2::eAllCommands}};
  IFR_HOST_TRY(host::submit(*device_, {.waitSemaphoreInfoCount = wait ? 1u : 0u,
                                       .pWaitSemaphoreInfos = &wait_info,
                                       .commandBufferInfoCount = 1,
                                       .pCommandBufferInfos = &commands,
                                       .signalSemaphoreInfoCount = signal ? 2u : 1u,
                                       .pSignalSemaphoreInfos = signals}));
  frame.end_value = next_value_++;
  index_ = (index_ + 1) % kFramesInFlight;
  return {};
}

Result<void> FrameRing::wait_all() {
  if (next_value_ == 1) {
    return {};
  }
  IFR_HOST_TRY(wait(next_value_ - 1));
  retire_queue_.collect(next_value_ - 1);
  return {};
}

}  // namespace ifr::host
