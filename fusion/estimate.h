// A price without a cost model: bytes over bandwidth, operations over rate,
// and the launch. What strategies use where no GroupPricer is given, so that
// this folder plans on its own.
#ifndef RIDGE_FUSION_ESTIMATE_H_
#define RIDGE_FUSION_ESTIMATE_H_

#include "absl/status/statusor.h"
#include "fusion/group_analysis.h"
#include "fusion/pricer.h"

namespace ridge {

// A device in a handful of numbers. The defaults are those of an H200: sites
// where only ratios matter (most decisions) come out alike on others.
struct EstimateDevice {
  double gigabytes_per_s = 4300;  // measured copies reach 90% of 4.8 TB/s
  double gigaops_per_s = 30000;   // add-like f32 operations, half of the peak
  double launch_us = 2;           // one kernel of a replayed graph, with gaps
  double matrix_gigaflops = 600000;  // bf16 tensor cores, as GEMMs reach
  int64_t multiprocessors = 132;
  // Bytes of a row that stay on the chip between the passes of a row
  // reduction: shared memory of a cluster of eight.
  int64_t row_bytes = 8 * 227 * 1024;
};

GroupPrice Estimate(const Group& group, const GroupAnalysis& analysis,
                    const EstimateDevice& device = {});

class EstimatePricer : public GroupPricer {
 public:
  explicit EstimatePricer(EstimateDevice device = {}, FusionLimits limits = {})
      : device_(device), limits_(limits) {}
  // Unimplemented where AnalyzeGroup forbids the group.
  absl::StatusOr<GroupPrice> Price(const Group& group) override;

 private:
  EstimateDevice device_;
  FusionLimits limits_;
};

}  // namespace ridge

#endif  // RIDGE_FUSION_ESTIMATE_H_
