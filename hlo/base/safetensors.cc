#include "hlo/base/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLengthBytes = 8;
// The reference reader's own limit; larger ones are taken for an attack.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr absl::string_view kMetadata = "__metadata__";

struct DtypeBits {
  absl::string_view dtype;
  int bits;
};

constexpr DtypeBits kDtypes[] = {
    {"BOOL", 8},    {"U8", 8},      {"I8", 8},          {"I16", 16},
    {"U16", 16},    {"F16", 16},    {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},    {"I64", 64},        {"U64", 64},
    {"F64", 64},    {"C64", 64},    {"C128", 128},      {"F8_E4M3", 8},
    {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    {"F8_E3M4", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"F4", 4},
};

template <typename... Args>
absl::Status Malformed(const Args&... args) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a valid safetensors file: ", args...));
}

// A name for an error message: it can be long and hold anything.
std::string Quoted(absl::string_view name) {
  constexpr size_t kMost = 60;
  return absl::StrCat("'", absl::CHexEscape(name.substr(0, kMost)),
                      name.size() > kMost ? "...'" : "'");
}

uint64_t ReadLength(absl::string_view bytes) {
  uint64_t length = 0;
  for (int i = kLengthBytes - 1; i >= 0; --i) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

// A non-negative integer that fits an int64, or false.
bool GetInt64(const Json& value, int64_t* result) {
  if (!value.is_number_unsigned()) return false;
  const uint64_t number = value.get<uint64_t>();
  if (number > uint64_t{std::numeric_limits<int64_t>::max()}) return false;
  *result = static_cast<int64_t>(number);
  return true;
}

// Parses the header; JSON itself would let a later key replace an earlier one
// of the same name, which would hide a tensor.
absl::StatusOr<Json> ParseHeader(absl::string_view text) {
  std::set<std::string> names;
  std::string duplicate;
  bool too_deep = false;
  const auto on_event = [&](int depth, Json::parse_event_t event,
                            Json& parsed) {
    // Nothing in a header is deeper; more would only cost memory.
    if (depth > 3) too_deep = true;
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(parsed.get<std::string>()).second) {
      duplicate = parsed.get<std::string>();
    }
    return !too_deep;
  };
  Json header = Json::parse(text.begin(), text.end(), on_event,
                            /*allow_exceptions=*/false);
  if (too_deep) return Malformed("its header nests too deeply");
  if (header.is_discarded()) return Malformed("its header is not JSON");
  if (!header.is_object()) return Malformed("its header is not an object");
  if (!duplicate.empty()) {
    return Malformed("it names tensor ", Quoted(duplicate), " twice");
  }
  return header;
}

absl::Status ParseMetadata(const Json& value,
                           std::map<std::string, std::string>* metadata) {
  if (!value.is_object()) return Malformed("__metadata__ is not an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      return Malformed("__metadata__ ", Quoted(key), " is not a string");
    }
    (*metadata)[key] = text.get<std::string>();
  }
  return absl::OkStatus();
}

// Where a tensor lies in the data.
struct Extent {
  int64_t begin;
  int64_t end;
  absl::string_view name;
};

absl::Status ParseTensor(const std::string& name, const Json& entry,
                         int64_t data_size, SafeTensor* tensor,
                         Extent* extent) {
  const auto fail = [&](const auto&... args) {
    return Malformed("tensor ", Quoted(name), ": ", args...);
  };
  if (!entry.is_object()) return fail("not an object");
  const auto dtype = entry.find("dtype");
  const auto shape = entry.find("shape");
  const auto offsets = entry.find("data_offsets");
  if (dtype == entry.end() || !dtype->is_string()) return fail("no dtype");
  if (shape == entry.end() || !shape->is_array()) return fail("no shape");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2) {
    return fail("no data_offsets");
  }
  tensor->dtype = dtype->get<std::string>();
  for (const Json& extent_value : *shape) {
    int64_t value = 0;
    if (!GetInt64(extent_value, &value)) {
      return fail("its shape has an extent that is not a size");
    }
    tensor->shape.push_back(value);
  }
  absl::StatusOr<int64_t> size =
      SafeTensorByteSize(tensor->dtype, tensor->shape);
  if (!size.ok()) return fail(size.status().message());

  if (!GetInt64((*offsets)[0], &extent->begin) ||
      !GetInt64((*offsets)[1], &extent->end) || extent->begin > extent->end) {
    return fail("its data_offsets are not a range");
  }
  if (extent->end > data_size) {
    return fail("its data ends at byte ", extent->end, " of ", data_size,
                "; is the file cut off?");
  }
  if (extent->end - extent->begin != *size) {
    return fail("its data has ", extent->end - extent->begin, " bytes, ",
                tensor->dtype, "[", absl::StrJoin(tensor->shape, ","),
                "] needs ", *size);
  }
  return absl::OkStatus();
}

// The tensors must cover the data once.
absl::Status CheckCover(std::vector<Extent> extents, int64_t data_size) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  int64_t covered = 0;
  for (const Extent& extent : extents) {
    if (extent.begin < covered) {
      return Malformed("tensor ", Quoted(extent.name),
                       " overlaps the one before it");
    }
    if (extent.begin > covered) {
      return Malformed("bytes ", covered, " to ", extent.begin,
                       " of the data belong to no tensor");
    }
    covered = extent.end;
  }
  if (covered != data_size) {
    return Malformed(data_size - covered,
                     " bytes at its end belong to no "
                     "tensor");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> SafeTensorBits(absl::string_view dtype) {
  for (const DtypeBits& row : kDtypes) {
    if (row.dtype == dtype) return row.bits;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown dtype ", Quoted(dtype)));
}

absl::StatusOr<int64_t> SafeTensorByteSize(absl::string_view dtype,
                                           const std::vector<int64_t>& shape) {
  RIDGE_ASSIGN_OR_RETURN(int64_t bits, SafeTensorBits(dtype));
  // A zero anywhere makes the tensor empty, however large the rest.
  const bool empty = std::count(shape.begin(), shape.end(), 0) > 0;
  for (int64_t extent : shape) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("its shape has the extent ", extent));
    }
    if (!empty && __builtin_mul_overflow(bits, extent, &bits)) {
      return absl::InvalidArgumentError("its shape is too large");
    }
  }
  if (empty) return 0;
  if (bits % 8 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("its ", bits, " bits do not fill whole bytes"));
  }
  return bits / 8;
}

absl::StatusOr<SafeTensors> ParseSafeTensors(absl::string_view bytes) {
  if (bytes.size() < kLengthBytes) {
    return Malformed("only ", bytes.size(), " bytes");
  }
  const uint64_t header_size = ReadLength(bytes);
  bytes.remove_prefix(kLengthBytes);
  if (header_size > kMaxHeaderBytes) {
    return Malformed("its header would have ", header_size,
                     " bytes, more than ", kMaxHeaderBytes);
  }
  if (header_size > bytes.size()) {
    return Malformed("its header has ", header_size, " bytes, but only ",
                     bytes.size(), " follow; is the file cut off?");
  }
  RIDGE_ASSIGN_OR_RETURN(const Json header,
                         ParseHeader(bytes.substr(0, header_size)));
  bytes.remove_prefix(header_size);
  const int64_t data_size = static_cast<int64_t>(bytes.size());

  SafeTensors result;
  std::vector<Extent> extents;
  for (const auto& item : header.items()) {
    if (item.key() == kMetadata) {
      RIDGE_RETURN_IF_ERROR(ParseMetadata(item.value(), &result.metadata));
      continue;
    }
    SafeTensor& tensor = result.tensors[item.key()];
    Extent extent{};
    RIDGE_RETURN_IF_ERROR(
        ParseTensor(item.key(), item.value(), data_size, &tensor, &extent));
    extent.name = result.tensors.find(item.key())->first;
    extents.push_back(extent);
  }
  RIDGE_RETURN_IF_ERROR(CheckCover(extents, data_size));
  // Only now is it known that the file does not ask for more than it holds.
  for (const Extent& extent : extents) {
    result.tensors[std::string(extent.name)].data =
        std::string(bytes.substr(extent.begin, extent.end - extent.begin));
  }
  return result;
}

absl::StatusOr<std::string> SerializeSafeTensors(const SafeTensors& tensors) {
  struct Entry {
    int bits;
    const std::string* name;
    const SafeTensor* tensor;
  };
  std::vector<Entry> entries;
  for (const auto& [name, tensor] : tensors.tensors) {
    if (name == kMetadata) {
      return absl::InvalidArgumentError(
          "a tensor cannot be called '__metadata__'");
    }
    absl::StatusOr<int64_t> size =
        SafeTensorByteSize(tensor.dtype, tensor.shape);
    if (!size.ok()) {
      return Annotate(size.status(), absl::StrCat("tensor ", Quoted(name)));
    }
    if (*size != static_cast<int64_t>(tensor.data.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", Quoted(name), " has ", tensor.data.size(),
                       " bytes, ", tensor.dtype, "[",
                       absl::StrJoin(tensor.shape, ","), "] needs ", *size));
    }
    entries.push_back({*SafeTensorBits(tensor.dtype), &name, &tensor});
  }
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const Entry& a, const Entry& b) { return a.bits > b.bits; });

  // In the order of the data, which is what a person wants to see.
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!tensors.metadata.empty()) {
    header[std::string(kMetadata)] = tensors.metadata;
  }
  int64_t offset = 0;
  for (const Entry& entry : entries) {
    const int64_t end =
        offset + static_cast<int64_t>(entry.tensor->data.size());
    header.push_back({*entry.name,
                      {{"dtype", entry.tensor->dtype},
                       {"shape", entry.tensor->shape},
                       {"data_offsets", {offset, end}}}});
    offset = end;
  }

  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) {
    return absl::InvalidArgumentError(
        "a tensor's name or the metadata is not UTF-8");
  }
  // Spaces after the JSON align the data.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes) {
    return absl::InvalidArgumentError("the header is too large");
  }
  std::string bytes;
  bytes.reserve(kLengthBytes + text.size() + offset);
  for (int i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<char>(text.size() >> (8 * i)));
  }
  bytes += text;
  for (const Entry& entry : entries) bytes += entry.tensor->data;
  return bytes;
}

absl::StatusOr<SafeTensors> ReadSafeTensors(const std::string& path) {
  RIDGE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<SafeTensors> tensors = ParseSafeTensors(bytes);
  if (!tensors.ok()) return Annotate(tensors.status(), path);
  return tensors;
}

absl::Status WriteSafeTensors(const std::string& path,
                              const SafeTensors& tensors) {
  RIDGE_ASSIGN_OR_RETURN(const std::string bytes,
                         SerializeSafeTensors(tensors));
  return WriteFileAtomic(path, bytes);
}

}  // namespace ridge
