#include "hlo/passes/boundary_layouts.h"

#include <vector>

namespace ridge {
namespace {

DimVector Order(const Shape& array) {
  return array.has_layout() ? array.layout().minor_to_major
                            : DescendingLayout(array.rank());
}

// Whether the same bytes stand for the same value. Types and sizes agree.
bool SameMemory(const Shape& a, const Shape& b) {
  if (a.IsTuple()) {
    for (size_t k = 0; k < a.tuple_shapes().size(); ++k) {
      if (!SameMemory(a.tuple_shape(k), b.tuple_shape(k))) return false;
    }
    return true;
  }
  return !a.IsArray() || Order(a) == Order(b);
}

class Boundaries {
 public:
  bool Run(Computation* c) {
    // The list grows; what is added agrees.
    std::vector<Instruction*> list;
    for (Instruction* i : c->instructions()) list.push_back(i);
    for (Instruction* i : list) Visit(i);
    return changed_;
  }

 private:
  void Visit(Instruction* i) {
    switch (i->opcode()) {
      case Opcode::kTuple: {
        std::vector<Shape> parts;
        for (const Instruction* o : i->operands()) parts.push_back(o->shape());
        Take(i, Shape::Tuple(parts));
        break;
      }
      case Opcode::kGetTupleElement:
        Take(i, i->operand(0)->shape().tuple_shape(i->tuple_index()));
        break;
      case Opcode::kOptimizationBarrier:
      case Opcode::kDomain:
      case Opcode::kAddDependency:
        Take(i, i->operand(0)->shape());
        break;
      case Opcode::kWhile: {
        Computation* body = i->computation(AttrId::kBody);
        const Shape state = body->parameter(0)->shape();
        Take(i->computation(AttrId::kCondition)->parameter(0), state);
        Give(i, 0, state);
        Leave(body, state);
        Take(i, state);
        break;
      }
      case Opcode::kConditional: {
        const std::vector<Computation*> branches = i->branches();
        for (size_t b = 0; b < branches.size(); ++b) {
          Give(i, b + 1, branches[b]->parameter(0)->shape());
          Leave(branches[b], i->shape());
        }
        break;
      }
      case Opcode::kCall: {
        Computation* callee = i->to_apply();
        for (int64_t k = 0; k < i->operand_count(); ++k) {
          Give(i, k, callee->parameter(k)->shape());
        }
        Leave(callee, i->shape());
        break;
      }
      default:
        break;
    }
  }

  // `i` is laid out as `like` is.
  void Take(Instruction* i, const Shape& like) {
    if (SameMemory(i->shape(), like)) return;
    i->set_shape(like);
    changed_ = true;
  }

  // Operand k of `i` is laid out as `wanted` is.
  void Give(Instruction* i, int64_t k, const Shape& wanted) {
    Instruction* x = i->operand(k);
    if (SameMemory(x->shape(), wanted)) return;
    i->ReplaceOperand(k, CopyAs(x, wanted, i));
    changed_ = true;
  }

  // The result of `c` is laid out as `wanted` is.
  void Leave(Computation* c, const Shape& wanted) {
    Instruction* root = c->root();
    if (SameMemory(root->shape(), wanted)) return;
    c->set_root(CopyAs(root, wanted, nullptr));
    if (root->IsDead()) c->Remove(root);
    changed_ = true;
  }

  // A new value, in the list ahead of `before` or at its end.
  Instruction* CopyAs(Instruction* x, const Shape& wanted,
                      Instruction* before) {
    if (SameMemory(x->shape(), wanted)) return x;
    Computation* c = x->parent();
    if (!x->shape().IsTuple()) {
      return c->Add(Opcode::kCopy, wanted, {x}, "", before);
    }
    std::vector<Instruction*> parts;
    std::vector<Shape> shapes;
    for (size_t k = 0; k < x->shape().tuple_shapes().size(); ++k) {
      Instruction* part = nullptr;
      if (x->opcode() == Opcode::kTuple) {
        part = x->operand(k);
      } else {
        part = c->Add(Opcode::kGetTupleElement, x->shape().tuple_shape(k), {x},
                      "", before);
        part->SetAttr(AttrId::kIndex, static_cast<int64_t>(k));
      }
      parts.push_back(CopyAs(part, wanted.tuple_shape(k), before));
      shapes.push_back(parts.back()->shape());
    }
    return c->Add(Opcode::kTuple, Shape::Tuple(shapes), parts, "", before);
  }

  bool changed_ = false;
};

}  // namespace

absl::StatusOr<bool> AgreeOnLayouts(Module* module, const PassOptions&) {
  bool changed = false;
  // Callees come before their callers.
  for (Computation* c : module->computations()) {
    changed = Boundaries().Run(c) || changed;
  }
  return changed;
}

}  // namespace ridge
