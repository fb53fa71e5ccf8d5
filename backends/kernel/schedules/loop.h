// Loop: every point of a store is computed on its own. Serves every kernel;
// reductions are loops inside a thread. Fast where there are none across the
// space.
//
// Parameters
//   vector   consecutive points of one thread's access: a power of two
//   threads  of a block
//   unroll   vectors a thread computes, a block apart, loads of all first
//   table    1: what depends on one small value alone is looked up (table.h);
//            blocks stay and walk over the points
//   meet     1: blocks that read the same part of an operand again run side by
//            side (repeats.h), where there is such an operand that leaves the
//            cache in between, and whole blocks lie between its repetitions
//   stream   1: vectors of operands and outputs that are touched once make way
//            for the rest in the caches
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_LOOP_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_LOOP_H_

#include "backends/kernel/schedule.h"
#include "backends/kernel/schedules/repeats.h"

namespace ridge {

// Of the stores that depend on the variables in one mask.
struct LoopGeometry {
  int64_t points = 0;
  int64_t vector = 1;
  int64_t threads = 256;
  int64_t unroll = 1;
  bool table = false;
  Meeting meeting;  // count 1: blocks run in the order of their points
  bool stream = false;
  int64_t full_blocks = 0;  // blocks of threads * unroll * vector points
  int64_t tail_blocks = 0;  // blocks of one point a thread for the rest
};
LoopGeometry LoopGeometryOf(const Kernel& kernel, uint64_t store_vars,
                            const ScheduleChoice& choice,
                            const DeviceLimits& device);

// The choice that says it, of Loop or of another schedule with its parameters.
ScheduleChoice ChoiceOf(absl::string_view schedule, const LoopGeometry& g);

const Schedule* LoopSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_LOOP_H_
