// SPDX-License-Identifier: Apache-2.0
// The llama architecture against a float64 computation from the same file, written here from the
// mathematics: small GGUF files with and without a key length of their own, tied and untied head.
#include <bit>
#include <cmath>
#include <cstring>

#include "engine_fixture.h"
#include "model/byte_source.h"
#include "support/gguf_builder.h"

namespace ifr::test {

namespace {

using Rows = std::vector<std::vector<double>>;

double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

// F32 or Q8_0 tensors of a file, by row.
class LlamaOracle {
 public:
  LlamaOracle(GgufBuilder file, const LlamaFileOptions& options)
      : file_(std::move(file)), options_(options) {}

  Rows logits(const std::vector<int32_t>& ids) {
    const Rows table = rows("token_embd.weight");
    Rows x;
    for (const int32_t id : ids) {
      x.push_back(table[static_cast<size_t>(id)]);
    }
    for (uint32_t layer = 0; layer < options_.num_layers; ++layer) {
      block_ = "blk." + std::to_string(layer) + ".";
      add(x, attention(norm(x, block_ + "attn_norm.weight")));
      const Rows h = norm(x, block_ + "ffn_norm.weight");
      Rows gate = times(h, block_ + "ffn_gate.weight");
      const Rows up = times(h, block_ + "ffn_up.weight");
      for (size_t t = 0; t < gate.size(); ++t) {
        for (size_t i = 0; i < gate[t].size(); ++i) {
          gate[t][i] = gate[t][i] / (1.0 + std::exp(-gate[t][i])) * up[t][i];
        }
      }
      add(x, times(gate, block_ + "ffn_down.weight"));
    }
    return times(norm(x, "output_norm.weight"),
                 options_.tied ? "token_embd.weight" : "output.weight");
  }

 private:
  Rows rows(const std::string& name) {
    const GgufTensor& tensor = file_.tensor(name);
    const size_t row_len = tensor.dims[0];
    std::vector<double> values;
    if (tensor.type == 0) {
      for (size_t i = 0; i + 4 <= tensor.data.size(); i += 4) {
        float value = 0.0F;
        std::memcpy(&value, tensor.data.data() + i, 4);
        values.push_back(value);
      }
    } else {
      EXPECT_EQ(tensor.type, 8U) << name;
      for (size_t block = 0; block + 34 <= tensor.data.size(); block += 34) {
        uint16_t scale = 0;
        std::memcpy(&scale, tensor.data.data() + block, 2);
        for (size_t i = 0; i < 32; ++i) {
          values.push_back(half_value(scale) * std::bit_cast<int8_t>(tensor.data[block + 2 + i]));
        }
      }
    }
    Rows out;
    for (size_t i = 0; i < values.size(); i += row_len) {
      out.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                       values.begin() + static_cast<std::ptrdiff_t>(i + row_len));
    }
    return out;
  }

  Rows times(const Rows& x, const std::string& name) {
    const Rows w = rows(name);
    Rows y(x.size(), std::vector<double>(w.size()));
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t n = 0; n < w.size(); ++n) {
        for (size_t k = 0; k < w[n].size(); ++k) {
          y[t][n] += x[t][k] * w[n][k];
        }
      }
    }
    return y;
  }

  Rows norm(const Rows& x, const std::string& name) {
    const std::vector<double> w = rows(name).front();
    Rows y = x;
    for (std::vector<double>& row : y) {
      double sum = 0.0;
      for (const double value : row) {
        sum += value * value;
      }
      const double scale = 1.0 / std::sqrt(sum / static_cast<double>(row.size()) + double{1e-5F});
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] *= scale * w[i];
      }
    }
    return y;
  }

  static void add(Rows& x, const Rows& y) {
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); ++i) {
        x[t][i] += y[t][i];
      }
    }
  }

  // Adjacent pairs of every head turn.
  void turn(Rows& x) const {
    const size_t dim = options_.head_dim;
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); i += 2) {
        const double angle =
            static_cast<double>(t) *
            std::pow(10000.0, -static_cast<double>(i % dim) / static_cast<double>(dim));
        const double a = x[t][i];
        const double b = x[t][i + 1];
        x[t][i] = a * std::cos(angle) - b * std::sin(angle);
        x[t][i + 1] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
  }

  Rows attention(const Rows& h) {
    Rows q = times(h, block_ + "attn_q.weight");
    Rows k = times(h, block_ + "attn_k.weight");
    const Rows v = times(h, block_ + "attn_v.weight");
    turn(q);
    turn(k);
    Rows out(h.size(), std::vector<double>(q.front().size()));
    for (size_t t = 0; t < h.size(); ++t) {
      for (size_t head = 0; head < options_.num_heads; ++head) {
        attend(q, k, v, t, head, out);
      }
    }
    return times(out, block_ + "attn_output.weight");
  }

  void attend(const Rows& q, const Rows& k, const Rows& v, size_t t, size_t head, Rows& out) const {
    const size_t dim = options_.head_dim;
    const size_t q_at = head * dim;
    const size_t kv_at = head / (options_.num_heads / options_.num_kv_heads) * dim;
    std::vector<double> p(t + 1);
    double sum = 0.0;
    for (size_t j = 0; j <= t; ++j) {
      double dot = 0.0;
      for (size_t i = 0; i < dim; ++i) {
        dot += q[t][q_at + i] * k[j][kv_at + i];
      }
      p[j] = std::exp(dot / std::sqrt(static_cast<double>(dim)));
      sum += p[j];
    }
    for (size_t j = 0; j <= t; ++j) {
      for (size_t i = 0; i < dim; ++i) {
        out[t][q_at + i] += p[j] / sum * v[j][kv_at + i];
      }
    }
  }

  GgufBuilder file_;
  LlamaFileOptions options_;
  std::string block_;
};

std::vector<float> run(const LoadedEngine& loaded, const std::vector<int32_t>& ids, int32_t chunk,
                       int32_t num_threads) {
  kernels::CpuExecutor executor(num_threads);
  const auto sequence = loaded.sequence(static_cast<int32_t>(ids.size()));
  const auto workspace = loaded.workspace(chunk);
  std::vector<float> logits(ids.size() * loaded.vocab());
  const Status status = loaded.engine->step(*sequence, *workspace, executor, ids,
                                            {.logits_rows = LogitsRows::kAll}, logits);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return logits;
}

void check_file(const LlamaFileOptions& options) {
  const GgufBuilder builder = make_gguf_b(options);
  const std::string bytes = builder.build();
  Expected<std::unique_ptr<ModelFile>> file =
      ModelFile::open_gguf(std::make_unique<MemorySource>("B", std::as_bytes(std::span(bytes))));
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  const LoadedEngine loaded(std::move(file).value());
  ASSERT_TRUE(loaded.is_ok());
  std::vector<int32_t> ids(131);  // three pages
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>((i * 37 + 5) % options.embedding_rows);
  }
  std::vector<float> expected;
  for (const std::vector<double>& row : LlamaOracle(builder, options).logits(ids)) {
    expected.insert(expected.end(), row.begin(), row.end());
  }
  const std::vector<float> ours = run(loaded, ids, 131, 1);
  EXPECT_LE(relative_error(ours, expected), 2e-6);
  for (const int32_t chunk : {1, 7, 63, 64, 65, 100}) {
    for (const int32_t num_threads : {1, 2, 3}) {
      const std::vector<float> other = run(loaded, ids, chunk, num_threads);
      EXPECT_EQ(std::memcmp(ours.data(), other.data(), ours.size() * sizeof(float)), 0)
          << "chunk " << chunk << ", threads " << num_threads;
    }
  }
}

TEST(Llama, FileBMatchesFloat64) {
  check_file({});
}

TEST(Llama, KeyLengthOfItsOwn) {
  check_file({.head_dim = 32, .write_key_length = true});
}

TEST(Llama, UntiedHeadAndOneKvHead) {
  check_file({.num_layers = 3, .num_kv_heads = 1, .tied = false, .seed = 7});
}

TEST(Llama, ManyHeads) {
  check_file({.num_layers = 1,
              .embedding = 96,
              .num_heads = 12,
              .num_kv_heads = 4,
              .head_dim = 8,
              .feed_forward = 160});
}

}  // namespace

}  // namespace ifr::test
