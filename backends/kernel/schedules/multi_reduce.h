// MultiReduce: reductions of one space over several different sets of its
// axes, and elementwise outputs beside them, in one pass. The space is outer x
// middle x row; folds go over the row, over the outer axes, over the middle
// axes, or over both:
//
//   e[o, m, c]:   sum over c -> [o, m]     kRow
//                 sum over m -> [o, c]     kMiddle
//                 sum over o -> [m, c]     kOuter
//                 sum over o, m -> [c]     kBoth
//
// A block has a box: `tile` neighbours of the middle axes, a share of the outer
// ones, and a piece of the row that its threads cover with one vector each. It
// goes through its rows in memory order. Outer folds stay in shared memory from
// one outer point to the next, an accumulator for each row of the tile; middle
// folds stay in registers from row to row; row folds are combined across the
// block once for all rows of the tile. Every fold leaves one partial result a
// box, and a second kernel folds those in order.
//
// Bytes of partial results, written and read, for an element of 4 bytes:
//   8 * (shares * middle * columns + middle / tile * outer * columns + ...)
// A larger tile makes fewer of the second and, since the device has room for
// so many blocks only, more of the first.
//
// No value of the whole space may wait for a fold: rows pass once.
//
// Parameters
//   vector   consecutive elements of one access
//   threads  of a block
//   tile     middle points of a block
//   shares   blocks that share the outer points
//   stream   1: rows and outputs of the whole space are the first to leave the
//            cache, where partial results are to wait for the second kernel
#ifndef RIDGE_BACKENDS_KERNEL_SCHEDULES_MULTI_REDUCE_H_
#define RIDGE_BACKENDS_KERNEL_SCHEDULES_MULTI_REDUCE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel/schedule.h"

namespace ridge {

enum class BoxFold : uint8_t { kRow, kMiddle, kOuter, kBoth };
inline constexpr std::array<BoxFold, 4> kBoxFolds = {
    BoxFold::kMiddle, BoxFold::kOuter, BoxFold::kBoth, BoxFold::kRow};

// The space as outer x middle x row, and what goes over it. Without a fold
// that tells them apart, all axes but the last are middle axes.
struct Boxes {
  // Variables, as masks: those before the last one that take several values,
  // and the last one.
  uint64_t outer = 0;
  uint64_t middle = 0;
  uint64_t row = 0;
  int64_t outer_points = 1;
  int64_t middle_points = 1;
  int64_t columns = 1;
  // Bytes of the accumulators of one result, by BoxFold; 0: no such fold.
  std::array<int64_t, 4> bytes = {};
  // Stores of the whole space (indices into Kernel::stores), and by BoxFold
  // those that hang on such a fold's results.
  std::vector<int32_t> maps;
  std::array<std::vector<int32_t>, 4> stores;

  bool Has(BoxFold f) const { return bytes[static_cast<int>(f)] > 0; }
  int64_t Bytes(BoxFold f) const { return bytes[static_cast<int>(f)]; }
  // Variables folded over, and those of a result.
  uint64_t Reduced(BoxFold f) const;
  uint64_t Kept(BoxFold f) const {
    return (outer | middle | row) & ~Reduced(f);
  }
  // Which fold a reduction over these variables is.
  std::optional<BoxFold> FoldOver(uint64_t reduced) const;
};
// Unimplemented, with the rule, where the kernel has another form.
absl::StatusOr<Boxes> FindBoxes(const Kernel& kernel);

struct MultiReduceGeometry {
  Boxes boxes;
  int64_t vector = 1;
  int64_t threads = 256;
  int64_t tile = 1;
  int64_t shares = 1;
  int64_t share = 1;   // outer points of a block
  int64_t tiles = 1;   // along the middle axes
  int64_t pieces = 1;  // of a row
  int64_t stream = 0;
  int64_t resident = 1;  // blocks of a multiprocessor that there is room for

  int64_t Blocks() const { return pieces * tiles * shares; }
  // Shared memory of a block.
  int64_t SharedBytes() const;
  // Partial results of a fold: one a box for each result in it. How many
  // results there are, and how many partial results each has.
  int64_t Results(BoxFold f) const;
  int64_t Parts(BoxFold f) const;
  // Bytes of all of them.
  int64_t PartialBytes() const;
};
MultiReduceGeometry MultiReduceGeometryOf(const Kernel& kernel,
                                          const Boxes& boxes,
                                          const ScheduleChoice& choice,
                                          const DeviceLimits& device);

// Unimplemented where a block's accumulators are larger than its memory.
absl::Status CheckRoom(const MultiReduceGeometry& g);

// The choice that says it.
ScheduleChoice ChoiceOf(const MultiReduceGeometry& g);

const Schedule* MultiReduceSchedule();

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SCHEDULES_MULTI_REDUCE_H_
