// Rules of tuples, and of control flow whose way is known. All exact.
#include <algorithm>

#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

Instruction* ElementOfTuple(Instruction* i, Rewriter& r) {
  return i->operand(0)->operand(i->tuple_index());
}

Instruction* TupleOfElements(Instruction* i, Rewriter& r) {
  if (i->operand_count() == 0) return nullptr;
  Instruction* whole = nullptr;
  for (int64_t k = 0; k < i->operand_count(); ++k) {
    Instruction* e = i->operand(k);
    if (e->opcode() != Opcode::kGetTupleElement || e->tuple_index() != k) {
      return nullptr;
    }
    if (whole != nullptr && e->operand(0) != whole) return nullptr;
    whole = e->operand(0);
  }
  return whole->shape().Compatible(i->shape()) ? whole : nullptr;
}

// A loop whose condition is false before the first step.
Instruction* WhileNever(Instruction* i, Rewriter& r) {
  const Computation* condition = i->computation(AttrId::kCondition);
  if (condition == nullptr || condition->root() == nullptr ||
      i->HasSideEffect() || !IsAll(condition->root(), 0)) {
    return nullptr;
  }
  return i->operand(0);
}

// The branch that is taken, as a call, which the call inliner opens.
Instruction* ConditionalKnown(Instruction* i, Rewriter& r) {
  std::optional<double> v = SplatValue(i->operand(0));
  if (!v.has_value()) return nullptr;
  std::vector<Computation*> branches = i->branches();
  int64_t count = branches.size();
  int64_t taken;
  if (IsPred(i->operand(0)->shape().type())) {
    taken = *v != 0 ? 0 : 1;
  } else {
    // Out of range means the last one.
    int64_t index = static_cast<int64_t>(*v);
    taken = index < 0 || index >= count ? count - 1 : index;
  }
  if (taken >= count || taken + 1 >= i->operand_count() ||
      branches[taken] == nullptr) {
    return nullptr;
  }
  Instruction* call = r.Add(Opcode::kCall, i->shape(), {i->operand(1 + taken)});
  call->SetAttr(AttrId::kToApply, branches[taken]);
  return call;
}

Instruction* DimensionSize(Instruction* i, Rewriter& r) {
  if (i->dimensions().size() != 1) return nullptr;
  return r.Scalar(i->shape().type(),
                  i->operand(0)->shape().dim(i->dimensions()[0]));
}

Instruction* DomainOfAnything(Instruction* i, Rewriter& r) {
  return i->operand(0);
}

constexpr RewriteRule kRules[] = {
    {"element-of-tuple", Opcode::kGetTupleElement, Opcode::kTuple,
     "get-tuple-element(tuple(x, y), 1) = y", ElementOfTuple},
    {"tuple-of-elements", Opcode::kTuple, Opcode::kGetTupleElement,
     "tuple(t[0], t[1]) = t", TupleOfElements},
    {"while-never", Opcode::kWhile, kAnyOpcode, "while(false, x) = x",
     WhileNever},
    {"conditional-known", Opcode::kConditional, kAnyOpcode,
     "conditional(true, f(x), g(y)) = f(x)", ConditionalKnown},
    {"dimension-size", Opcode::kGetDimensionSize, kAnyOpcode,
     "get-dimension-size(x: [n]) = n", DimensionSize},
    {"domain", Opcode::kDomain, kAnyOpcode, "domain(x) = x", DomainOfAnything},
};

}  // namespace

absl::Span<const RewriteRule> TupleRules() { return kRules; }

}  // namespace ridge
