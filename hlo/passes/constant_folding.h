// Constant folding: instructions whose operands are all constants become
// constants, by the evaluator and therefore exactly what it would compute.
//
// Bounded (PassOptions::max_folded_elements, max_folding_work). Left alone:
// broadcasts and iotas (their constants would only be longer), loops, random
// numbers, custom calls, side effects, elided constants.
#ifndef RIDGE_HLO_PASSES_CONSTANT_FOLDING_H_
#define RIDGE_HLO_PASSES_CONSTANT_FOLDING_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> FoldConstants(Module* module, const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_CONSTANT_FOLDING_H_
