// SPDX-License-Identifier: Apache-2.0
// One case of block selection in device memory.
#pragma once

#include "interframe_kernels/block_selection.h"

#include "block_selection_cases.h"
#include "common/device_caps.h"
#include "device_test.cuh"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace ifr::kernels::test {

struct Outputs {
  std::vector<int32_t> indices;
  std::vector<int32_t> counts;
  std::vector<uint32_t> score_bits;
  bool operator==(const Outputs&) const = default;
};

inline DeviceCaps device_caps() {
  DeviceCaps caps;
  EXPECT_TRUE(cuda::query_device_caps(0, caps).is_ok());
  return caps;
}

// Inputs and outputs of one case in device memory.
class DeviceCase {
 public:
  DeviceCase(const Case& c, const Inputs& inputs)
      : shape_(shape_of(c)),
        stride_(inputs.stride),
        scores_(inputs.scores),
        indices_(output_len()),
        counts_(static_cast<size_t>(shape_.num_rows)),
        chosen_scores_(output_len()) {
    if (!inputs.live_counts.empty()) {
      live_counts_ = std::make_unique<DeviceBuffer<int32_t>>(inputs.live_counts);
    }
  }

  [[nodiscard]] BlockSelectionParams params() const {
    return {.shape = shape_,
            .scores = scores_.data(),
            .scores_stride = stride_,
            .live_counts = live_counts_ ? live_counts_->data() : nullptr,
            .indices = indices_.data(),
            .counts = counts_.data(),
            .chosen_scores = chosen_scores_.data()};
  }

  void change_inputs(const Inputs& inputs) {
    scores_.upload(inputs.scores);
    if (live_counts_) {
      live_counts_->upload(inputs.live_counts);
    }
  }

  void poison_outputs() {
    indices_.refill();
    counts_.refill();
    chosen_scores_.refill();
  }

  [[nodiscard]] Outputs outputs() const {
    EXPECT_TRUE(indices_.guards_intact() && counts_.guards_intact() &&
                chosen_scores_.guards_intact());
    return {indices_.download(), counts_.download(), chosen_scores_.download_bits()};
  }

 private:
  struct Scores : DeviceBuffer<float> {
    using DeviceBuffer<float>::DeviceBuffer;
    [[nodiscard]] std::vector<uint32_t> download_bits() const {
      std::vector<uint32_t> bits(bytes() / sizeof(uint32_t));
      require(cudaMemcpy(bits.data(), data(), bytes(), cudaMemcpyDeviceToHost), "download");
      return bits;
    }
  };

  [[nodiscard]] size_t output_len() const {
    return static_cast<size_t>(shape_.num_rows * shape_.k);
  }

  BlockSelectionShape shape_;
  int64_t stride_;
  Scores scores_;
  std::unique_ptr<DeviceBuffer<int32_t>> live_counts_;
  DeviceBuffer<int32_t> indices_;
  DeviceBuffer<int32_t> counts_;
  Scores chosen_scores_;
};

}  // namespace ifr::kernels::test
