// What a set of instructions would be as one kernel: its pattern and hero, its
// iteration space, what it reads and writes, what it computes more than once;
// or the rule that forbids it.
//
// The rules, for groups of more than one computing instruction:
//  - walls (sort, convolution, custom calls, ...) run alone; a dot takes only
//    an epilogue of the libraries' forms (fusion/gemm_epilogue.h);
//  - a scatter or dynamic-update-slice is the one root of its group; what it
//    updates is read from memory, or rides along;
//  - without folds, every root has as many elements as the space;
//  - with folds (reductions of more than one element), every fold folds values
//    of the whole space M. Row folds fold one set K of axes that is contiguous
//    and minor in memory; all others are column folds. Values after a row fold
//    may be of its rows or of the whole space again; values after a column
//    fold only of its own result. Row folds over K, column folds that keep K
//    and roots of the whole space share one pass (kRowColumn);
//  - folds that all fold one set K which holds the minor axis, and other axes
//    than its neighbours, are row folds too where values of the whole space
//    wait for them: rows in pieces, such as a group norm's of [N,H,W,G,C] over
//    H,W,C. Pieces are whole sectors, and rows short enough for a cluster;
//  - column folds over different axes see the axes before the row as two runs,
//    outer and middle ones, and fold one run or both; then no value of M waits
//    for a fold (backends/kernel/schedules/multi_reduce.h);
//  - a value computed from a fold is never needed at other rows than its own
//    (by a slice, a gather, a transposed second use);
//  - what is computed again for each element that reads it costs at most
//    FusionLimits::max_recomputed_ops for each point of the space;
//  - kernel parameters and instructions are bounded.
#ifndef RIDGE_FUSION_GROUP_ANALYSIS_H_
#define RIDGE_FUSION_GROUP_ANALYSIS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "fusion/legality.h"
#include "fusion/plan.h"

namespace ridge {

// Limits of one kernel, each of them a rule that `explain` names.
struct FusionLimits {
  // Operands and results. CUDA passes 4 KB of parameters, 8 bytes each, and
  // every operand keeps a base address in a register.
  int64_t max_operands = 96;
  // Scalar instructions of one kernel, those that are computed at several
  // indices counted again. This many still compile in well under a second;
  // threefry alone takes some 150.
  int64_t max_instructions = 2000;
  // Add-like operations computed again, for each point of the space.
  double max_recomputed_ops = 16;
  // Column folds in one kernel with row folds or with roots of the whole space.
  bool row_column = true;
  // Column folds over different axes in one kernel.
  bool mixed_columns = true;
  // Rows in pieces: bytes of a piece are a multiple of the first, those of a
  // row (of the value folded) at most the second: eight blocks' registers. More
  // would be read again, which costs what separate kernels do; 0: none.
  int64_t piece_bytes = 32;
  int64_t max_row_bytes_in_pieces = 640 << 10;
  // Points of independent loops that share a launch. Larger ones fill a device
  // each, and run beside each other anyway where launches may overlap; one
  // kernel with the streams of all of them is slower than they are (measured on
  // H200 with the steps of an optimizer: 62% of the bandwidth).
  int64_t max_horizontal_points = 1 << 18;
  // What a dot may take into its library call (see gemm_epilogue.h).
  Numerics numerics = Numerics::kAsWritten;
};

struct GroupAnalysis {
  Decision decision;  // allowed, or the rule that forbids the group
  const Instruction* at = nullptr;  // the member that breaks the rule
  GroupPattern pattern = GroupPattern::kLoop;
  const Instruction* hero = nullptr;

  int64_t points = 1;   // of the iteration space
  int64_t rows = 0;     // row folds: results of one of them
  int64_t columns = 0;  // row folds: elements folded into a result
  int folds = 0;
  // Row folds on the longest path: how often a row is gone through.
  int phases = 0;
  // A root of the whole space that waits for a row fold.
  bool row_kept = false;
  // Values of the whole space that lie transposed in memory to the space.
  int transposed = 0;

  double ops = 0;        // add-like operations, all told
  double extra_ops = 0;  // of these, computed again
  int64_t instructions = 0;
  // Bytes read (of each input, in the order of GroupInputs) and written.
  std::vector<std::pair<const Instruction*, int64_t>> reads;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
};

// Members in list order; roots among them.
GroupAnalysis AnalyzeGroup(absl::Span<const Instruction* const> members,
                           absl::Span<const Instruction* const> roots,
                           const FusionLimits& limits = {});

}  // namespace ridge

#endif  // RIDGE_FUSION_GROUP_ANALYSIS_H_
