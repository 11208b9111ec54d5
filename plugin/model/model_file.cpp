// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <algorithm>
#include <new>

#include "base/checked_math.h"
#include "model/gguf_header.h"
#include "model/model_file_builder.h"
#include "model/tensor_check.h"
#include "model/text_check.h"

namespace ifr {

namespace {

Status out_of_memory(const std::string& path) {
  return make_error(Code::kOutOfMemory, Part::kModel,
                    "there is not enough memory for the header of '%s'",
                    printable(path, 200).c_str());
}

bool ends_with(const std::string& text, const char* end) {
  return std::string_view(text).ends_with(end);
}

// "." for a name without a folder.
std::string folder_of(const std::string& path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

int64_t TensorInfo::num_elements() const {
  int64_t product = 1;
  for (const int64_t extent : shape) {
    product *= extent;
  }
  return product;
}

Expected<std::unique_ptr<ModelFile>> ModelFile::open(const std::string& path) {
  try {
    if (is_directory(path)) {
      return ModelFileBuilder::from_folder(path);
    }
    if (ends_with(path, ".safetensors") || ends_with(path, ".json")) {
      return ModelFileBuilder::from_folder(folder_of(path));
    }
    IFR_ASSIGN_OR_RETURN(File file, File::open(path));
    return open_gguf(std::make_unique<FileSource>(std::move(file)));
  } catch (const std::bad_alloc&) {
    return out_of_memory(path);
  }
}

Expected<std::unique_ptr<ModelFile>> ModelFile::open_gguf(std::unique_ptr<ByteSource> source) {
  const std::string name = source->name();
  try {
    return ModelFileBuilder::from_gguf(std::move(source));
  } catch (const std::bad_alloc&) {
    return out_of_memory(name);
  }
}

const TensorInfo* ModelFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

Status ModelFile::read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const {
  if (tensor.file_idx >= files_.size() || !range_inside(offset, out.size(), tensor.size_bytes)) {
    return make_error(Code::kInvalidArgument, Part::kModel,
                      "bytes %llu..+%zu lie outside tensor '%s' of %llu bytes",
                      static_cast<unsigned long long>(offset), out.size(),
                      printable(tensor.name).c_str(),
                      static_cast<unsigned long long>(tensor.size_bytes));
  }
  return files_[tensor.file_idx]->read(tensor.offset + offset, out);
}

uint64_t ModelFile::file_bytes() const {
  uint64_t sum = 0;
  for (const auto& file : files_) {
    sum += file->size_bytes();
  }
  return sum;
}

uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t hash) {
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001B3ULL;
  }
  return hash;
}

Expected<uint64_t> ModelFile::identity() const {
  uint64_t hash = config_hash_;
  std::vector<std::byte> buffer(size_t{64} << 10);
  for (size_t idx = 0; idx < files_.size(); ++idx) {
    for (uint64_t offset = 0; offset < header_bytes_[idx]; offset += buffer.size()) {
      const auto len =
          static_cast<size_t>(std::min<uint64_t>(buffer.size(), header_bytes_[idx] - offset));
      IFR_TRY(files_[idx]->read(offset, std::span(buffer).first(len)));
      hash = hash_bytes(std::span(buffer).first(len), hash);
    }
  }
  constexpr size_t kMaxSamples = 4096;
  constexpr uint64_t kSampleBytes = 64;
  const size_t step = tensors_.size() / kMaxSamples + 1;
  for (size_t idx = 0; idx < tensors_.size(); idx += step) {
    const TensorInfo& tensor = tensors_[idx];
    const std::span sample =
        std::span(buffer).first(std::min<uint64_t>(kSampleBytes, tensor.size_bytes));
    IFR_TRY(read(tensor, (tensor.size_bytes - sample.size()) / 2, sample));
    hash = hash_bytes(sample, hash);
  }
  return hash;
}

Status ModelFileBuilder::index_names(ModelFile& model) {
  model.index_.reserve(model.tensors_.size());
  for (size_t idx = 0; idx < model.tensors_.size(); ++idx) {
    if (!model.index_.emplace(model.tensors_[idx].name, idx).second) {
      return make_error(Code::kInvalidFile, Part::kModel,
                        "'%s': two files have a tensor of the name '%s'", model.path_.c_str(),
                        printable(model.tensors_[idx].name).c_str());
    }
  }
  return {};
}

Status ModelFileBuilder::complete(ModelFile& model) {
  TensorChecker checker(model);
  if (const LlamaConfig* llama = model.config_.llama()) {
    IFR_TRY(check_llama_tensors(*llama, checker));
  } else {
    IFR_TRY(check_qwen4_exp_tensors(*model.config_.qwen4_exp(), checker));
  }
  for (size_t idx = 0; idx < model.tensors_.size(); ++idx) {
    if (checker.is_needed()[idx]) {
      model.weight_bytes_ += model.tensors_[idx].size_bytes;
      const bool is_weight = model.tensors_[idx].type != kernels::DataType::kI64;
      model.num_parameters_ += is_weight ? model.tensors_[idx].num_elements() : 0;
    } else {
      ++model.num_unused_tensors_;
    }
  }
  return {};
}

Expected<std::unique_ptr<ModelFile>> ModelFileBuilder::from_gguf(
    std::unique_ptr<ByteSource> source) {
  std::unique_ptr<ModelFile> model(new ModelFile);
  model->format_ = FileFormat::kGguf;
  model->path_ = source->name();
  model->config_hash_ = kHashStart;
  model->files_.push_back(std::move(source));
  IFR_ASSIGN_OR_RETURN(GgufHeader header, GgufHeader::read(*model->files_[0]));
  IFR_ASSIGN_OR_RETURN(model->config_, read_gguf_config(header));
  IFR_ASSIGN_OR_RETURN(model->tokenizer_, read_gguf_tokenizer(header));
  model->header_bytes_ = {std::min(header.data_offset(), model->files_[0]->size_bytes())};
  model->tensors_ = std::move(header.tensors());
  IFR_TRY(index_names(*model));
  IFR_TRY(complete(*model));
  return model;
}

}  // namespace ifr
