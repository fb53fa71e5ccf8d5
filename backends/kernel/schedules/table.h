// Values that can be looked up instead of computed: a function of one value of
// at most 16 bits takes no more than 65,536 arguments. GELU of bf16, written
// out in roundings after each operation, costs some seventy instructions an
// element; its table takes 128 KB of a multiprocessor's shared memory.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_TABLE_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_TABLE_H_

#include <vector>

#include "backends/kernel/schedule.h"

namespace ridge {

struct Table {
  NodeId from = -1;          // whose bits are the index
  NodeId value = -1;         // what the table holds; -1: nothing to look up
  std::vector<bool> inside;  // by node: computed for the table's entries only
  double saved_ops = 0;      // of each point
  int64_t entries = 0;
  int64_t bytes = 0;
};

// The function of one small value of the point that costs the most, if its
// table fits a block. There is none inside of folds.
Table FindTable(const Kernel& kernel, const DeviceLimits& device);

// Whether looking up pays, for `points` points of the space: arithmetic, not
// memory, bounds the kernel without it, and there are many times more points
// than entries.
bool TablePays(const Kernel& kernel, int64_t points,
               const DeviceLimits& device);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_TABLE_H_
