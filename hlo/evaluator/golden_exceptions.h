// Modules whose stored XLA outputs cannot lie within the derived bound, by
// name, each with a reason that is checked and not merely stated.
#ifndef RIDGE_HLO_EVALUATOR_GOLDEN_EXCEPTIONS_H_
#define RIDGE_HLO_EVALUATOR_GOLDEN_EXCEPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/evaluator/compare.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace ridge {

enum class GoldenReason {
  // XLA:CPU rounds every partial sum to the narrow type. Checked: the outputs
  // are within the bound when narrow sums may do that.
  kNarrowSums,
  // XLA kept more precision than the instructions say: a rounding between a
  // dot and a conversion elided, (x + c) - c simplified. Checked: what lies
  // outside the bound lies between the evaluator's value and that of an
  // evaluation in double, give or take the rounding of the type.
  kMoreExact,
  // A reduction starts from a value that is not neutral, and XLA applies it
  // once a vector lane, or not at all; HLO leaves that open. Checked: with some
  // whole multiple of the initial value, the outputs are within the bound.
  kStart,
  // A bitcast between layouts, which XLA's layout assignment has changed.
  // Checked: with layouts dropped, the outputs are within the bound.
  kBitcastLayout,
  // XLA:CPU left part of an output unwritten: a fusion that passes a parameter
  // on beside what it computes. Checked: there is such a fusion, and the stored
  // output has numbers (below 1e-30) that come from no input.
  kUnwritten,
  // A loop without end, which XLA removed because its state never changes.
  // Checked: the evaluation ends with max_steps, and the outputs are equal to
  // those with the loop replaced by its start, and by one step from there.
  kEndless,
  // XLA kept the f32 value of narrow arithmetic that is then converted to f32,
  // without the rounding between them. Checked: with some one such pair
  // computed in f32, the outputs are within the bound.
  kUnrounded,
  // XLA:CPU adds many equal numbers one by one in a narrow type, until adding
  // one more changes nothing. Checked: the stored sum is smaller than the exact
  // one, and stays the same when one more term is added and rounded.
  kSaturated,
  // A complex constant (nan, x), which XLA's reader takes as (nan, nan).
  // Checked: with that in their place, the outputs are within the bound.
  kNanConstant,
};

struct GoldenException {
  absl::string_view module;
  GoldenReason reason;
};

absl::Span<const GoldenException> GoldenExceptions();
const GoldenException* FindGoldenException(absl::string_view module);

// OK if the reason holds for this module and explains its stored result.
absl::Status CheckGoldenException(const GoldenException& exception,
                                  const Module& module,
                                  absl::Span<const Literal> arguments,
                                  const Literal& stored);

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_GOLDEN_EXCEPTIONS_H_
