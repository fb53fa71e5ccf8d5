// Strategies: from a canonical module to a plan.
#ifndef RIDGE_FUSION_STRATEGIES_H_
#define RIDGE_FUSION_STRATEGIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fusion/legality.h"
#include "fusion/plan.h"

namespace ridge {

struct StrategyOptions {
  DecisionLog* log = nullptr;  // every decision, if asked for
};

// "none": every instruction runs alone; only what rides along (scalars, iotas,
//   broadcasts of scalars) goes with its readers.
// "greedy": grows groups along the edges of the graph as far as legality goes,
//   then reads of shared inputs, then recomputes cheap values rather than
//   store them.
absl::Span<const absl::string_view> StrategyNames();

// Deterministic; time grows like the module. The plan is valid.
absl::StatusOr<Plan> MakePlan(const Module& module, absl::string_view strategy,
                              const StrategyOptions& options = {});

// The instructions that each group computes for itself, by group; what rides
// along and what a group computes again for its own use are left out.
std::vector<std::vector<const Instruction*>> PiecesOf(
    const ComputationPlan& plan);

// The plan whose groups compute the given instructions: the inverse of
// PiecesOf. `recompute`: cheap values may be computed in two groups rather than
// stored. Instructions in no piece run alone. InvalidArgument where pieces
// wait for each other in a ring.
absl::StatusOr<ComputationPlan> PlanFromPieces(
    const Computation& computation,
    const std::vector<std::vector<const Instruction*>>& pieces, bool recompute,
    int64_t* next_number);

// A group's members from its roots: everything in `allowed` that they need,
// plus what rides along. Fills pattern, hero and name.
// `number` goes into the name.
Group MakeGroup(const std::vector<const Instruction*>& roots,
                const std::vector<const Instruction*>& allowed, int64_t number);

}  // namespace ridge

#endif  // RIDGE_FUSION_STRATEGIES_H_
