// How a kernel runs on a CPU: a short list of stages, one function each, that
// the host calls one after the other; each stage's units are independent and
// are shared among threads.
//
//   kPoint   A unit is a point of the outer variables. For it the inner loops
//            run phase by phase: folds, then what needs them, then stores.
//            Serves elementwise kernels (no folds), row reductions (values
//            that a later phase needs again are kept in a row buffer) and the
//            reductions of a kernel whose stages differ.
//   kColumn  Folds that keep the minor variable: a unit is a block of columns;
//            rows stream past an array of accumulators.
//   kCombine Adds up the partial results of a fold that was split, in order.
//   kBox     Folds over several sets of axes, and stores of the whole space,
//            in one pass (schedules/multi_reduce.h): a unit is a chunk of the
//            rows; a row's elements are computed once, a block at a time, and
//            folded in every direction. Folds over the chunked variable leave
//            partial results.
//
// Results do not depend on the number of threads: units and splits follow from
// the kernel alone.
#ifndef RIDGE_BACKENDS_CPU_STAGES_H_
#define RIDGE_BACKENDS_CPU_STAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/kernel/kernel.h"

namespace ridge {

// One kReduce with all its results.
struct Fold {
  std::vector<NodeId> results;  // by number; -1 where nothing reads it
  NodeId any = -1;              // one of them
  uint64_t vars = 0;            // kept
  uint64_t reduced = 0;
  int32_t phase = 0;  // 1: needs no other fold over the space
  bool simple = false;
};

enum class StageKind : uint8_t { kPoint, kColumn, kCombine, kBox };

struct Stage {
  StageKind kind = StageKind::kPoint;
  std::vector<int32_t> outer;  // variables that units count, major first
  std::vector<Fold> folds;
  std::vector<int32_t> stores;  // indices into Kernel::stores
  // One inner variable may be cut into chunks, which are units too.
  int32_t split = -1;
  int64_t chunk = 0;
  int64_t chunks = 1;
  // kPoint: the minor inner variable runs in tiles of this many, outside the
  // loop over `split` (transposed access). 0: no.
  int64_t tile = 0;
  // The folds' results are partial, one set for each chunk (kBox: those of
  // folds over `split`).
  bool partial = false;
  // kBox: the variable outside of `split`; -1: none. Columns that a unit has;
  // 0: all.
  int32_t walk = -1;
  int64_t columns = 0;
  // Units must run in order on one thread (updates that may collide).
  bool serial = false;

  int64_t units = 0;
  int64_t points_per_unit = 0;
};

// Columns of a kColumn unit: sums of so many fit the first-level cache, and a
// row of them is long enough to stream.
inline constexpr int64_t kColumnBlock = 1024;

struct StagePlan {
  std::vector<Stage> stages;
  std::string schedule;  // for reports: "row_reduce", "column_reduce split=8"
};

// Variables that take more than one value; the others never occur.
uint64_t LiveVars(const Kernel& kernel);

// The folds over the parallel space, in node order. Folds that stay inside a
// point (over variables beyond the space) are not among them.
std::vector<Fold> SpaceFolds(const Kernel& kernel);

StagePlan PlanStages(const Kernel& kernel);

// Whether the stage leaves partial results of the fold.
bool IsPartial(const Stage& stage, const Fold& fold);

// Units the host hands to a thread at a time.
int64_t StageGrain(const Stage& stage);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_STAGES_H_
