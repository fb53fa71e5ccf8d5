// What planning may ask about time. Implemented by the cost model, which lies
// above this folder.
#ifndef RIDGE_FUSION_PRICER_H_
#define RIDGE_FUSION_PRICER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fusion/plan.h"

namespace ridge {

// One group's price, as planning sees it. Times in microseconds.
struct GroupPrice {
  double us = 0;           // what the kernel takes, launch included
  int64_t bytes_read = 0;  // from device memory
  int64_t bytes_written = 0;
  int64_t flops = 0;
  std::string bound;  // the term that dominates: "dram_read", "launch", ...
  // Every term of the sum, in the order of the formula.
  std::vector<std::pair<std::string, double>> terms_us;
  // Estimated, or measured by a compiler where the group was compiled.
  int registers = 0;
  bool spills = false;
};

class GroupPricer {
 public:
  virtual ~GroupPricer() = default;
  // Fails with Unimplemented where no kernel can serve the group; the message
  // is the reason.
  virtual absl::StatusOr<GroupPrice> Price(const Group& group) = 0;
};

}  // namespace ridge

#endif  // RIDGE_FUSION_PRICER_H_
