#include "hlo/passes/constant_folding.h"

#include <utility>
#include <vector>

#include "hlo/evaluator/evaluator.h"
#include "hlo/passes/rewriter.h"
#include "hlo/passes/scope.h"

namespace ridge {
namespace {

bool MayFold(const Instruction& i) {
  if (i.operand_count() == 0 || !i.shape().IsArray() || !i.shape().IsStatic()) {
    return false;
  }
  switch (Info(i.opcode()).op_class) {
    case OpClass::kElementwise:
    case OpClass::kShape:
    case OpClass::kReduce:
    case OpClass::kContraction:
    case OpClass::kIndexed:
      break;
    default:
      return false;
  }
  // A reshape of a scalar is how a splat of one element is written.
  if (i.opcode() == Opcode::kBroadcast || i.opcode() == Opcode::kCopy ||
      (i.opcode() == Opcode::kReshape && i.operand(0)->shape().IsScalar())) {
    return false;
  }
  return i.control_predecessors().empty() && !i.has_control_successors() &&
         !i.HasSideEffect();
}

// A bound on the scalar operations of one evaluation.
int64_t Work(const Instruction& i) {
  int64_t largest = i.shape().ElementCount();
  for (const Instruction* o : i.operands()) {
    largest = std::max(largest, o->shape().ElementCount());
  }
  if (Info(i.opcode()).op_class == OpClass::kContraction ||
      i.opcode() == Opcode::kReduceWindow ||
      i.opcode() == Opcode::kSelectAndScatter) {
    return SaturatingMul(
        largest, std::max<int64_t>(i.operand(0)->shape().ElementCount(), 1));
  }
  return largest;
}

// The literal of `i`, looking through what canonical form puts around small
// constants; null where it is not constant.
const Instruction* ConstantOf(const Instruction* i) {
  if (i->opcode() == Opcode::kConstant && !i->literal().elided()) return i;
  return nullptr;
}

bool IsSmallSplat(const Instruction* i) {
  return (i->opcode() == Opcode::kBroadcast ||
          i->opcode() == Opcode::kReshape) &&
         i->operand(0)->opcode() == Opcode::kConstant &&
         !i->operand(0)->literal().elided();
}

}  // namespace

absl::StatusOr<bool> FoldConstants(Module* module, const PassOptions& options) {
  bool changed = false;
  EvalOptions evaluation;
  evaluation.max_threads = 1;
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (!MayFold(*i) ||
          i->shape().ElementCount() > options.max_folded_elements) {
        continue;
      }
      bool any_plain = false;
      bool all = true;
      for (const Instruction* o : i->operands()) {
        bool plain = ConstantOf(o) != nullptr;
        any_plain |= plain;
        all &=
            plain || (IsSmallSplat(o) && o->shape().IsStatic() &&
                      o->shape().ElementCount() <= options.max_folded_elements);
      }
      // With splats alone the rules do better: they keep the result a splat.
      if (!all || !any_plain || Work(*i) > options.max_folding_work) continue;
      std::vector<Literal> operands;
      for (const Instruction* o : i->operands()) {
        if (o->opcode() == Opcode::kConstant) {
          operands.push_back(o->literal());
          continue;
        }
        absl::StatusOr<Literal> wide =
            EvaluateInstruction(*o, {o->operand(0)->literal()}, evaluation);
        if (!wide.ok()) break;
        operands.push_back(*std::move(wide));
      }
      if (operands.size() != static_cast<size_t>(i->operand_count())) continue;
      // What the evaluator refuses stays for run time to refuse.
      absl::StatusOr<Literal> value =
          EvaluateInstruction(*i, operands, evaluation);
      if (!value.ok() || !value->shape().Compatible(i->shape())) continue;
      *value->mutable_shape() = i->shape();
      Rewriter r(options);
      r.set_target(i);
      Instruction* constant = r.Constant(*std::move(value));
      Rewriter::Replace(i, constant, /*takes_name=*/true);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ridge
