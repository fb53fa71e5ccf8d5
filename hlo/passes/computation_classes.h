// Structural equality of computations.
#ifndef RIDGE_HLO_PASSES_COMPUTATION_CLASSES_H_
#define RIDGE_HLO_PASSES_COMPUTATION_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/module.h"

namespace ridge {

// Equal up to names, metadata and source locations: opcode, shape with
// layout, attributes and literal. Operands and control predecessors are
// compared by `same_operand(a, b)`, called computations by
// `same_computation(a, b)`.
template <typename SameOperand, typename SameComputation>
bool InstructionsEqual(const Instruction& a, const Instruction& b,
                       SameOperand&& same_operand,
                       SameComputation&& same_computation);

// Hash of what InstructionsEqual compares, but for operands, control
// predecessors and called computations.
uint64_t HashWithoutOperands(const Instruction& i);

// Attributes that say where an instruction came from, not what it does.
bool IsProvenance(AttrId id);

// Two computations of the module get the same representative (the first in
// module order) exactly when they compute the same value by the same
// instructions in the same order.
class ComputationClasses {
 public:
  explicit ComputationClasses(const Module& module);
  Computation* representative(Computation* c) const;
  bool Same(const Computation* a, const Computation* b) const {
    return a == b || Class(a) == Class(b);
  }

 private:
  const Computation* Class(const Computation* c) const;
  absl::flat_hash_map<const Computation*, Computation*> class_of_;
};

// ---- Implementation ----

bool AttributesEqual(
    const Instruction& a, const Instruction& b,
    const std::function<bool(const Computation*, const Computation*)>& same);

template <typename SameOperand, typename SameComputation>
bool InstructionsEqual(const Instruction& a, const Instruction& b,
                       SameOperand&& same_operand,
                       SameComputation&& same_computation) {
  if (a.opcode() != b.opcode() || a.operand_count() != b.operand_count() ||
      a.parameter_number() != b.parameter_number() ||
      a.control_predecessors().size() != b.control_predecessors().size()) {
    return false;
  }
  // Shapes are interned, so most comparisons end at the address.
  if (&a.shape() != &b.shape() && a.shape() != b.shape()) return false;
  for (int64_t k = 0; k < a.operand_count(); ++k) {
    if (!same_operand(a.operand(k), b.operand(k))) return false;
  }
  for (size_t k = 0; k < a.control_predecessors().size(); ++k) {
    if (!same_operand(a.control_predecessors()[k],
                      b.control_predecessors()[k])) {
      return false;
    }
  }
  if (a.opcode() == Opcode::kConstant) {
    if (a.shared_literal() != b.shared_literal() &&
        (a.literal().elided() || b.literal().elided() ||
         !(a.literal() == b.literal()))) {
      return false;
    }
  }
  return AttributesEqual(a, b, same_computation);
}

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_COMPUTATION_CLASSES_H_
