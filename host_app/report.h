// SPDX-License-Identifier: Apache-2.0
// What a run measured, as JSON.
#pragma once

#include <array>
#include <string>

#include "options.h"
#include "passes/renderer.h"
#include "plugin_host/assistant.h"
#include "samples.h"

namespace ifr::host {

struct RunStats {
  uint64_t num_frames = 0;
  uint64_t num_skipped = 0;  // loops without a frame: minimised
  double wall_s = 0.0;       // of the frame loop
  Samples frame_ms;          // from one frame's start to the next one's
  std::array<Samples, kNumPasses> pass_cpu_ms;
  std::array<Samples, kNumPasses> pass_gpu_ms;
  Samples answering_frame_ms;  // the frames drawn while an answer was under way
  vk::Extent2D extent;         // of the last frame
};

/// The report's text. Keys are stable: tests and scripts read them.
[[nodiscard]] std::string report_json(const Options& options, const Renderer& renderer,
                                      const Assistant& assistant, const RunStats& stats,
                                      int exit_code);
[[nodiscard]] Result<void> write_text_file(const std::string& path, const std::string& text);

}  // namespace ifr::host
