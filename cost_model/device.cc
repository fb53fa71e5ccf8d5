#include "cost_model/device.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cost_model/built_in_devices.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

// Keeps the first error, with its place.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!message_.empty()) return;
    message_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

}  // namespace

std::vector<std::string> BuiltInDevices() {
  std::vector<std::string> ids;
  for (const BuiltInDevice& d : kBuiltInDevices) ids.emplace_back(d.id);
  return ids;
}

constexpr int64_t kMostVectorBytes = 256;
constexpr int64_t kMostThreads = 1024;

absl::Status ValidateDevice(const DeviceDescription& device) {
  const google::protobuf::Descriptor* type = device.GetDescriptor();
  const google::protobuf::Reflection* reflection = device.GetReflection();
  for (int i = 0; i < type->field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = type->field(i);
    double value = 1;
    switch (field->cpp_type()) {
      case google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE: {
        const auto& constant =
            static_cast<const Constant&>(reflection->GetMessage(device, field));
        value = constant.value();
        bool may_be_zero =
            field->name() == "overlap" || field->name() == "spill_dram_share";
        if (may_be_zero) {
          if (!(value >= 0 && value <= 1)) {
            return absl::InvalidArgumentError(
                absl::StrCat("device ", device.id(), ": ", field->name(),
                             " is ", value, ", not between 0 and 1"));
          }
          continue;
        }
        break;
      }
      case google::protobuf::FieldDescriptor::CPPTYPE_INT32:
        value = reflection->GetInt32(device, field);
        break;
      case google::protobuf::FieldDescriptor::CPPTYPE_INT64:
        value = static_cast<double>(reflection->GetInt64(device, field));
        break;
      default:
        continue;
    }
    if (!(value > 0) || !std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("device ", device.id(), ": ", field->name(), " is ",
                       value, "; every count and rate must be positive"));
    }
  }
  // What kernels are made for.
  const int64_t vector = device.vector_bytes();
  if ((vector & (vector - 1)) != 0 || vector > kMostVectorBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("device ", device.id(), ": vector_bytes is ", vector,
                     ", not a power of two up to ", kMostVectorBytes));
  }
  if (device.max_threads_per_block() > kMostThreads) {
    return absl::InvalidArgumentError(absl::StrCat(
        "device ", device.id(), ": max_threads_per_block is ",
        device.max_threads_per_block(), ", more than ", kMostThreads));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceDescription> ParseDevice(absl::string_view text,
                                              absl::string_view file) {
  DeviceDescription device;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &device)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", error.message(),
                     " (expected a device description in protobuf text)"));
  }
  RIDGE_RETURN_IF_ERROR(Annotate(ValidateDevice(device), file));
  return device;
}

absl::StatusOr<DeviceDescription> LoadDevice(absl::string_view name_or_file) {
  for (const BuiltInDevice& d : kBuiltInDevices) {
    if (name_or_file == d.id) return ParseDevice(d.text, d.id);
  }
  absl::StatusOr<std::string> text =
      ReadFile(ResolveUserPath(std::string(name_or_file)));
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("device '", name_or_file, "' is neither built in (",
                     absl::StrJoin(BuiltInDevices(), ", "),
                     ") nor a readable file: ", text.status().message()));
  }
  return ParseDevice(*text, name_or_file);
}

DeviceLimits LimitsOf(const DeviceDescription& d) {
  DeviceLimits limits;
  limits.is_gpu = d.is_gpu();
  limits.multiprocessors = d.multiprocessors();
  limits.max_threads_per_block = d.max_threads_per_block();
  limits.max_threads_per_multiprocessor = d.max_threads_per_multiprocessor();
  limits.max_blocks_per_multiprocessor = d.max_blocks_per_multiprocessor();
  limits.registers_per_multiprocessor = d.registers_per_multiprocessor();
  limits.max_registers_per_thread = d.max_registers_per_thread();
  limits.shared_bytes_per_block = d.shared_bytes_per_block();
  limits.shared_bytes_per_multiprocessor = d.shared_bytes_per_multiprocessor();
  limits.l2_bytes = d.l2_bytes();
  limits.max_cluster_blocks = d.max_cluster_blocks();
  limits.vector_bytes = d.vector_bytes();
  return limits;
}

}  // namespace ridge
