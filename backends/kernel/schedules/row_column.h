// RowColumn: row statistics and column sums of one space in one pass: the
// backward passes of norms, bias gradients beside an elementwise result. A
// fixed number of blocks walk over the rows as RowReduce does; column sums stay
// in registers from row to row, and each block writes its own at the end. A
// second kernel adds the blocks' in order.
//
// Parameters
//   vector   consecutive elements of one access
//   threads  of a block; all of it shares a row
//   blocks   that walk over the rows
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_COLUMN_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_COLUMN_H_

#include "backends/kernel/schedule.h"

namespace ridge {

struct RowColumnGeometry {
  int64_t rows = 1;
  int64_t columns = 1;  // the last variable of the space
  int64_t vector = 1;
  int64_t threads = 256;
  int64_t chunks = 1;  // vectors a thread has of each row
  int64_t blocks = 1;
  int64_t column_bytes = 0;  // accumulators of one column, all column folds
};
RowColumnGeometry RowColumnGeometryOf(const Kernel& kernel,
                                      const ScheduleChoice& choice,
                                      const DeviceLimits& device);

// The choice that says it.
ScheduleChoice ChoiceOf(const RowColumnGeometry& g);

const Schedule* RowColumnSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_COLUMN_H_
