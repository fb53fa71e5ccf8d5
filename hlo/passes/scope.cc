#include "hlo/passes/scope.h"

#include "absl/container/flat_hash_set.h"

namespace ridge {

std::vector<Computation*> ComputationsInScope(Module* module,
                                              const PassOptions& options) {
  absl::flat_hash_set<const Computation*> fused;
  if (!options.inside_fusions) {
    for (const Computation* c : module->computations()) {
      for (const Instruction* i : c->instructions()) {
        if (i->opcode() == Opcode::kFusion) fused.insert(i->calls());
      }
    }
  }
  std::vector<Computation*> result;
  for (Computation* c : module->computations()) {
    if (!fused.contains(c)) result.push_back(c);
  }
  return result;
}

}  // namespace ridge
