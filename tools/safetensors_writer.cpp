// SPDX-License-Identifier: Apache-2.0
#include "tools/safetensors_writer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <nlohmann/json.hpp>

namespace ifr::tools {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

std::string make_header(std::span<const OutputTensor> tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const OutputTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data begin at a multiple of 8
  return text;
}

}  // namespace

Status write_safetensors(const std::string& path, std::span<const OutputTensor> tensors) {
  const std::string part = path + ".part";
  const auto failed = [&](const char* what) {
    const int error = errno;
    (void)std::remove(part.c_str());
    return make_error(Code::kIo, Part::kNone, "%s '%s' failed: %s", what, path.c_str(),
                      std::strerror(error));
  };
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(part.c_str(), "wb"));
  if (file == nullptr) {
    return failed("creating");
  }
  const std::string header = make_header(tensors);
  unsigned char length[8];
  for (size_t i = 0; i < 8; ++i) {
    length[i] = static_cast<unsigned char>(header.size() >> (8 * i));
  }
  bool ok = std::fwrite(length, 1, sizeof length, file.get()) == sizeof length &&
            std::fwrite(header.data(), 1, header.size(), file.get()) == header.size();
  for (const OutputTensor& tensor : tensors) {
    ok = ok && std::fwrite(tensor.bytes.data(), 1, tensor.bytes.size(), file.get()) ==
                   tensor.bytes.size();
  }
  if (!ok || std::fclose(file.release()) != 0) {
    return failed("writing");
  }
  if (std::rename(part.c_str(), path.c_str()) != 0) {
    return failed("renaming to");
  }
  return {};
}

}  // namespace ifr::tools
