// The rows of rules_test.cc.
#ifndef RIDGE_HLO_PASSES_RULES_TEST_CASES_H_
#define RIDGE_HLO_PASSES_RULES_TEST_CASES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ridge {

struct RuleCase {
  absl::string_view rule;
  absl::string_view before;  // the entry's instructions
  absl::string_view after;   // Expression() of the root
};

// Computations that rows call: sum, largest (f32), and so on.
extern const absl::string_view kRuleCaseComputations;

// Of the tables that compute (arithmetic, logic, converts), and of the others.
absl::Span<const RuleCase> ValueRuleCases();
absl::Span<const RuleCase> ShapeRuleCases();
// Rules that PassOptions must allow (NaN-unsafe, signs of zero), with it.
absl::Span<const RuleCase> UnsafeRuleCases();
// Rows that no rule may touch; `rule` says which one would be wrong to.
absl::Span<const RuleCase> KeptCases();

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_RULES_TEST_CASES_H_
