// The tables of rewrite rules, one a file. A pass applies one or several of
// them; the pipeline applies all from one worklist.
#ifndef RIDGE_HLO_PASSES_RULES_H_
#define RIDGE_HLO_PASSES_RULES_H_

#include <vector>

#include "absl/types/span.h"
#include "hlo/passes/rewrite_rule.h"

namespace ridge {

// algebraic_simplifier:
absl::Span<const RewriteRule> ArithmeticRules();  // add, multiply, power ...
absl::Span<const RewriteRule> LogicRules();    // compare, select, and, shifts
absl::Span<const RewriteRule> ConvertRules();  // convert, bitcast-convert
absl::Span<const RewriteRule> ReshapeRules();  // reshape, transpose, bitcast
absl::Span<const RewriteRule> BroadcastRules();
absl::Span<const RewriteRule> SliceRules();   // slice, pad, concatenate ...
absl::Span<const RewriteRule> ReduceRules();  // reduce, reduce-window
absl::Span<const RewriteRule> TupleRules();   // tuple, while and conditional

// Passes of their own:
absl::Span<const RewriteRule> UnitDimensionRules();
absl::Span<const RewriteRule> BroadcastSinkingRules();
absl::Span<const RewriteRule> ConvertMoverRules();
absl::Span<const RewriteRule> DotRules();
absl::Span<const RewriteRule> GatherScatterRules();

// Every table above, in the order in which a worklist tries them.
std::vector<absl::Span<const RewriteRule>> AllRuleTables();

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_RULES_H_
