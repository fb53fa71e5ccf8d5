// The RowColumn schedule: row statistics and column sums of one space in one
// pass over it. Blocks walk over the rows, the whole block on one row at a
// time, as row_passes.h says; each thread keeps the column sums of its elements
// in registers from row to row. The next row's loads are under way while a row
// is worked on. A second kernel adds the blocks' sums in order.
#include "backends/kernel/schedules/row_column.h"

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/folds.h"
#include "backends/cuda/emit/row_passes.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {

absl::StatusOr<EmittedKernel> EmitRowColumn(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device) {
  RIDGE_RETURN_IF_ERROR(RowColumnSchedule()->CanSchedule(kernel, device));
  const RowColumnGeometry g = RowColumnGeometryOf(kernel, choice, device);
  const uint64_t column = MinorBit(kernel);
  const uint64_t rows = SpaceMask(kernel) & ~column;
  RIDGE_ASSIGN_OR_RETURN(std::vector<Fold> folds, ColumnFolds(kernel, rows));
  RowGeometry r;
  r.rows = g.rows;
  r.columns = g.columns;
  r.vector = g.vector;
  r.row_threads = g.threads;
  r.chunks = g.chunks;
  RowPasses passes(kernel, r, folds);
  BodyWriter& w = passes.writer();
  const std::string& index = w.index_type();
  w.Line("const int lane = threadIdx.x;");
  w.Line(absl::StrCat("const ", index, " x = lane;"));
  w.Line("__builtin_assume(x >= 0);");
  RIDGE_RETURN_IF_ERROR(passes.DeclareColumns());
  passes.DeclareHeld();
  passes.DeclareAhead();
  // `r` is the row that loads and passes speak of.
  w.Open("{");
  w.Line(absl::StrCat("const ", index, " r = (", index, ")blockIdx.x;"));
  passes.LoadHeld(/*ahead=*/false);
  w.Close();
  w.Open(absl::StrCat("for (", index, " r = (", index, ")blockIdx.x; r < ",
                      g.rows, "; r += ", g.blocks, ") {"));
  w.Line("__builtin_assume(r >= 0);");
  w.Line(absl::StrCat("const ", index, " ahead = r + ", g.blocks, ";"));
  w.Open(absl::StrCat("if (ahead < ", g.rows, ") {"));
  w.Line(absl::StrCat("const ", index, " r = ahead;"));
  passes.LoadHeld(/*ahead=*/true);
  w.Close();
  RIDGE_RETURN_IF_ERROR(passes.EmitPasses());
  // With several meetings a row, nobody is a whole row ahead of another.
  if (passes.Meetings() == 1 && g.threads > 32) w.Line("__syncthreads();");
  passes.TakeAhead();
  w.Close();
  passes.StoreColumns();
  RIDGE_ASSIGN_OR_RETURN(std::string helpers, w.FunctionsText());
  std::string first = absl::StrCat(
      "\nextern \"C\" __global__ void __launch_bounds__(", g.threads, ") ",
      kernel.name, "_rows(", w.ParameterText("__restrict__"),
      ScratchParameters(folds, ""), ") {\n", w.TakeText(), "}\n");

  const FinishGeometry finish = {column, g.columns, g.blocks};
  RIDGE_ASSIGN_OR_RETURN(
      std::string second,
      EmitFinish(kernel, finish, folds, passes.after_columns()));
  EmittedKernel emitted;
  emitted.choice = ChoiceOf(g);
  emitted.source = absl::StrCat(FilePrelude(), helpers, first, second);
  emitted.scratch_bytes = ScratchBytes(kernel, folds, g.blocks, g.columns);
  Launch walk;
  walk.function = absl::StrCat(kernel.name, "_rows");
  walk.grid = g.blocks;
  walk.block = static_cast<int>(g.threads);
  emitted.launches = {walk, FinishLaunch(kernel, finish)};
  return emitted;
}

}  // namespace ridge::cuda
