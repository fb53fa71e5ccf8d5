#include "hlo/passes/dot_operand_layouts.h"

#include <algorithm>
#include <vector>

#include "absl/types/span.h"

namespace ridge {
namespace {

bool Contains(Ints dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

// Whether the dimensions lie as [batch, x, y]: `role` says which of three runs
// a dimension is in, 0 being the batch's. Those of size 1 lie anywhere.
template <typename RoleOf>
bool LiesAsMatrix(const Shape& shape, RoleOf role) {
  if (!shape.has_layout()) return true;
  const auto& minor_to_major = shape.layout().minor_to_major;
  int runs = 0;
  int64_t last = -1;
  int last_role = -1;
  bool seen[3] = {false, false, false};
  for (auto it = minor_to_major.rbegin(); it != minor_to_major.rend(); ++it) {
    if (shape.dim(*it) == 1) continue;
    const int r = role(*it);
    if (r != last_role) {
      if (seen[r] || (r == 0 && runs > 0)) return false;
      seen[r] = true;
      ++runs;
    } else if (*it < last) {
      return false;
    }
    last = *it;
    last_role = r;
  }
  return true;
}

Shape RowMajor(const Shape& shape) {
  Shape s = shape;
  Layout layout;
  layout.minor_to_major = DescendingLayout(shape.rank());
  s.set_layout(layout);
  return s;
}

bool LayOut(Instruction* dot) {
  bool changed = false;
  Computation* c = dot->parent();
  for (int k : {0, 1}) {
    const Ints batch =
        dot->ints(k == 0 ? AttrId::kLhsBatchDims : AttrId::kRhsBatchDims);
    const Ints contract = dot->ints(k == 0 ? AttrId::kLhsContractingDims
                                           : AttrId::kRhsContractingDims);
    Instruction* x = dot->operand(k);
    if (LiesAsMatrix(x->shape(), [&](int64_t d) {
          return Contains(batch, d) ? 0 : Contains(contract, d) ? 1 : 2;
        })) {
      continue;
    }
    Instruction* copy =
        c->Add(Opcode::kCopy, RowMajor(x->shape()), {x}, "", dot);
    dot->ReplaceOperand(k, copy);
    changed = true;
  }
  const int64_t batch = dot->ints(AttrId::kLhsBatchDims).size();
  const int64_t left = dot->operand(0)->shape().rank() -
                       dot->ints(AttrId::kLhsContractingDims).size();
  if (LiesAsMatrix(dot->shape(), [&](int64_t d) {
        return d < batch ? 0 : d < left ? 1 : 2;
      })) {
    return changed;
  }
  Instruction* plain = c->AddLike(*dot, dot->operands(), nullptr, dot);
  plain->set_shape(RowMajor(dot->shape()));
  Instruction* copy = c->Add(Opcode::kCopy, dot->shape(), {plain}, "", dot);
  dot->ReplaceAllUsesWith(copy);
  return true;
}

}  // namespace

absl::StatusOr<bool> LayOutDotOperands(Module* module, const PassOptions&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    std::vector<Instruction*> dots;
    for (Instruction* i : c->instructions()) {
      if (i->opcode() == Opcode::kDot && i->operand_count() == 2) {
        dots.push_back(i);
      }
    }
    for (Instruction* dot : dots) {
      changed = LayOut(dot) || changed;
      if (dot->IsDead()) c->Remove(dot);
    }
  }
  return changed;
}

}  // namespace ridge
