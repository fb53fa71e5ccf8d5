// Device descriptions: what the cost model knows of a device.
#ifndef RIDGE_COST_MODEL_DEVICE_H_
#define RIDGE_COST_MODEL_DEVICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/kernel/schedule.h"
#include "cost_model/device.pb.h"

namespace ridge {

using DeviceDescription = DeviceProto;

// `name_or_file`: an id of a built-in description (h200, h100, a100, rtx4070,
// cpu), else the path of a text protobuf of DeviceProto. Every rate must be
// there and positive; the message names the field that is not.
absl::StatusOr<DeviceDescription> LoadDevice(absl::string_view name_or_file);
absl::StatusOr<DeviceDescription> ParseDevice(absl::string_view text,
                                              absl::string_view file);
std::vector<std::string> BuiltInDevices();
absl::Status ValidateDevice(const DeviceDescription& device);

DeviceLimits LimitsOf(const DeviceDescription& device);

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_DEVICE_H_
