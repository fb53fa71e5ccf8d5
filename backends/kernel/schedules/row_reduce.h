// RowReduce: reductions along the last variable and everything between them:
// softmax, norms, argmax, several reductions in one pass. A row belongs to a
// warp's part, a block, or a cluster of blocks; its elements are read once and
// stay in registers, unless it is too long for them: then every phase reads the
// row again (from the last-level cache while it fits).
//
// A row is a run of memory, or lies in pieces (Kernel::row_piece), each of them
// vectors of its own: group norm of [N,H,W,G*C]. Those are served only where
// the row stays; read several times, column schedules read as little.
//
// Parameters
//   vector   consecutive elements of one access: a power of two that divides
//            the row
//   threads  of a block that share a row
//   rows     of one block
//   cluster  blocks that share a row (through each other's shared memory)
//   cached   1: the row stays in the multiprocessor between phases; 0: read
//            again
//   stages   0: a block has one turn, and loads its rows into registers; more:
//            blocks stay and walk over the rows, and this many turns' rows are
//            in shared memory or on their way there; 1: each vector of the next
//            turn is asked for as this turn's is read for the last time
//   resident blocks that a multiprocessor has registers and shared memory for
//   online   1: a maximum and the sum of exponentials relative to it in one
//            pass (online.h); only of kernels that have both
//   stream   1: elements that are touched once, read and written, are the first
//            to leave the caches
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_REDUCE_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_REDUCE_H_

#include "backends/kernel/schedule.h"

namespace ridge {

struct RowGeometry {
  int64_t rows = 1;     // of the kernel
  int64_t columns = 1;  // elements of a row
  int64_t vector = 1;
  int64_t row_threads = 32;  // of one block
  int64_t block_rows = 1;
  int64_t cluster = 1;
  int64_t chunks = 1;  // vectors a thread has of its row
  bool cached = true;
  int64_t stages = 0;
  // Blocks that share a multiprocessor: one waits for its cluster or for
  // memory while another works.
  int64_t resident = 1;
  bool online = false;
  bool has_online = false;  // the kernel has a form for that
  bool stream = false;

  int64_t Width() const { return row_threads * cluster; }
  int64_t BlockThreads() const { return row_threads * block_rows; }
  int64_t Turns() const { return (rows + block_rows - 1) / block_rows; }
  // The last chunk reaches beyond the row's end.
  bool Ragged() const { return chunks * Width() * vector != columns; }
};
RowGeometry RowGeometryOf(const Kernel& kernel, const ScheduleChoice& choice,
                          const DeviceLimits& device);

// The choice that says it.
ScheduleChoice ChoiceOf(const RowGeometry& g);

const Schedule* RowReduceSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_ROW_REDUCE_H_
