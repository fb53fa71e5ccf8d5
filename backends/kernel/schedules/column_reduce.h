// ColumnReduce: folds over any one set of variables, in two stages. Blocks take
// tiles of columns (kept points) and a share of the folded points each, threads
// fold in registers and through shared memory, and write one partial result a
// column; a second kernel folds the shares in order, so that results are the
// same in every run, and computes what hangs on them.
//
// Parameters
//   vector   consecutive elements of one access
//   tile     vectors of columns of a block (columns, where the contiguous
//            variable is folded)
//   threads  of a block: tile times the lanes that share a column
//   shares   blocks that share a tile's folded points
//   batch    points that a thread folds among themselves before they join what
//            it has: where the reducer is no single operation, what combining
//            single values takes may be far less (counts are constants then)
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_COLUMN_REDUCE_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_COLUMN_REDUCE_H_

#include "backends/kernel/schedule.h"

namespace ridge {

// The second kernel: threads of a block, and how many of them fold one column's
// shares (more where there are few columns).
inline constexpr int kFinishBlock = 256;
int64_t FinishThreads(int64_t columns, int64_t shares);

struct ColumnGeometry {
  uint64_t reduced = 0;       // the variables folded over
  uint64_t kept = 0;          // the rest of the space
  int64_t columns = 1;        // points of `kept`
  int64_t length = 1;         // points of `reduced`
  bool along_columns = true;  // the contiguous variable is kept
  int64_t vector = 1;
  int64_t tile = 32;
  int64_t lanes = 8;  // of a block, for each column vector
  int64_t shares = 1;
  int64_t share_steps = 1;  // vectors of folded points of a share
  int64_t batch = 1;
  int64_t tiles = 1;
};
ColumnGeometry ColumnGeometryOf(const Kernel& kernel,
                                const ScheduleChoice& choice,
                                const DeviceLimits& device);

// The choice that says it.
ScheduleChoice ChoiceOf(const ColumnGeometry& g);

const Schedule* ColumnReduceSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_COLUMN_REDUCE_H_
