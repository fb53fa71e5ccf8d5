// The parallel space of a reduce group: which value lies where over it.
//
// The space is the hero's operand, one variable a dimension at first. From
// there homes spread through the group: an elementwise instruction lies where
// its operands lie, a reduce keeps its kept dimensions, a broadcast passes
// home to what it repeats, a reshape, bitcast or transpose rearranges. A value
// with a home is indexed by it alone; a reduce whose operand has a home folds
// over the space's own variables. Neighbouring dimensions that the same
// reductions fold over then become one variable, and homes are found anew.
//
// In a row reduction all reduced dimensions become one variable, the last,
// wherever they lie: a row of f32[N,H,W,G,C] over H,W,C is H*W pieces of C
// elements, and its element e is at (n, e div (W*C), e div C mod W, g, e mod
// C).
#ifndef RIDGE_BACKENDS_KERNEL_SPACE_H_
#define RIDGE_BACKENDS_KERNEL_SPACE_H_

#include "backends/kernel/builder.h"

namespace ridge {

using HomeMap = absl::flat_hash_map<const Instruction*, IndexTuple>;

// Homes of the group's members and their operands, with `origin` at `index`.
HomeMap SpreadHomes(KernelBuilder* b, const Instruction* origin,
                    const IndexTuple& index);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_SPACE_H_
