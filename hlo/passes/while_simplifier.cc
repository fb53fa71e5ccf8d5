#include <algorithm>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/passes/loop_analysis.h"
#include "hlo/passes/loop_rewriter.h"
#include "hlo/passes/rewriter.h"
#include "hlo/passes/scope.h"
#include "hlo/passes/while_passes.h"

namespace ridge {
namespace {

bool HasControlEdges(const Instruction& i) {
  return i.has_control_successors() || !i.control_predecessors().empty();
}

// Elements that stay what they are: the value before the loop serves after
// it, and scalar constants serve inside.
bool UseInvariants(Instruction* loop, const LoopState& state) {
  bool changed = false;
  std::vector<bool> invariant = InvariantElements(state);
  for (Instruction* user : loop->users()) {
    if (user->opcode() != Opcode::kGetTupleElement ||
        !invariant[user->tuple_index()] || HasControlEdges(*user)) {
      continue;
    }
    Instruction* before = state.init->operand(user->tuple_index());
    if (!SameShapeAndLayout(before->shape(), user->shape())) continue;
    if (user->use_count() == 0 && !user->IsRoot()) continue;
    user->ReplaceAllUsesWith(before);
    changed = true;
  }
  for (Instruction* parameter : {state.parameter, state.condition_parameter}) {
    for (Instruction* reader : parameter->users()) {
      int64_t k = reader->tuple_index();
      Instruction* before = state.init->operand(k);
      if (!invariant[k] || before->opcode() != Opcode::kConstant ||
          !before->shape().IsScalar()) {
        continue;
      }
      // The one use that passes it on stays.
      bool only_passed_on =
          reader->use_count() == 1 && reader->uses()[0].user == state.root;
      if (only_passed_on || reader->use_count() == 0) continue;
      Instruction* constant =
          reader->parent()->AddLike(*before, {}, nullptr, reader);
      reader->ReplaceAllUsesWith(constant);
      if (parameter == state.parameter) {
        Instruction* pass_on = reader->parent()->AddLike(*reader, {parameter},
                                                         nullptr, state.root);
        state.root->ReplaceOperand(k, pass_on);
      }
      changed = true;
    }
  }
  return changed;
}

// Whether some element is read by nothing but its own next value.
std::vector<bool> LiveElements(const Instruction& loop,
                               const LoopState& state) {
  std::vector<bool> live(state.size(), false);
  if (loop.IsRoot() || HasControlEdges(loop)) {
    return std::vector<bool>(state.size(), true);
  }
  for (const Use& use : loop.uses()) {
    if (use.user->opcode() != Opcode::kGetTupleElement) {
      return std::vector<bool>(state.size(), true);
    }
    live[use.user->tuple_index()] = true;
  }
  // Everything in the body with a side effect, and the condition, are live.
  // From an element of the next state liveness goes back to the elements of
  // the state it is made from.
  const Computation* body = state.root->parent();
  std::vector<uint8_t> marked(body->module()->id_bound(), 0);
  std::vector<const Instruction*> stack;
  auto mark = [&](const Instruction* i) {
    if (marked[i->id()] != 0) return;
    marked[i->id()] = 1;
    stack.push_back(i);
  };
  std::vector<int64_t> pending;
  auto make_live = [&](int64_t k) {
    live[k] = true;
    mark(state.root->operand(k));
  };
  for (const Use& use : state.condition_parameter->uses()) {
    live[use.user->tuple_index()] = true;
  }
  for (const Instruction* i : body->instructions()) {
    if (i->HasSideEffect() || HasControlEdges(*i)) mark(i);
  }
  for (int64_t k = 0; k < state.size(); ++k) {
    if (live[k]) make_live(k);
  }
  while (!stack.empty()) {
    const Instruction* i = stack.back();
    stack.pop_back();
    if (i->opcode() == Opcode::kGetTupleElement &&
        i->operand(0) == state.parameter) {
      if (!live[i->tuple_index()]) make_live(i->tuple_index());
      continue;
    }
    for (const Instruction* o : i->operands()) mark(o);
  }
  return live;
}

bool DropDeadElements(Instruction* loop, const LoopState& state) {
  std::vector<bool> live = LiveElements(*loop, state);
  int64_t dead = std::count(live.begin(), live.end(), false);
  // A loop without state is not a loop; the condition keeps it alive anyway.
  if (dead == 0 || dead == state.size()) return false;
  OwnLoopComputations(loop);
  std::optional<LoopState> own = PlainLoopState(*loop);
  if (!own.has_value()) return false;
  // Dead chains in the body end at the root alone: cut them there.
  Computation* body = own->root->parent();
  for (int64_t k = 0; k < own->size(); ++k) {
    if (live[k]) continue;
    // Any value of the right shape will do until the root is rebuilt.
    Instruction* self =
        body->Add(Opcode::kGetTupleElement, own->root->operand(k)->shape(),
                  {own->parameter}, "", own->root);
    self->SetAttr(AttrId::kIndex, k);
    own->root->ReplaceOperand(k, self);
  }
  Instruction* i = own->root->previous();
  while (i != nullptr) {
    Instruction* previous = i->previous();
    if (i->IsDead()) body->Remove(i);
    i = previous;
  }
  ReplaceLoopState(loop, *own, live, {});
  return true;
}

// Unrolls what runs at most once.
bool OpenShortLoop(Instruction* loop) {
  std::optional<int64_t> trips = TripCount(*loop);
  if (!trips.has_value() || *trips > 1 ||
      !SameShapeAndLayout(loop->operand(0)->shape(), loop->shape())) {
    return false;
  }
  // The condition of a counted loop may have effects in what it ignores.
  for (const Instruction* i :
       loop->computation(AttrId::kCondition)->instructions()) {
    if (i->HasSideEffect()) return false;
  }
  Instruction* replacement = loop->operand(0);
  if (*trips == 1) {
    replacement = loop->parent()->Add(Opcode::kCall, loop->shape(),
                                      {loop->operand(0)}, "call", loop);
    replacement->SetAttr(AttrId::kToApply, loop->computation(AttrId::kBody));
    replacement->set_location(loop->location());
    if (const AttrValue* metadata = loop->FindAttr(AttrId::kMetadata)) {
      replacement->SetAttr(AttrId::kMetadata, *metadata);
    }
  }
  loop->ReplaceAllUsesWith(replacement);
  loop->parent()->Remove(loop);
  return true;
}

}  // namespace

absl::StatusOr<bool> SimplifyWhileLoops(Module* module,
                                        const PassOptions& options) {
  bool changed = false;
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (i->opcode() != Opcode::kWhile || HasControlEdges(*i)) continue;
      if (OpenShortLoop(i)) {
        changed = true;
        continue;
      }
      std::optional<LoopState> state = PlainLoopState(*i);
      if (!state.has_value()) continue;
      std::vector<bool> invariant = InvariantElements(*state);
      if (std::find(invariant.begin(), invariant.end(), true) !=
          invariant.end()) {
        OwnLoopComputations(i);
        state = PlainLoopState(*i);
        if (!state.has_value()) continue;
        changed |= UseInvariants(i, *state);
      }
      changed |= DropDeadElements(i, *state);
    }
  }
  if (changed) module->RemoveUnreachableComputations();
  return changed;
}

}  // namespace ridge
