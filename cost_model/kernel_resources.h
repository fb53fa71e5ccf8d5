// What a kernel takes and moves, counted from its nodes: the cost model's
// input where no schedule has said more.
#ifndef RIDGE_COST_MODEL_KERNEL_RESOURCES_H_
#define RIDGE_COST_MODEL_KERNEL_RESOURCES_H_

#include "backends/kernel/kernel.h"
#include "backends/kernel/schedule.h"

namespace ridge {

// Operations are counted by unit, each node once a point of the variables it
// depends on. A buffer's bytes are the elements that its accesses can touch,
// once each, as long as what is read again fits the last-level cache; sector
// efficiency follows from the stride along the minor variable. Column
// reductions and the like write partial results and take a second launch.
Resources EstimateResources(const Kernel& kernel, const ScheduleChoice& choice,
                            const DeviceLimits& device);

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_KERNEL_RESOURCES_H_
