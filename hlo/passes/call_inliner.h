// Calls become what they call: `call` (composites too), and custom calls that
// mean nothing on one device (Sharding, LayoutConstraint ...) become their
// operand. Exact. opt-barrier stays: its purpose is to be in the way.
#ifndef RIDGE_HLO_PASSES_CALL_INLINER_H_
#define RIDGE_HLO_PASSES_CALL_INLINER_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> InlineCalls(Module* module, const PassOptions& options);

// Maps whose computation is elementwise become instructions on whole arrays:
// map(x, y), to_apply=add -> add(x, y). Exact.
absl::StatusOr<bool> InlineMaps(Module* module, const PassOptions& options);

// Fusions become their bodies, so that a module which another compiler fused
// can be planned anew. Exact. Not part of the pipeline.
absl::StatusOr<bool> InlineFusions(Module* module, const PassOptions& options);

// True for a custom call that is its operand on one device.
bool IsIdentityCustomCall(const Instruction& i);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_CALL_INLINER_H_
