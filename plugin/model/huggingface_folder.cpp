// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <string_view>

#include "model/byte_cursor.h"
#include "model/json_text.h"
#include "model/model_file_builder.h"
#include "model/safetensors_header.h"
#include "model/text_check.h"

namespace ifr {

namespace {

constexpr uint64_t kMaxConfigBytes = uint64_t{4} << 20;
constexpr uint64_t kMaxIndexBytes = uint64_t{128} << 20;
constexpr size_t kMaxShards = 4096;

Expected<std::string> read_text_file(const std::string& path, uint64_t max_bytes) {
  IFR_ASSIGN_OR_RETURN(const File file, File::open(path));
  if (file.size_bytes() > max_bytes) {
    return make_error(Code::kInvalidFile, Part::kModel,
                      "'%s' is %llu bytes long; at most %llu are read", path.c_str(),
                      static_cast<unsigned long long>(file.size_bytes()),
                      static_cast<unsigned long long>(max_bytes));
  }
  std::string text(file.size_bytes(), '\0');
  IFR_TRY(file.read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

// A file of the same folder, not a way out of it.
bool is_plain_shard_name(const std::string& name) {
  constexpr std::string_view kForbidden("/\\:\0", 4);
  return name.size() > std::string_view(".safetensors").size() && name.size() <= 255 &&
         name.ends_with(".safetensors") && name.find_first_of(kForbidden) == std::string::npos &&
         name[0] != '.';
}

using WeightMap = std::map<std::string, std::string>;  // tensor -> shard

Expected<WeightMap> read_index(const std::string& path) {
  IFR_ASSIGN_OR_RETURN(const std::string text, read_text_file(path, kMaxIndexBytes));
  IFR_ASSIGN_OR_RETURN(const nlohmann::json root, parse_json(text, path));
  const auto map = root.is_object() ? root.find("weight_map") : root.end();
  if (map == root.end() || !map->is_object() || map->empty()) {
    return make_error(Code::kInvalidFile, Part::kModel,
                      "'%s': weight_map is missing, empty or no object", path.c_str());
  }
  WeightMap out;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || !is_plain_shard_name(shard.get_ref<const std::string&>())) {
      return make_error(Code::kInvalidFile, Part::kModel,
                        "'%s': weight_map puts tensor '%s' into '%s'; the name of a .safetensors "
                        "file of this folder is needed",
                        path.c_str(), printable(tensor).c_str(),
                        printable(shard.is_string() ? shard.get_ref<const std::string&>()
                                                    : std::string(shard.type_name()))
                            .c_str());
    }
    out.emplace(tensor, shard.get_ref<const std::string&>());
  }
  return out;
}

// Every entry of the index stands in the file it names.
Status check_index(const ModelFile& model, const WeightMap& weight_map,
                   const std::map<std::string, uint32_t>& file_of_shard, const std::string& path) {
  for (const auto& [tensor, shard] : weight_map) {
    const TensorInfo* found = model.find(tensor);
    if (found == nullptr || found->file_idx != file_of_shard.at(shard)) {
      return make_error(Code::kInvalidFile, Part::kModel,
                        "'%s': weight_map puts tensor '%s' into '%s', which does not have it",
                        path.c_str(), printable(tensor).c_str(), shard.c_str());
    }
  }
  return {};
}

}  // namespace

Status ModelFileBuilder::add_shard(ModelFile& model, const std::string& path) {
  IFR_ASSIGN_OR_RETURN(File file, File::open(path));
  model.files_.push_back(std::make_unique<FileSource>(std::move(file)));
  const auto file_idx = static_cast<uint32_t>(model.files_.size() - 1);
  IFR_ASSIGN_OR_RETURN(SafetensorsHeader header,
                       read_safetensors_header(*model.files_.back(), file_idx));
  model.header_bytes_.push_back(header.header_bytes);
  model.tensors_.insert(model.tensors_.end(), std::make_move_iterator(header.tensors.begin()),
                        std::make_move_iterator(header.tensors.end()));
  return {};
}

Status ModelFileBuilder::read_shards(ModelFile& model, const std::string& folder) {
  const std::string single = folder + "/model.safetensors";
  const std::string index_path = folder + "/model.safetensors.index.json";
  if (is_regular_file(single)) {
    IFR_TRY(add_shard(model, single));
    return index_names(model);
  }
  if (!is_regular_file(index_path)) {
    return make_error(Code::kNotFound, Part::kModel,
                      "'%s' has neither model.safetensors nor model.safetensors.index.json",
                      folder.c_str());
  }
  IFR_ASSIGN_OR_RETURN(const WeightMap weight_map, read_index(index_path));
  std::map<std::string, uint32_t> file_of_shard;
  for (const auto& [tensor, shard] : weight_map) {
    file_of_shard.emplace(shard, 0);
  }
  if (file_of_shard.size() > kMaxShards) {
    return make_error(Code::kInvalidFile, Part::kModel,
                      "'%s' names %zu shards; at most %zu are read", index_path.c_str(),
                      file_of_shard.size(), kMaxShards);
  }
  for (auto& [shard, file_idx] : file_of_shard) {
    file_idx = static_cast<uint32_t>(model.files_.size());
    std::string path = folder;
    path.append("/").append(shard);
    IFR_TRY(add_shard(model, path));
  }
  IFR_TRY(index_names(model));
  return check_index(model, weight_map, file_of_shard, index_path);
}

Expected<std::unique_ptr<ModelFile>> ModelFileBuilder::from_folder(const std::string& folder) {
  const std::string config_path = folder + "/config.json";
  if (is_directory(folder) && !is_regular_file(config_path)) {
    return make_error(Code::kNotFound, Part::kModel,
                      "'%s' has no config.json: it is not a model's folder",
                      printable(folder, 200).c_str());
  }
  IFR_ASSIGN_OR_RETURN(const std::string text, read_text_file(config_path, kMaxConfigBytes));
  std::unique_ptr<ModelFile> model(new ModelFile);
  model->format_ = FileFormat::kHuggingFace;
  model->path_ = folder;
  IFR_ASSIGN_OR_RETURN(model->config_, parse_config_json(text, config_path));
  model->config_hash_ = hash_bytes(std::as_bytes(std::span(text)), kHashStart);
  IFR_TRY(read_shards(*model, folder));
  constexpr const char* kInner = "model.language_model.";
  const bool is_nested = model->find(std::string(kInner) + "embed_tokens.weight") != nullptr;
  model->tensor_prefix_ = is_nested ? kInner : "model.";
  IFR_TRY(complete(*model));
  return model;
}

}  // namespace ifr
