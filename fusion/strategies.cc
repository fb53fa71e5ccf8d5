#include "fusion/strategies.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fusion/assemble.h"
#include "fusion/greedy.h"
#include "fusion/validate.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

using PiecesFn = std::vector<PlanPiece> (*)(const Computation&,
                                            const StrategyOptions&);

std::vector<PlanPiece> NoPieces(const Computation&, const StrategyOptions&) {
  return {};
}

struct Row {
  absl::string_view name;
  PiecesFn pieces;
};
constexpr Row kStrategies[] = {{"none", NoPieces}, {"greedy", GreedyPieces}};
constexpr absl::string_view kNames[] = {"none", "greedy"};

}  // namespace

absl::Span<const absl::string_view> StrategyNames() { return kNames; }

absl::StatusOr<Plan> MakePlan(const Module& module, absl::string_view strategy,
                              const StrategyOptions& options) {
  for (const Row& row : kStrategies) {
    if (row.name != strategy) continue;
    RIDGE_RETURN_IF_ERROR(CheckSizes(module));
    Plan plan;
    plan.strategy = std::string(strategy);
    plan.module_fingerprint = FingerprintModule(module);
    int64_t number = 0;
    for (const Computation* c : PlannedComputations(module)) {
      RIDGE_ASSIGN_OR_RETURN(
          ComputationPlan one,
          Assemble(*c, row.pieces(*c, options), options.limits, &number));
      plan.computations.push_back(std::move(one));
    }
    RIDGE_RETURN_IF_ERROR(ValidatePlan(module, plan));
    return plan;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown strategy '", strategy,
                   "'; known: ", absl::StrJoin(StrategyNames(), ", ")));
}

}  // namespace ridge
