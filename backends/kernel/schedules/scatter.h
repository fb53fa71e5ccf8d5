// Scatter: the points of an update, each stored at (or combined into) an
// offset that depends on values; the rest of the output is its operand's, by
// aliasing or from the prologue. Touches only what changes.
//
// Parameters
//   vector   consecutive points of one thread; 1 where updates combine
//   threads  of a block
//   unroll   vectors a thread handles
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_SCATTER_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_SCATTER_H_

#include "backends/kernel/schedule.h"
#include "backends/kernel/schedules/loop.h"

namespace ridge {

LoopGeometry ScatterGeometryOf(const Kernel& kernel,
                               const ScheduleChoice& choice,
                               const DeviceLimits& device);

const Schedule* ScatterSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_SCATTER_H_
