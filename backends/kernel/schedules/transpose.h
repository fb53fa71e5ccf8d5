// Transpose: outputs contiguous along one variable, some inputs contiguous
// along another. A block takes a square tile of the two, reads the inputs
// along theirs, turns them in shared memory, and writes along the outputs'.
//
// Parameters
//   tile     points of each side of the tile
//   vector   consecutive elements of one access, along both sides
//   threads  of a block
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_TRANSPOSE_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_TRANSPOSE_H_

#include <vector>

#include "backends/kernel/schedule.h"

namespace ridge {

struct TransposeGeometry {
  int64_t a_var = -1;         // turned inputs are contiguous along this one
  int64_t b_var = -1;         // outputs along this one: the last of the space
  std::vector<NodeId> moved;  // the loads that are turned
  int64_t tile = 32;
  int64_t a_vector = 1;
  int64_t b_vector = 1;
  int64_t threads = 256;
  int64_t bytes_per_point = 0;  // of what is turned
  int64_t shared_bytes = 0;
};
// Unimplemented, with the rule, where there is nothing to turn this way.
absl::StatusOr<TransposeGeometry> TransposeGeometryOf(
    const Kernel& kernel, const ScheduleChoice& choice,
    const DeviceLimits& device);

// The choice that says it.
ScheduleChoice ChoiceOf(const TransposeGeometry& g);

const Schedule* TransposeSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_TRANSPOSE_H_
