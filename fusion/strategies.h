// Strategies: from a canonical module to a plan.
#ifndef RIDGE_FUSION_STRATEGIES_H_
#define RIDGE_FUSION_STRATEGIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "fusion/decision_log.h"
#include "fusion/group_analysis.h"
#include "fusion/plan.h"
#include "fusion/pricer.h"

namespace ridge {

struct StrategyOptions {
  DecisionLog* log = nullptr;  // every decision, if asked for
  // Prices that decide where a fusion has a cost as well (recomputation, fewer
  // rows at work, registers). Null: EstimatePricer. Where it answers
  // Unimplemented the fusion is not made.
  GroupPricer* pricer = nullptr;
  FusionLimits limits;
};

// "none": every instruction runs alone; only what rides along (scalars, iotas,
//   broadcasts) goes with its readers.
// "greedy": merges groups along the edges of the graph, the largest values
//   first, wherever the result is legal and not slower; then groups that read
//   a large value in common; then computes cheap values again rather than
//   store them; then lets independent loops of one size, whose results leave
//   the computation, share a launch.
absl::Span<const absl::string_view> StrategyNames();

// Deterministic; time grows like the module. The plan is valid.
absl::StatusOr<Plan> MakePlan(const Module& module, absl::string_view strategy,
                              const StrategyOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_FUSION_STRATEGIES_H_
