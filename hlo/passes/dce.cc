#include "hlo/passes/dce.h"

#include <vector>

namespace ridge {

absl::StatusOr<bool> EliminateDeadCode(Module* module,
                                       const PassOptions& options) {
  bool changed = false;
  for (Computation* computation : module->computations()) {
    // Users come after operands, so one backward walk finds everything.
    Instruction* i = computation->last();
    while (i != nullptr) {
      Instruction* previous = i->previous();
      if (i->IsDead()) {
        computation->Remove(i);
        changed = true;
      }
      i = previous;
    }
  }
  size_t computations = module->computations().size();
  module->RemoveUnreachableComputations();
  return changed || module->computations().size() != computations;
}

}  // namespace ridge
