// SPDX-License-Identifier: Apache-2.0
#include "engine/blocks/ple.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "engine/blocks/linear.h"
#include "interframe_kernels/causal_conv.h"
#include "interframe_kernels/elementwise.h"
#include "interframe_kernels/embedding.h"
#include "interframe_kernels/ple.h"
#include "interframe_kernels/rms_norm.h"

namespace ifr {

namespace {

// Rows are at most this wide: the widest type of weights.
constexpr int64_t kMaxElementBytes = 4;

class FileShards final : public ShardReader {
 public:
  FileShards(const ModelFile& file, std::vector<const TensorInfo*> shards)
      : file_(file), shards_(std::move(shards)) {}

  [[nodiscard]] Status read(int64_t shard_idx, uint64_t offset,
                            std::span<std::byte> out) const override {
    return file_.read(*shards_[static_cast<size_t>(shard_idx)], offset, out);
  }

 private:
  const ModelFile& file_;
  std::vector<const TensorInfo*> shards_;
};

// Every stream by its own weight.
Status norm_streams(const StepContext& context, const PleShape& shape, const float* x,
                    const float* weight, float* y) {
  kernels::RmsNormParams params = kernels::rms_norm_contiguous(x, weight, y, context.num_tokens,
                                                               shape.num_streams, shape.hidden);
  params.eps = shape.eps;
  params.centre = kernels::NormCentre::kZero;
  return run_operator(context, OperatorId::kRmsNorm, kernels::rms_norm_reference, params,
                      kernels::rms_norm_cost(params));
}

Status add(const StepContext& context, int64_t num_elements, const float* y, float* x) {
  const kernels::ResidualAddParams params = {.x = x, .y = y, .num_elements = num_elements};
  return run_operator(context, OperatorId::kElementwise, kernels::residual_add_reference, params,
                      kernels::residual_add_cost(params));
}

}  // namespace

Status PleWeights::plan(WeightPlan& plan, const ModelFile& file, const std::string& prefix,
                        const PleShape& shape, NgramConstants ngram_constants) {
  plan.matrix(prefix + "key_proj.weight", &key);
  plan.matrix(prefix + "value_proj.weight", &value);
  plan.vector(prefix + "norm_key.weight", &norm_key);
  plan.vector(prefix + "norm_query.weight", &norm_query);
  plan.vector(prefix + "norm_conv.weight", &norm_conv);
  plan.vector(prefix + "conv1d.weight", &conv);
  constants = std::move(ngram_constants);

  std::vector<const TensorInfo*> shards;
  const int64_t rows_per_shard = constants.rows_per_shard;
  for (int64_t first = 0; first < constants.num_rows; first += rows_per_shard) {
    const std::string name =
        prefix + "ple_embedding.ngram_embedding.shard_" + std::to_string(shards.size()) + ".weight";
    const TensorInfo* shard = file.find(name);
    const int64_t num_rows = std::min(rows_per_shard, constants.num_rows - first);
    if (shard == nullptr || !kernels::is_weight_type(shard->type) ||
        kernels::block_len(shard->type) != 1 ||
        shard->num_elements() != num_rows * shape.head_channels() ||
        (!shards.empty() && shard->type != shards.front()->type)) {
      return make_error(Code::kInvalidFile, Part::kEngine,
                        "'%s': tensor '%s' is missing or is not [%lld, %d] of one F32, F16 or BF16 "
                        "type as the first shard",
                        file.path().c_str(), name.c_str(), static_cast<long long>(num_rows),
                        shape.head_channels());
    }
    shards.push_back(shard);
  }
  row_type = shards.front()->type;
  const EmbeddingStoreShape store_shape = {
      .num_rows = constants.num_rows,
      .rows_per_shard = rows_per_shard,
      .row_bytes = kernels::tensor_bytes(row_type, shape.head_channels())};
  store = std::make_unique<EmbeddingStore>(store_shape,
                                           std::make_unique<FileShards>(file, std::move(shards)));
  return {};
}

void PleState::lay_out(const PleShape& shape, ScratchLayout& layout) {
  layout.add(conv,
             kernels::causal_conv_state_rows(shape.conv_taps, shape.ngram_size) * shape.width());
}

void PleGathered::lay_out(const PleShape& shape, int64_t max_tokens, ScratchLayout& layout) {
  layout.add(rows, max_tokens * shape.embed_dim);
  layout.add(window, shape.ngram_size - 1);
}

void PleGatherScratch::lay_out(const PleShape& shape, int64_t max_tokens, ScratchLayout& layout) {
  layout.add(row_ids, max_tokens * shape.num_heads());
  layout.add(row_bytes, max_tokens * shape.embed_dim * kMaxElementBytes);
}

void PleScratch::lay_out(const PleShape& shape, int64_t max_tokens, ScratchLayout& layout) {
  layout.add(key, max_tokens * shape.width());
  layout.add(value, max_tokens * shape.hidden);
  layout.add(query, max_tokens * shape.width());
  layout.add(convolved, max_tokens * shape.width());
}

Status gather_ple(const StepContext& context, const PleShape& shape, const PleWeights& weights,
                  std::span<const int32_t> token_ids, const int32_t* window,
                  const PleGathered& gathered, const PleGatherScratch& scratch) {
  const uint64_t begin_ns = monotonic_ns();
  std::copy_n(window, shape.ngram_size - 1, gathered.window);
  const kernels::NgramHashParams hash = {.tokens = token_ids.data(),
                                         .multipliers = weights.constants.multipliers.data(),
                                         .primes = weights.constants.primes.data(),
                                         .offsets = weights.constants.offsets.data(),
                                         .window = gathered.window,
                                         .ids = scratch.row_ids,
                                         .num_tokens = context.num_tokens,
                                         .ngram_size = shape.ngram_size,
                                         .heads_per_ngram = shape.heads_per_ngram,
                                         .eos_token = shape.eos_token};
  const kernels::LaunchStatus status = kernels::ngram_hash_reference(hash, context.executor);
  if (!status.is_ok()) {
    return operator_error(OperatorId::kPleGather, context.layer, status);
  }
  const int64_t num_rows = context.num_tokens * shape.num_heads();
  const int64_t num_bytes = num_rows * weights.store->shape().row_bytes;
  IFR_TRY(weights.store->read_rows({scratch.row_ids, static_cast<size_t>(num_rows)},
                                   {scratch.row_bytes, static_cast<size_t>(num_bytes)}));
  const kernels::WeightMatrix rows = {.data = scratch.row_bytes,
                                      .type = weights.row_type,
                                      .num_rows = 1,
                                      .row_len = num_rows * shape.head_channels()};
  kernels::decode_row(rows, 0, gathered.rows);
  if (context.observer != nullptr) {
    context.observer->on_operator(
        {.id = OperatorId::kPleGather,
         .layer = context.layer,
         .begin_ns = begin_ns,
         .end_ns = monotonic_ns(),
         .bytes = kernels::ngram_hash_cost(hash).bytes + num_bytes + 4 * rows.row_len});
  }
  return {};
}

Status run_ple(const StepContext& context, const PleShape& shape, const PleWeights& weights,
               const PleState& state, const PleGathered& gathered, float* streams,
               const PleScratch& scratch) {
  IFR_TRY(run_linear(context, weights.key, gathered.rows, scratch.key));
  IFR_TRY(run_linear(context, weights.value, gathered.rows, scratch.value));
  IFR_TRY(norm_streams(context, shape, scratch.key, weights.norm_key, scratch.key));
  IFR_TRY(norm_streams(context, shape, streams, weights.norm_query, scratch.query));
  float* u = scratch.key;
  const kernels::PleGateParams gate = {.key = scratch.key,
                                       .query = scratch.query,
                                       .value = scratch.value,
                                       .u = u,
                                       .num_tokens = context.num_tokens,
                                       .num_streams = shape.num_streams,
                                       .hidden = shape.hidden};
  IFR_TRY(run_operator(context, OperatorId::kPleGate, kernels::ple_gate_reference, gate,
                       kernels::ple_gate_cost(gate)));
  float* normed = scratch.query;
  IFR_TRY(norm_streams(context, shape, u, weights.norm_conv, normed));
  const kernels::CausalConvParams conv = {.x = normed,
                                          .weight = weights.conv,
                                          .state = state.conv,
                                          .y = scratch.convolved,
                                          .num_tokens = context.num_tokens,
                                          .num_channels = shape.width(),
                                          .num_taps = shape.conv_taps,
                                          .dilation = shape.ngram_size,
                                          .activation = kernels::ConvActivation::kSilu};
  IFR_TRY(run_operator(context, OperatorId::kCausalConv, kernels::causal_conv_reference, conv,
                       kernels::causal_conv_cost(conv)));
  const int64_t num_elements = context.num_tokens * shape.width();
  IFR_TRY(add(context, num_elements, scratch.convolved, u));
  return add(context, num_elements, u, streams);
}

}  // namespace ifr
