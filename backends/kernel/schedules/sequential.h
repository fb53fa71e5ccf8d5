// Sequential: a counted loop whose points do not look at each other runs
// inside the kernel, a thread a point; what it carries stays in registers.
// Serves kernels with a loop (Kernel::loop), and those only.
//
// What a round loads and does not depend on the carried values is loaded ahead:
// the loads of the next `unroll` rounds are under way while the present ones
// are computed.
//
// Parameters
//   threads  of a block
//   unroll   rounds whose loads go together
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_SEQUENTIAL_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_SEQUENTIAL_H_

#include <vector>

#include "backends/kernel/schedule.h"

namespace ridge {

// What a node of a round changes with.
enum class RoundDependence : uint8_t {
  kNothing,  // the same in all rounds
  kRound,    // follows from the number of the round
  kState,    // depends on what the round before has left
};
// One entry a node.
std::vector<RoundDependence> RoundDependences(const Kernel& kernel);
// Loads that follow from the number of the round alone.
std::vector<NodeId> LoadsAhead(const Kernel& kernel);

struct SequentialGeometry {
  int64_t points = 0;
  int64_t threads = 256;
  int64_t unroll = 1;
};
SequentialGeometry SequentialGeometryOf(const Kernel& kernel,
                                        const ScheduleChoice& choice,
                                        const DeviceLimits& device);

const Schedule* SequentialSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_SEQUENTIAL_H_
