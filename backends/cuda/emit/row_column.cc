// The RowColumn schedule: row statistics and column sums of one space in one
// pass over it. Blocks walk over the rows, the whole block on one row at a
// time, as row_passes.h says; each thread keeps the column sums of its elements
// in registers from row to row. The next row's loads are under way while a row
// is worked on. A second kernel adds the blocks' sums in order.
#include "backends/kernel/schedules/row_column.h"

#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/column_folds.h"
#include "backends/cuda/emit/row_passes.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {

absl::StatusOr<EmittedKernel> EmitRowColumn(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device) {
  RIDGE_RETURN_IF_ERROR(RowColumnSchedule()->CanSchedule(kernel, device));
  const RowColumnGeometry g = RowColumnGeometryOf(kernel, choice, device);
  const uint64_t column = uint64_t{1} << (kernel.space_vars - 1);
  const uint64_t rows = SpaceMask(kernel) & ~column;
  RIDGE_ASSIGN_OR_RETURN(std::vector<ColumnFold> folds,
                         ColumnFolds(kernel, rows));
  // Values that hang on a column sum are the second kernel's.
  std::vector<bool> after(kernel.nodes.size());
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    const Node& node = kernel.nodes[n];
    after[n] = node.kind == NodeKind::kReduce && node.reduced == rows;
    for (NodeId o : node.operands) after[n] = after[n] || after[o];
  }
  std::vector<Store> here;
  std::vector<Store> finishing;
  for (const Store& s : kernel.stores) {
    (after[s.value] ? finishing : here).push_back(s);
  }

  RowGeometry r;
  r.rows = g.rows;
  r.columns = g.columns;
  r.vector = g.vector;
  r.row_threads = g.threads;
  r.chunks = g.chunks;
  RowPasses passes(kernel, r, folds, here);
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
      ScratchParameters(kernel, folds, ""), ") {\n", w.TakeText(), "}\n");

  const FinishGeometry finish = {column, g.columns, g.blocks,
                                 FinishThreads(g.columns, g.blocks)};
  RIDGE_ASSIGN_OR_RETURN(std::string second,
                         EmitFinish(kernel, finish, folds, finishing));
  EmittedKernel emitted;
  emitted.choice.name = "row_column";
  emitted.choice.parameters = {
      {"vector", g.vector}, {"threads", g.threads}, {"blocks", g.blocks}};
  emitted.source = absl::StrCat(FilePrelude(), helpers, first, second);
  emitted.scratch_bytes = ScratchBytes(kernel, folds, g.blocks, g.columns);
  Launch walk;
  walk.function = absl::StrCat(kernel.name, "_rows");
  walk.grid = g.blocks;
  walk.block = static_cast<int>(g.threads);
  emitted.launches = {walk, FinishLaunch(kernel, finish)};
  SetArguments(kernel, &emitted);
  return emitted;
}

}  // namespace ridge::cuda
