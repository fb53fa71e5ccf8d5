// Why two instructions share a kernel, or not: the rule with its value and
// limit, the price term by term, and the nearest change that would flip it.
#ifndef RIDGE_FUSION_EXPLAIN_H_
#define RIDGE_FUSION_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fusion/decision_log.h"
#include "fusion/group_analysis.h"
#include "fusion/plan.h"
#include "fusion/pricer.h"

namespace ridge {

struct Explanation {
  const Instruction* a = nullptr;
  const Instruction* b = nullptr;
  // Groups that compute them; several where a value is computed twice.
  std::vector<const Group*> groups_of_a;
  std::vector<const Group*> groups_of_b;
  const Group* shared = nullptr;  // holds both; null: none does
  // Where none does: whether the groups that store them could be one.
  Decision decision;
  const Instruction* at = nullptr;    // the member that breaks the rule
  std::vector<const Group*> between;  // kCycle: the groups in between
  // Prices of the groups that store a and b, and of both as one; absent where
  // a rule decides before any price.
  std::optional<GroupPrice> price_a;
  std::optional<GroupPrice> price_b;
  std::optional<GroupPrice> price_fused;
  std::string flip;  // the nearest change that would flip the decision
  // What the strategy decided about the two on its way, where it kept a log.
  DecisionLog history;

  std::string ToString() const;
};

// `a` and `b` are instruction names ("%x" or "x"), of one computation.
// `pricer` null: EstimatePricer. `log` may be null. NotFound: no such
// instruction; InvalidArgument: two computations, or one that no group
// computes (a parameter, a tuple).
absl::StatusOr<Explanation> Explain(const Module& module, const Plan& plan,
                                    absl::string_view a, absl::string_view b,
                                    GroupPricer* pricer = nullptr,
                                    const FusionLimits& limits = {},
                                    const DecisionLog* log = nullptr);

}  // namespace ridge

#endif  // RIDGE_FUSION_EXPLAIN_H_
