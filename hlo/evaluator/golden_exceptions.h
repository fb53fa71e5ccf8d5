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
};

struct GoldenException {
  absl::string_view module;
  GoldenReason reason;
};

absl::Span<const GoldenException> GoldenExceptions();
const GoldenException* FindGoldenException(absl::string_view module);

// OK if the reason holds for this module and explains the comparison.
absl::Status CheckGoldenException(const GoldenException& exception,
                                  const Module& module,
                                  absl::Span<const Literal> arguments,
                                  const Literal& stored,
                                  const Comparison& comparison);

}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_GOLDEN_EXCEPTIONS_H_
