// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_parser.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "model/text_check.h"

namespace ifr {

namespace {

constexpr uint64_t kMaxValues = uint64_t{1} << 16;
constexpr uint64_t kMaxTensors = uint64_t{1} << 20;
constexpr uint64_t kMaxArrayCount = uint64_t{1} << 26;
constexpr uint64_t kMaxKeyBytes = 65535;
// Fewest bytes an entry takes: length, 1 byte of name, type, value; length, name, dimension count,
// one dimension, type, offset.
constexpr uint64_t kMinValueBytes = 8 + 1 + 4 + 1;
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

// 0 for text and arrays.
uint64_t scalar_bytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return 0;
  }
  return 0;
}

}  // namespace

Status GgufParser::read_start() {
  uint8_t magic[4] = {};
  for (uint8_t& byte : magic) {
    IFR_TRY(cursor_.read_u8(byte, "magic"));
  }
  if (magic[0] != 'G' || magic[1] != 'G' || magic[2] != 'U' || magic[3] != 'F') {
    char text[128];
    std::snprintf(text, sizeof text,
                  "magic is %02X %02X %02X %02X, not \"GGUF\" (47 47 55 46): not a GGUF file",
                  magic[0], magic[1], magic[2], magic[3]);
    return error(0, text);
  }
  IFR_TRY(read_version());
  // The order in the file is tensors, then keys; both are checked against what is left.
  IFR_TRY(read_count(num_tensors_, kMaxTensors, kMinTensorBytes, "tensor count"));
  return read_count(num_values_, kMaxValues, kMinValueBytes, "key count");
}

Status GgufParser::read_version() {
  const uint64_t at = cursor_.offset();
  uint32_t version = 0;
  IFR_TRY(cursor_.read_u32(version, "version"));
  const uint32_t swapped =
      (version >> 24) | ((version >> 8) & 0xFF00U) | ((version << 8) & 0xFF0000U) | (version << 24);
  if (swapped >= 1 && swapped <= 0xFFFF && version > 0xFFFF) {
    return error(at, "the file is big-endian (version " + std::to_string(swapped) +
                         " byte-swapped); only little-endian GGUF is read: convert it");
  }
  if (version != 2 && version != 3) {
    return error(at, "GGUF version " + std::to_string(version) +
                         " is not read (2 and 3 are): convert the model with a current tool");
  }
  header_.version_ = version;
  return {};
}

Status GgufParser::read_count(uint64_t& out, uint64_t limit, uint64_t min_bytes,
                              const char* field) {
  const uint64_t at = cursor_.offset();
  IFR_TRY(cursor_.read_u64(out, field));
  if (out > limit || out > cursor_.remaining_bytes() / min_bytes) {
    return error(at, std::string(field) + " is " + std::to_string(out) + ", but the " +
                         std::to_string(cursor_.remaining_bytes()) +
                         " bytes that follow cannot hold that many (limit " +
                         std::to_string(limit) + ")");
  }
  return {};
}

Status GgufParser::read_text(std::string& out, uint64_t max_bytes, const char* field) {
  const uint64_t at = cursor_.offset();
  uint64_t len = 0;
  IFR_TRY(cursor_.read_u64(len, field));
  if (len == 0 || len > max_bytes) {
    return error(at, std::string(field) + " has length " + std::to_string(len) + "; 1 to " +
                         std::to_string(max_bytes) + " is valid");
  }
  if (len > cursor_.remaining_bytes()) {
    return error(at, std::string(field) + " has length " + std::to_string(len) + ", but only " +
                         std::to_string(cursor_.remaining_bytes()) + " bytes follow");
  }
  out.resize(len);
  IFR_TRY(cursor_.read(std::as_writable_bytes(std::span(out)), field));
  if (out.find('\0') != std::string::npos || !is_valid_utf8(out)) {
    return error(
        at, std::string(field) + " '" + printable(out) + "' has a NUL byte or is not valid UTF-8");
  }
  return {};
}

Status GgufParser::read_type(GgufType& out, const char* field) {
  const uint64_t at = cursor_.offset();
  uint32_t type = 0;
  IFR_TRY(cursor_.read_u32(type, field));
  if (type > static_cast<uint32_t>(GgufType::kF64)) {
    return error(at, std::string(field) + " of '" + printable(context_) + "' is " +
                         std::to_string(type) + "; 0 to 12 are valid");
  }
  out = static_cast<GgufType>(type);
  return {};
}

Status GgufParser::read_value() {
  const uint64_t at = cursor_.offset();
  IFR_TRY(read_text(context_, kMaxKeyBytes, "key"));
  GgufValue value;
  IFR_TRY(read_type(value.type, "value type"));
  if (value.type == GgufType::kArray) {
    IFR_TRY(read_array(value));
  } else {
    IFR_TRY(read_scalar(value));
  }
  if (!header_.values_.emplace(context_, value).second) {
    return error(at, "key '" + printable(context_) + "' stands twice in the file");
  }
  return {};
}

// A string counts as one: its length is read, its bytes are passed over.
Status GgufParser::read_scalar(GgufValue& value) {
  const uint64_t at = cursor_.offset();
  value.offset = at;
  if (value.type == GgufType::kString) {
    IFR_TRY(cursor_.read_u64(value.count, "string length"));
    if (value.count > cursor_.remaining_bytes()) {
      return error(at, "the text of '" + printable(context_) + "' has length " +
                           std::to_string(value.count) + ", but only " +
                           std::to_string(cursor_.remaining_bytes()) + " bytes follow");
    }
    value.offset = cursor_.offset();
    return cursor_.skip(value.count, "string");
  }
  for (uint64_t idx = 0; idx < scalar_bytes(value.type); ++idx) {
    uint8_t byte = 0;
    IFR_TRY(cursor_.read_u8(byte, "value"));
    value.bits |= uint64_t{byte} << (8 * idx);
  }
  if (value.type == GgufType::kBool && value.bits > 1) {
    return error(at, "the bool '" + printable(context_) + "' is byte " +
                         std::to_string(value.bits) + "; 0 or 1 is valid");
  }
  return {};
}

Status GgufParser::read_array(GgufValue& value) {
  const uint64_t at = cursor_.offset();
  IFR_TRY(read_type(value.element_type, "array element type"));
  if (value.element_type == GgufType::kArray) {
    // append: GCC 12 warns wrongly (-Wrestrict) about "'" + string at -O3.
    return error(at, std::string("'")
                         .append(printable(context_))
                         .append("' is an array of arrays, which is not read"));
  }
  const uint64_t size = scalar_bytes(value.element_type);
  const uint64_t count_at = cursor_.offset();
  IFR_TRY(cursor_.read_u64(value.count, "array length"));
  if (value.count > kMaxArrayCount ||
      value.count > cursor_.remaining_bytes() / std::max<uint64_t>(size, size == 0 ? 8 : 1)) {
    return error(count_at, "the array '" + printable(context_) + "' has " +
                               std::to_string(value.count) + " elements, but the " +
                               std::to_string(cursor_.remaining_bytes()) +
                               " bytes that follow cannot hold them (limit " +
                               std::to_string(kMaxArrayCount) + ")");
  }
  value.offset = cursor_.offset();
  if (size != 0 && value.element_type != GgufType::kBool) {
    return cursor_.skip(value.count * size, "array");
  }
  GgufValue element;
  element.type = value.element_type;
  for (uint64_t idx = 0; idx < value.count; ++idx) {
    element.bits = 0;
    IFR_TRY(read_scalar(element));
  }
  return {};
}

Status GgufParser::read_alignment() {
  const GgufValue* value = header_.find("general.alignment");
  if (value == nullptr) {
    return {};
  }
  if (value->type != GgufType::kU32) {
    return error(value->offset, std::string("general.alignment is of type ") +
                                    gguf_type_name(value->type) + "; u32 is needed");
  }
  const uint64_t alignment = value->bits;
  if (alignment < 8 || alignment > 65536 || (alignment & (alignment - 1)) != 0) {
    return error(value->offset, "general.alignment is " + std::to_string(alignment) +
                                    "; a power of two from 8 to 65536 is valid");
  }
  header_.alignment_ = alignment;
  return {};
}

Expected<GgufHeader> GgufHeader::read(const ByteSource& source) {
  return GgufParser(source).run();
}

}  // namespace ifr
