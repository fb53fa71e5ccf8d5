// Passes over while loops whose state has the plain form of loop_analysis.h.
#ifndef RIDGE_HLO_PASSES_WHILE_PASSES_H_
#define RIDGE_HLO_PASSES_WHILE_PASSES_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

// Simplifies loops:
//   a loop of no step is its initial value, one of one step a call of its body;
//   an element that no step changes is, after the loop, its initial value, and
//   inside it the constant that it starts with, if that is a scalar;
//   an element that nothing reads but its own next value is dropped.
// Exact. Loops with side effects in their bodies keep all steps.
absl::StatusOr<bool> SimplifyWhileLoops(Module* module,
                                        const PassOptions& options);

// Moves what is the same in every step before the loop, and carries it in as
// another element. Only what is no larger than its operands together, or
// worth many operations an element (dot, convolution, reductions, sort);
// so that memory held during the loop grows only where time is saved. Exact.
absl::StatusOr<bool> MoveLoopInvariants(Module* module,
                                        const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_WHILE_PASSES_H_
