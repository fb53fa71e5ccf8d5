// What fusion did to a module on a device: the numbers that `fuse` prints.
#ifndef RIDGE_COST_MODEL_FUSION_REPORT_H_
#define RIDGE_COST_MODEL_FUSION_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cost_model/device.h"
#include "cost_model/price.h"
#include "fusion/plan.h"
#include "fusion/traffic.h"
#include "hlo/ir/module.h"

namespace ridge {

struct GroupReport {
  std::string name;
  std::string kind;     // kLoop, kInput, kOutput, kCustom
  std::string pattern;  // PatternName
  std::string hero;
  std::vector<std::string> members;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  int64_t flops = 0;
  double predicted_us = 0;
  std::string bound;
  std::vector<std::pair<std::string, double>> terms_us;
};

// Before: one kernel an instruction of the module as written (see
// UnfusedTraffic). After: one a group.
struct FusionReport {
  std::string module;
  std::string device;
  std::string strategy;
  Traffic before;
  Traffic after;
  double predicted_us_before = 0;
  double predicted_us_after = 0;
  int64_t peak_bytes_before = 0;
  int64_t peak_bytes_after = 0;
  std::vector<GroupReport> groups;
};

absl::StatusOr<FusionReport> MakeFusionReport(const Module& written,
                                              const Module& canonical,
                                              const Plan& plan,
                                              const DeviceDescription& device,
                                              const PriceOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_FUSION_REPORT_H_
