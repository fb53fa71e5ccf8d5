// The safetensors file format: named arrays of raw bytes.
//
// A file is 8 bytes N (little-endian), N bytes of JSON, then the data:
//   {"in.0": {"dtype": "F32", "shape": [2,3], "data_offsets": [0, 24]}, ...}
// Offsets count from the end of the JSON. The arrays must cover the data
// without gap or overlap. An optional "__metadata__" maps strings to strings.
// https://github.com/huggingface/safetensors#format

#ifndef RIDGE_HLO_BASE_SAFETENSORS_H_
#define RIDGE_HLO_BASE_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ridge {

struct SafeTensor {
  // As in the file: BOOL, I8 ... I64, U8 ... U64, F16, BF16, F32, F64, C64,
  // C128, F8_E4M3 (HLO's f8e4m3fn), F8_E5M2, and the rest of the format.
  std::string dtype;
  std::vector<int64_t> shape;  // Empty for a scalar.
  std::string data;            // Row-major, little-endian.
};

struct SafeTensors {
  std::map<std::string, SafeTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Bits of one element, or kInvalidArgument for a dtype that the format does
// not have.
absl::StatusOr<int> SafeTensorBits(absl::string_view dtype);

// The bytes that a tensor of this type and shape has. kInvalidArgument for an
// unknown dtype, a negative extent, more than an int64 can count, or elements
// that do not fill whole bytes.
absl::StatusOr<int64_t> SafeTensorByteSize(absl::string_view dtype,
                                           const std::vector<int64_t>& shape);

// Reads a file's bytes. Whatever breaks the format is kInvalidArgument, and
// the message names the tensor.
absl::StatusOr<SafeTensors> ParseSafeTensors(absl::string_view bytes);

// A file's bytes. Same tensors, same bytes: wider types come first, so that
// each is aligned, then by name. kInvalidArgument if a tensor's data does not
// have the size that its type and shape say.
absl::StatusOr<std::string> SerializeSafeTensors(const SafeTensors& tensors);

// Errors as for ReadFile and ParseSafeTensors; the message names the file.
absl::StatusOr<SafeTensors> ReadSafeTensors(const std::string& path);

// Replaces the file as a whole or not at all.
absl::Status WriteSafeTensors(const std::string& path,
                              const SafeTensors& tensors);

}  // namespace ridge

#endif  // RIDGE_HLO_BASE_SAFETENSORS_H_
