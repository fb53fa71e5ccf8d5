// The cost model as planning sees it: groups in, prices out.
#ifndef RIDGE_COST_MODEL_GROUP_PRICER_H_
#define RIDGE_COST_MODEL_GROUP_PRICER_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "cost_model/device.h"
#include "cost_model/price.h"
#include "fusion/pricer.h"

namespace ridge {

// The full price of a group on a device: the kernel that would be emitted,
// under the group's schedule choice or the default one; a library product for
// kGemm; bytes at half the streaming rate, which plain kernels reach, for
// kOpaque and for single instructions that have no scalar form. Unimplemented
// where no kernel can serve the group.
absl::StatusOr<Price> PriceGroup(const Group& group,
                                 const DeviceDescription& device,
                                 const PriceOptions& options = {});

// Remembers prices, so that asking again for the same members is free.
class CostModelPricer : public GroupPricer {
 public:
  explicit CostModelPricer(DeviceDescription device, PriceOptions options = {})
      : device_(std::move(device)), options_(options) {}
  absl::StatusOr<GroupPrice> Price(const Group& group) override;
  const DeviceDescription& device() const { return device_; }

 private:
  DeviceDescription device_;
  PriceOptions options_;
  absl::flat_hash_map<std::string, absl::StatusOr<GroupPrice>> known_;
};

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_GROUP_PRICER_H_
