// Dead code elimination: drops instructions without uses, effects or control
// edges, and computations that the entry does not reach. Exact.
#ifndef RIDGE_HLO_PASSES_DCE_H_
#define RIDGE_HLO_PASSES_DCE_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> EliminateDeadCode(Module* module,
                                       const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_DCE_H_
