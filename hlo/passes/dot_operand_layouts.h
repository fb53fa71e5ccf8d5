// Dots whose operands and results are batched matrices in memory too, which is
// what matrix libraries take: batch dimensions first, then free and contracting
// dimensions, each kind in one run. The dot rules see to the logical order;
// where a layout lies across it, a copy in row-major order comes between.
// Exact. Rewrite rules take such copies for nothing: run this after them.
#ifndef RIDGE_HLO_PASSES_DOT_OPERAND_LAYOUTS_H_
#define RIDGE_HLO_PASSES_DOT_OPERAND_LAYOUTS_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> LayOutDotOperands(Module* module,
                                       const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_DOT_OPERAND_LAYOUTS_H_
