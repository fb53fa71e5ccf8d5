// Operation counts of instructions.
#ifndef RIDGE_HLO_ANALYSIS_COST_COUNTS_H_
#define RIDGE_HLO_ANALYSIS_COST_COUNTS_H_

#include <cstdint>

#include "hlo/ir/module.h"

namespace ridge {

// Floating-point (or integer) operations, each element of an elementwise
// instruction counting one; a multiply-add counts two. Called computations are
// counted with their instruction; a while loop's body counts once, since its
// trips are not known here. Saturates.
int64_t Flops(const Instruction& instruction);

}  // namespace ridge

#endif  // RIDGE_HLO_ANALYSIS_COST_COUNTS_H_
