#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/passes/loop_analysis.h"
#include "hlo/passes/loop_rewriter.h"
#include "hlo/passes/scope.h"
#include "hlo/passes/while_passes.h"

namespace ridge {
namespace {

bool IsExpensive(const Instruction& i) {
  switch (Info(i.opcode()).op_class) {
    case OpClass::kContraction:
    case OpClass::kReduce:
    case OpClass::kLinalg:
      return true;
    default:
      return i.opcode() == Opcode::kSort || i.opcode() == Opcode::kTopK;
  }
}

// What may run once instead of in every step, and before the loop even if it
// takes none: no effects, no random state, nothing that can fail.
bool MayMove(const Instruction& i) {
  if (!i.shape().IsArray() || !i.shape().IsStatic() || i.HasSideEffect() ||
      i.has_control_successors() || !i.control_predecessors().empty()) {
    return false;
  }
  switch (Info(i.opcode()).op_class) {
    case OpClass::kElementwise:
    case OpClass::kShape:
    case OpClass::kReduce:
    case OpClass::kContraction:
    case OpClass::kIndexed:
    case OpClass::kLinalg:
      return true;
    default:
      return false;
  }
}

// Worth a place in the loop's state: not cheaper to make again than to keep.
bool MayCarry(const Instruction& i) {
  if (IsExpensive(i)) return true;
  int64_t operand_bytes = 0;
  for (const Instruction* o : i.operands()) {
    // A constant costs nothing to have at hand in the body.
    if (o->opcode() != Opcode::kConstant) {
      operand_bytes += o->shape().ByteSize();
    }
  }
  switch (i.opcode()) {
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kIota:
      return false;  // a view, or a formula
    default:
      return i.shape().ByteSize() <= operand_bytes;
  }
}

bool MoveFrom(Instruction* loop) {
  std::optional<LoopState> state = PlainLoopState(*loop);
  if (!state.has_value()) return false;
  std::vector<bool> invariant_element = InvariantElements(*state);
  const Computation* body = state->root->parent();
  // Invariant by id, and of those what is not an element or a constant.
  absl::flat_hash_map<const Instruction*, bool> invariant;
  std::vector<const Instruction*> moved;
  for (const Instruction* i : body->instructions()) {
    if (i->opcode() == Opcode::kConstant) {
      invariant[i] = true;
      continue;
    }
    if (i->opcode() == Opcode::kGetTupleElement &&
        i->operand(0) == state->parameter) {
      if (invariant_element[i->tuple_index()]) invariant[i] = true;
      continue;
    }
    if (i->operand_count() == 0 || !MayMove(*i)) continue;
    bool all = true;
    for (const Instruction* o : i->operands()) all &= invariant.contains(o);
    if (!all) continue;
    invariant[i] = true;
    moved.push_back(i);
  }
  // Carried: wanted in the body, and worth its place. What is wanted but not
  // worth it stays in the body, and wants its operands there. Users come after
  // operands, so one backward walk settles it.
  std::vector<const Instruction*> carried;
  absl::flat_hash_map<const Instruction*, bool> stays;
  for (auto it = moved.rbegin(); it != moved.rend(); ++it) {
    const Instruction* i = *it;
    bool wanted = false;
    for (const Use& use : i->uses()) {
      wanted |= !invariant.contains(use.user) || stays.contains(use.user);
    }
    if (!wanted) continue;
    if (MayCarry(*i)) {
      carried.push_back(i);
    } else {
      stays[i] = true;
    }
  }
  std::reverse(carried.begin(), carried.end());
  if (carried.empty()) return false;

  // The list order of copies must not depend on ids: note positions first.
  OwnLoopComputations(loop);
  std::optional<LoopState> own = PlainLoopState(*loop);
  if (!own.has_value()) return false;
  Computation* own_body = own->root->parent();
  absl::flat_hash_map<const Instruction*, Instruction*> own_of;
  Instruction* at = own_body->first();
  for (Instruction* i : body->InstructionVector()) {
    own_of[i] = at;
    at = at->next();
  }

  // Copy what the carried values need, in body order, before the loop.
  absl::flat_hash_map<const Instruction*, bool> needed;
  std::vector<const Instruction*> stack(carried.begin(), carried.end());
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    if (!needed.emplace(i, true).second) continue;
    if (i->opcode() == Opcode::kGetTupleElement) continue;
    for (const Instruction* o : i->operands()) stack.push_back(o);
  }
  absl::flat_hash_map<const Instruction*, Instruction*> outside;
  for (const Instruction* i : body->InstructionVector()) {
    if (!needed.contains(i)) continue;
    if (i->opcode() == Opcode::kGetTupleElement) {
      outside[i] = state->init->operand(i->tuple_index());
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) operands.push_back(outside[o]);
    outside[i] =
        loop->parent()->AddLike(*i, operands, nullptr, loop, i->name());
  }
  std::vector<Instruction*> added;
  for (const Instruction* i : carried) {
    Instruction* inside = own_of[i];
    Instruction* element = own_body->Add(
        Opcode::kGetTupleElement, inside->shape(), {own->parameter},
        "get-tuple-element", own->parameter->next());
    element->SetAttr(AttrId::kIndex,
                     own->size() + static_cast<int64_t>(added.size()));
    element->set_location(inside->location());
    inside->ReplaceAllUsesWith(element);
    added.push_back(outside[i]);
  }
  Instruction* i = own->root->previous();
  while (i != nullptr) {
    Instruction* previous = i->previous();
    if (i->IsDead()) own_body->Remove(i);
    i = previous;
  }
  ReplaceLoopState(loop, *own, std::vector<bool>(own->size(), true), added);
  return true;
}

}  // namespace

absl::StatusOr<bool> MoveLoopInvariants(Module* module,
                                        const PassOptions& options) {
  bool changed = false;
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (i->opcode() != Opcode::kWhile || i->has_control_successors() ||
          !i->control_predecessors().empty()) {
        continue;
      }
      changed |= MoveFrom(i);
    }
  }
  if (changed) module->RemoveUnreachableComputations();
  return changed;
}

}  // namespace ridge
