// SPDX-License-Identifier: Apache-2.0
// A file that changes under a loaded model: cut, or replaced by a rename.
#include <algorithm>
#include <filesystem>
#include <string>

#include "engine_cases.h"
#include "support/gguf_builder.h"

namespace ifr::test {

namespace {

class CountCuts final : public StepObserver {
 public:
  void on_operator(const OperatorSpan& span) override {
    num_cuts += span.id == OperatorId::kEmbedding ? 1 : 0;
  }
  void on_selection(const SelectionSpan& /*span*/) override {}
  int64_t num_cuts = 0;
};

// Case G05 g: the file is cut while the model is loaded; rows of the embedding store are then gone.
class CutFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = make_temporary_folder("engine_cut_file");
    for (const char* name : {"config.json", "model.safetensors"}) {
      std::filesystem::copy_file(std::filesystem::path(kMicro) / name, folder_ + "/" + name);
    }
    path_ = folder_ + "/model.safetensors";
    bytes_ = read_file(path_);
    loaded_ = std::make_unique<LoadedEngine>(folder_);
    ASSERT_TRUE(loaded_->is_ok());
    ids_ = some_ids(96, 256);
    workspace_ = loaded_->workspace(8);
    const auto cold = loaded_->sequence(96);
    ASSERT_TRUE(last_logits(*loaded_, *cold, *workspace_, ids_, cold_).is_ok());
  }

  // A sequence of 20 tokens meets the file cut to `size` bytes, and goes on when it is whole again.
  // Gives the cuts of the step that ran before the error, or -1 when there was none.
  int64_t fail_then_continue(StepWorkspace& workspace, size_t size) {
    const auto sequence = loaded_->sequence(96);
    std::vector<float> logits;
    EXPECT_TRUE(
        last_logits(*loaded_, *sequence, workspace, std::span(ids_).first(20), logits).is_ok());
    CountCuts cuts;
    std::filesystem::resize_file(path_, size);
    const std::span<const int32_t> rest = std::span(ids_).subspan(20);
    const Status status = last_logits(*loaded_, *sequence, workspace, rest, logits, &cuts);
    write_file(path_, bytes_);
    if (!status.is_ok()) {
      EXPECT_EQ(status.code(), Code::kIo) << status.message();
      EXPECT_EQ(sequence->num_tokens(), 20);
      EXPECT_TRUE(last_logits(*loaded_, *sequence, workspace, rest, logits).is_ok());
    }
    EXPECT_TRUE(same_bits(logits, cold_)) << "cut to " << size << " bytes";
    return status.is_ok() ? -1 : cuts.num_cuts;
  }

  std::string folder_;
  std::string path_;
  std::string bytes_;
  std::unique_ptr<LoadedEngine> loaded_;
  std::vector<int32_t> ids_;
  std::unique_ptr<StepWorkspace> workspace_;
  std::vector<float> cold_;
};

TEST_F(CutFile, StepIsAnErrorAndTheSequenceIsUnchanged) {
  const TensorInfo* last_shard = loaded_->engine->file().find(
      "model.layers.0.ple.ple_embedding.ngram_embedding.shard_7.weight");
  ASSERT_NE(last_shard, nullptr);
  const size_t table_end = last_shard->offset + last_shard->size_bytes;
  // One token a cut; losing the last rows only makes some later token fail.
  const auto single = loaded_->workspace(1);
  int64_t most_cuts = 0;
  for (size_t lost_bytes = 400; lost_bytes <= last_shard->size_bytes; lost_bytes += 100) {
    most_cuts = std::max(most_cuts, fail_then_continue(*single, table_end - lost_bytes));
  }
  EXPECT_GE(most_cuts, 2) << "no size made a step fail after its first cuts";
  for (const size_t size : {size_t{1}, bytes_.size() / 8, table_end - last_shard->size_bytes}) {
    EXPECT_GE(fail_then_continue(*workspace_, size), 0) << size;
  }
}

TEST_F(CutFile, RenameOverItGoesOnFromTheOpenFile) {
  write_file(folder_ + "/other", std::string(100, 'x'));
  std::filesystem::rename(folder_ + "/other", path_);
  std::vector<float> logits;
  const auto sequence = loaded_->sequence(96);
  ASSERT_TRUE(last_logits(*loaded_, *sequence, *workspace_, ids_, logits).is_ok());
  EXPECT_TRUE(same_bits(logits, cold_));
}

}  // namespace

}  // namespace ifr::test
