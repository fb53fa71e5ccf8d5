// The passes that are tables of rewrite rules (rules.h), each run to its own
// fixpoint from a worklist.
#ifndef RIDGE_HLO_PASSES_ALGEBRAIC_SIMPLIFIER_H_
#define RIDGE_HLO_PASSES_ALGEBRAIC_SIMPLIFIER_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

// Arithmetic, logic, conversions, shapes, reductions, tuples.
absl::StatusOr<bool> SimplifyAlgebra(Module* module,
                                     const PassOptions& options);
absl::StatusOr<bool> SqueezeUnitDimensions(Module* module,
                                           const PassOptions& options);
absl::StatusOr<bool> SinkBroadcasts(Module* module, const PassOptions& options);
absl::StatusOr<bool> MoveConverts(Module* module, const PassOptions& options);
absl::StatusOr<bool> CanonicalizeDots(Module* module,
                                      const PassOptions& options);
absl::StatusOr<bool> SimplifyGathers(Module* module,
                                     const PassOptions& options);

// All of them at once: one worklist, so that what one table makes possible
// for another costs no further walk over the module.
absl::StatusOr<bool> ApplyAllRules(Module* module, const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_ALGEBRAIC_SIMPLIFIER_H_
