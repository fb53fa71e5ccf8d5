#include "hlo/passes/call_inliner.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/status_macros.h"
#include "hlo/passes/inline.h"
#include "hlo/passes/rewriter.h"
#include "hlo/passes/scope.h"

namespace ridge {
namespace {

// Targets that annotate their operand and compute nothing.
constexpr absl::string_view kIdentityTargets[] = {
    "Sharding",
    "LayoutConstraint",
    "annotate_device_placement",
    "MoveToHost",
    "MoveToDevice",
    "PinToDevice",
    "PinToDeviceSram",
    "xla.sdy.FuncResultSharding",
};

// `i` is replaced by `replacement` unless control edges hold it in place or
// the layouts differ; then a copy keeps layout and order.
void ReplaceAndRemove(Instruction* i, Instruction* replacement) {
  if (!SameShapeAndLayout(i->shape(), replacement->shape()) &&
      i->shape().IsArray()) {
    Instruction* copy =
        i->parent()->Add(Opcode::kCopy, i->shape(), {replacement}, "copy", i);
    copy->set_location(i->location());
    replacement = copy;
  }
  i->ReplaceAllUsesWith(replacement);
  i->parent()->Remove(i);
}

bool HasControlEdges(const Instruction& i) {
  return i.has_control_successors() || !i.control_predecessors().empty();
}

// Callees come before callers, so a callee has no calls left when it is
// copied: the work is the size of the result.
absl::StatusOr<bool> InlineWhere(Module* module, const PassOptions& options,
                                 Opcode opcode, AttrId callee) {
  bool changed = false;
  // Not ComputationsInScope: calls inside fused computations stay, but the
  // bodies of the fusions that are opened here are in scope.
  std::vector<Computation*> computations =
      opcode == Opcode::kFusion
          ? std::vector<Computation*>(module->computations().begin(),
                                      module->computations().end())
          : ComputationsInScope(module, options);
  for (Computation* computation : computations) {
    for (Instruction* i : computation->instructions()) {
      if (i->opcode() != opcode || HasControlEdges(*i)) continue;
      Computation* called = i->computation(callee);
      if (called == nullptr || !called->execution_thread().empty()) continue;
      if (!called->root()->shape().Compatible(i->shape())) continue;
      RIDGE_ASSIGN_OR_RETURN(Instruction * root,
                             InlineBefore(i, *called, i->operands()));
      ReplaceAndRemove(i, root);
      changed = true;
    }
  }
  if (changed) module->RemoveUnreachableComputations();
  return changed;
}

// An elementwise computation of scalars, none of them wider than the map.
bool IsElementwiseBody(const Computation& c) {
  for (const Instruction* i : c.instructions()) {
    if (!i->shape().IsScalar() || HasControlEdges(*i)) return false;
    if (i->opcode() == Opcode::kParameter || i->opcode() == Opcode::kConstant) {
      continue;
    }
    if (!IsElementwise(i->opcode())) return false;
  }
  return true;
}

Instruction* OpenMap(Instruction* map, Rewriter& r) {
  absl::flat_hash_map<const Instruction*, Instruction*> arrays;
  absl::Span<const int64_t> dims = map->shape().dims();
  for (const Instruction* i : map->to_apply()->instructions()) {
    if (i->opcode() == Opcode::kParameter) {
      arrays[i] = map->operand(i->parameter_number());
      continue;
    }
    if (i->opcode() == Opcode::kConstant) {
      Literal literal = i->literal();
      arrays[i] = r.Broadcast(r.Constant(std::move(literal)), {}, dims);
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) operands.push_back(arrays[o]);
    Shape shape = map->shape();
    shape.set_type(i->shape().type());
    Instruction* copy = r.AddLike(*i, operands, shape);
    if (i->location().line != 0) copy->set_location(i->location());
    arrays[i] = copy;
  }
  return arrays[map->to_apply()->root()];
}

}  // namespace

bool IsIdentityCustomCall(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall || i.operand_count() != 1 ||
      !i.shape().Compatible(i.operand(0)->shape())) {
    return false;
  }
  absl::string_view target = i.text(AttrId::kCustomCallTarget);
  for (absl::string_view t : kIdentityTargets) {
    if (t == target) return true;
  }
  return false;
}

absl::StatusOr<bool> InlineCalls(Module* module, const PassOptions& options) {
  bool changed = false;
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (!IsIdentityCustomCall(*i) || HasControlEdges(*i)) continue;
      ReplaceAndRemove(i, i->operand(0));
      changed = true;
    }
  }
  RIDGE_ASSIGN_OR_RETURN(
      bool inlined,
      InlineWhere(module, options, Opcode::kCall, AttrId::kToApply));
  return changed || inlined;
}

absl::StatusOr<bool> InlineMaps(Module* module, const PassOptions& options) {
  bool changed = false;
  Rewriter r(options);
  for (Computation* computation : ComputationsInScope(module, options)) {
    for (Instruction* i : computation->instructions()) {
      if (i->opcode() != Opcode::kMap || HasControlEdges(*i) ||
          i->to_apply() == nullptr || i->to_apply()->root() == nullptr ||
          i->to_apply()->parameters().size() !=
              static_cast<size_t>(i->operand_count()) ||
          !i->shape().IsArray() || !i->shape().IsStatic() ||
          !IsElementwiseBody(*i->to_apply())) {
        continue;
      }
      r.set_target(i);
      Instruction* result = OpenMap(i, r);
      if (!result->shape().Compatible(i->shape())) continue;
      ReplaceAndRemove(i, result);
      changed = true;
    }
  }
  if (changed) module->RemoveUnreachableComputations();
  return changed;
}

absl::StatusOr<bool> InlineFusions(Module* module, const PassOptions& options) {
  return InlineWhere(module, options, Opcode::kFusion, AttrId::kCalls);
}

}  // namespace ridge
