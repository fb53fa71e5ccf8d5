// From pieces to plans: which values must be stored, who stores them, what
// each group then holds, and in which order groups run. Every strategy and
// every change of a plan ends here.
#ifndef RIDGE_FUSION_ASSEMBLE_H_
#define RIDGE_FUSION_ASSEMBLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "fusion/group_analysis.h"
#include "fusion/plan.h"

namespace ridge {

// The instructions that a group answers for. What rides along (RidesAlong) is
// in no piece: a group takes what of it its members read.
struct PlanPiece {
  // Computed here for whoever needs it. In at most one piece of a plan.
  std::vector<const Instruction*> own;
  // Owned by another piece, but computed here again for own use.
  std::vector<const Instruction*> copies;
  ScheduleChoice schedule;
};

// The groups of `pieces`: members are what the stored values need, within the
// piece. Instructions in no piece run alone; values that nothing needs are
// dropped. Patterns and heroes come from AnalyzeGroup. Names take numbers from
// *next_number. InvalidArgument where pieces wait for each other in a ring
// (named), or a piece holds what is not of the computation, or a wall with
// company.
absl::StatusOr<ComputationPlan> Assemble(const Computation& computation,
                                         const std::vector<PlanPiece>& pieces,
                                         const FusionLimits& limits,
                                         int64_t* next_number);

// The pieces of a plan: Assemble's inverse, but for what was dropped.
std::vector<PlanPiece> PiecesOf(const ComputationPlan& plan);

}  // namespace ridge

#endif  // RIDGE_FUSION_ASSEMBLE_H_
