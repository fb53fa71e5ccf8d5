// What a plan moves and keeps: bytes and tensors through device memory, peak
// memory. Before fusion and after it.
#ifndef RIDGE_FUSION_TRAFFIC_H_
#define RIDGE_FUSION_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fusion/plan.h"
#include "hlo/ir/module.h"

namespace ridge {

// One kernel's traffic. Bytes are the fewest: each input read once, each
// output written once.
struct KernelTraffic {
  std::string name;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  int64_t flops = 0;
};

struct Traffic {
  std::vector<KernelTraffic> kernels;
  int64_t bytes = 0;  // read and written
  // Reads and writes of tensors of the largest size: more than half the bytes
  // of the largest value that any kernel reads or writes.
  int64_t tensor_trips = 0;
  // What moves besides, by name, once each: vectors, masks, scalars.
  std::vector<std::string> small_values;
};

// One kernel an instruction, as written. A call marked `is_composite=true` is
// one operation, as its author declared; other calls, loop bodies and branches
// count with what they hold. What needs no kernel (parameters, tuples,
// reshapes in place) and what rides along (constants, broadcasts) counts
// nothing.
Traffic UnfusedTraffic(const Module& written);

Traffic PlanTraffic(const Plan& plan);

// Largest sum of bytes alive at once while the entry computation runs in
// order: parameters, results and everything between. Values that alias share
// memory.
int64_t UnfusedPeakBytes(const Module& written);
int64_t PlanPeakBytes(const Module& module, const Plan& plan);

}  // namespace ridge

#endif  // RIDGE_FUSION_TRAFFIC_H_
