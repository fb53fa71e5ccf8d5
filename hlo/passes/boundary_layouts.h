// Layouts that agree wherever a value passes from one computation to another,
// or in and out of a tuple, without being computed anew: what is a parameter,
// a result or an element there is the same memory. JAX writes branches whose
// root is laid out otherwise than the conditional, for one.
//
// Tuples, elements and barriers take the layouts of what they hold; before
// loops, branches and calls, and at the end of their computations, a copy comes
// where layouts differ. Exact. Rewrite rules take such copies for nothing: run
// this after them.
#ifndef RIDGE_HLO_PASSES_BOUNDARY_LAYOUTS_H_
#define RIDGE_HLO_PASSES_BOUNDARY_LAYOUTS_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> AgreeOnLayouts(Module* module, const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_BOUNDARY_LAYOUTS_H_
