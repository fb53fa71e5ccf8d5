#include "hlo/passes/loop_rewriter.h"

#include "absl/container/flat_hash_map.h"

namespace ridge {
namespace {

int64_t Callers(const Module& module, const Computation* callee) {
  int64_t n = 0;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      for (const Computation* called : i->called_computations()) {
        if (called == callee) ++n;
      }
    }
  }
  return n;
}

// A copy that shares the computations which `source` calls, placed before
// `caller`.
Computation* Copy(const Computation& source, Computation* caller) {
  absl::flat_hash_map<const Computation*, Computation*> map;
  for (const Instruction* i : source.instructions()) {
    for (Computation* called : i->called_computations()) map[called] = called;
  }
  Module* module = source.module();
  Computation* copy = module->CloneComputation(source, &map, source.name());
  module->MoveComputationBefore(copy, caller);
  return copy;
}

void Renumber(Instruction* parameter, const std::vector<int64_t>& new_index,
              const Shape& shape) {
  for (Instruction* user : parameter->users()) {
    user->SetAttr(AttrId::kIndex, new_index[user->tuple_index()]);
  }
  parameter->set_shape(shape);
}

}  // namespace

void OwnLoopComputations(Instruction* loop) {
  Module* module = loop->module();
  for (AttrId id : {AttrId::kBody, AttrId::kCondition}) {
    Computation* c = loop->computation(id);
    if (Callers(*module, c) < 2) continue;
    loop->SetAttr(id, Copy(*c, loop->parent()));
  }
}

Instruction* ReplaceLoopState(Instruction* loop, const LoopState& state,
                              const std::vector<bool>& keep,
                              absl::Span<Instruction* const> added) {
  Computation* caller = loop->parent();
  std::vector<int64_t> new_index(state.size(), -1);
  std::vector<Shape> shapes;
  std::vector<Instruction*> init;
  std::vector<Instruction*> next;
  for (int64_t k = 0; k < state.size(); ++k) {
    if (!keep[k]) continue;
    new_index[k] = shapes.size();
    shapes.push_back(loop->shape().tuple_shape(k));
    init.push_back(state.init->operand(k));
    next.push_back(state.root->operand(k));
  }
  int64_t kept = shapes.size();
  for (Instruction* a : added) {
    shapes.push_back(a->shape());
    init.push_back(a);
  }
  Shape shape = Shape::Tuple(shapes);
  // Elements that only pass dropped state on die with it.
  Renumber(state.condition_parameter, new_index, shape);
  Computation* body = state.root->parent();
  Instruction* old_root = state.root;
  body->set_root(nullptr);
  for (int64_t k = 0; k < static_cast<int64_t>(added.size()); ++k) {
    Instruction* element = body->Add(Opcode::kGetTupleElement,
                                     added[k]->shape(), {state.parameter});
    // Numbered after the old ones, until Renumber.
    element->SetAttr(AttrId::kIndex, state.size() + k);
    element->set_location(added[k]->location());
    next.push_back(element);
    new_index.push_back(kept + k);
  }
  Instruction* root = body->Add(Opcode::kTuple, shape, next, old_root->name());
  root->set_location(old_root->location());
  body->set_root(root);
  body->Remove(old_root);
  for (Instruction* user : state.parameter->users()) {
    if (user->use_count() == 0) body->Remove(user);
  }
  Renumber(state.parameter, new_index, shape);
  Instruction* new_init =
      caller->Add(Opcode::kTuple, shape, init, "tuple", loop);
  new_init->set_location(state.init->location());
  Instruction* new_loop = caller->AddLike(*loop, {new_init}, &shape, loop);
  std::vector<Instruction*> elements(state.size(), nullptr);
  for (Instruction* user : loop->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) continue;
    user->SetAttr(AttrId::kIndex, new_index[user->tuple_index()]);
    user->ReplaceOperand(0, new_loop);
  }
  if (loop->use_count() > 0 || loop->IsRoot()) {
    // The whole state is wanted: all of it was kept.
    for (int64_t k = 0; k < state.size(); ++k) {
      elements[k] =
          caller->Add(Opcode::kGetTupleElement, loop->shape().tuple_shape(k),
                      {new_loop}, "get-tuple-element", loop);
      elements[k]->SetAttr(AttrId::kIndex, new_index[k]);
      elements[k]->set_location(loop->location());
    }
    Instruction* whole =
        caller->Add(Opcode::kTuple, loop->shape(), elements, "tuple", loop);
    whole->set_location(loop->location());
    loop->ReplaceAllUsesWith(whole);
  }
  caller->Remove(loop);
  return new_loop;
}

}  // namespace ridge
