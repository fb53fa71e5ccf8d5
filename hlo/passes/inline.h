// Inlining of called computations.
#ifndef RIDGE_HLO_PASSES_INLINE_H_
#define RIDGE_HLO_PASSES_INLINE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/passes/pass.h"

namespace ridge {

// Copies the instructions of `callee` before `call` (in its computation), with
// `arguments` for the parameters, and returns the copy of the root. Copies
// keep their own locations and metadata; where they have none they take those
// of `call`. InvalidArgument where the arguments do not fit.
absl::StatusOr<Instruction*> InlineBefore(
    Instruction* call, const Computation& callee,
    absl::Span<Instruction* const> arguments);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_INLINE_H_
