#include "hlo/passes/cse.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "hlo/passes/computation_classes.h"
#include "hlo/passes/scope.h"

namespace ridge {
namespace {

bool MayMerge(const Instruction& i) {
  switch (Info(i.opcode()).op_class) {
    case OpClass::kRandom:
      return i.opcode() == Opcode::kRngBitGenerator;  // a pure function
    case OpClass::kCollective:
    case OpClass::kAsync:
    case OpClass::kHost:
      return false;
    default:
      break;
  }
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kCustomCall:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
      return false;
    default:
      return !i.has_control_successors() && i.control_predecessors().empty() &&
             !i.HasSideEffect();
  }
}

bool MergeIn(Computation* computation, const ComputationClasses& classes) {
  bool changed = false;
  absl::flat_hash_map<uint64_t, std::vector<Instruction*>> seen;
  auto same_operand = [](const Instruction* a, const Instruction* b) {
    return a == b;
  };
  auto same_computation = [&](const Computation* a, const Computation* b) {
    return classes.Same(a, b);
  };
  for (Instruction* i : computation->instructions()) {
    if (!MayMerge(*i)) continue;
    uint64_t hash = HashWithoutOperands(*i);
    for (const Instruction* o : i->operands()) {
      hash = absl::HashOf(hash, o->id());
    }
    std::vector<Instruction*>& candidates = seen[hash];
    Instruction* first = nullptr;
    for (Instruction* c : candidates) {
      if (InstructionsEqual(*c, *i, same_operand, same_computation)) {
        first = c;
        break;
      }
    }
    if (first == nullptr) {
      candidates.push_back(i);
      continue;
    }
    i->ReplaceAllUsesWith(first);
    computation->Remove(i);
    changed = true;
  }
  return changed;
}

// Points the applied computations of `module` at their representatives.
bool ShareApplied(Module* module, const ComputationClasses& classes) {
  bool changed = false;
  for (Computation* computation : module->computations()) {
    for (Instruction* i : computation->instructions()) {
      if (Info(i->opcode()).op_class == OpClass::kControl &&
          i->opcode() != Opcode::kMap) {
        continue;
      }
      Computation* applied = i->to_apply();
      if (applied == nullptr) continue;
      Computation* shared = classes.representative(applied);
      if (shared == applied) continue;
      i->SetAttr(AttrId::kToApply, shared);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> EliminateCommonSubexpressions(Module* module,
                                                   const PassOptions& options) {
  ComputationClasses classes(*module);
  bool changed = ShareApplied(module, classes);
  for (Computation* computation : ComputationsInScope(module, options)) {
    changed |= MergeIn(computation, classes);
  }
  if (changed) module->RemoveUnreachableComputations();
  return changed;
}

}  // namespace ridge
