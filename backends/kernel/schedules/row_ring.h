// Rows on their way through shared memory: what RowReduce and RowColumn share.
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_RING_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_RING_H_

#include "backends/kernel/schedules/row_reduce.h"

namespace ridge {

// Whether a load of rows in pieces meets the same few elements again and again,
// such as the scales of a group's channels at each position.
bool IsReadAgain(const Kernel& kernel, const Node& load);

// Bytes that a thread holds for one vector of each of the row's inputs. Only
// what varies with the row is held; scales and biases are read when needed.
int64_t HeldBytes(const Kernel& kernel, int64_t vector);

// The rows of one turn of a block, in bytes.
int64_t TurnBytes(const Kernel& kernel, const RowGeometry& g);

// Stages that shared memory has room for, with g.resident blocks on a
// multiprocessor; 0 also where a thread's part of a row is too narrow for
// asynchronous copies.
int64_t MostStages(const Kernel& kernel, const RowGeometry& g,
                   const DeviceLimits& device);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_RING_H_
