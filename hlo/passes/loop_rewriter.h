// Changing the state of a while loop.
#ifndef RIDGE_HLO_PASSES_LOOP_REWRITER_H_
#define RIDGE_HLO_PASSES_LOOP_REWRITER_H_

#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "hlo/passes/loop_analysis.h"

namespace ridge {

// Body and condition of `loop` become its own: copies, if anything else calls
// them as well.
void OwnLoopComputations(Instruction* loop);

// Replaces `loop`, which owns its computations and has the plain form, by one
// with other state: the elements of the old state that `keep` names, then
// `added` values of the caller, which are invariant. The body may already read
// the latter: added[k] is element state.size() + k of its parameter. Returns
// the new loop; uses of the old one are replaced, and it is removed. Uses of
// dropped elements, in the caller, body and condition, must be gone before,
// but for those by which an element passes itself on.
Instruction* ReplaceLoopState(Instruction* loop, const LoopState& state,
                              const std::vector<bool>& keep,
                              absl::Span<Instruction* const> added);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_LOOP_REWRITER_H_
