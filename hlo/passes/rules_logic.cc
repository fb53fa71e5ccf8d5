// Rules of comparisons, selections, bit operations and shifts. All exact.
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

using Dir = ComparisonDirection;

ElementType Type(const Instruction* i) { return i->shape().type(); }

Dir DirectionOf(const Instruction* i) {
  return i->enum_attr(AttrId::kDirection, Dir::kEq);
}

// One row per direction: the direction with operands swapped, the opposite
// one, and what x <dir> x gives.
struct DirectionFacts {
  Dir swapped;
  Dir opposite;
  bool of_same;
};
constexpr DirectionFacts kDirectionFacts[] = {
    /*kEq*/ {Dir::kEq, Dir::kNe, true},
    /*kNe*/ {Dir::kNe, Dir::kEq, false},
    /*kGe*/ {Dir::kLe, Dir::kLt, true},
    /*kGt*/ {Dir::kLt, Dir::kLe, false},
    /*kLe*/ {Dir::kGe, Dir::kGt, true},
    /*kLt*/ {Dir::kGt, Dir::kGe, false},
};
const DirectionFacts& Facts(Dir d) {
  return kDirectionFacts[static_cast<int>(d)];
}

Instruction* WithDirection(Rewriter& r, const Instruction* like, Instruction* x,
                           Instruction* y, Dir direction) {
  Instruction* c = r.AddLike(*like, {x, y}, like->shape());
  c->SetAttr(AttrId::kDirection, EnumValue{static_cast<int32_t>(direction)});
  return c;
}

Instruction* PredSplat(Rewriter& r, const Instruction* i, bool value) {
  return r.Splat(ElementType::kPred, i->shape().dims(), value ? 1 : 0);
}

// ---- compare ----

Instruction* CompareConstantRight(Instruction* i, Rewriter& r) {
  if (SplatOf(i->operand(0)) == nullptr || SplatOf(i->operand(1)) != nullptr) {
    return nullptr;
  }
  return WithDirection(r, i, i->operand(1), i->operand(0),
                       Facts(DirectionOf(i)).swapped);
}

Instruction* CompareSelf(Instruction* i, Rewriter& r) {
  if (i->operand(0) != i->operand(1)) return nullptr;
  ElementType t = Type(i->operand(0));
  bool ordered =
      IsInteger(t) || IsPred(t) || (IsFloat(t) && r.options().allow_nan_unsafe);
  if (!ordered) return nullptr;
  return PredSplat(r, i, Facts(DirectionOf(i)).of_same);
}

Instruction* CompareUnsignedWithZero(Instruction* i, Rewriter& r) {
  ElementType t = Type(i->operand(0));
  if (!IsUnsigned(t) || !IsAll(i->operand(1), 0)) return nullptr;
  if (DirectionOf(i) == Dir::kLt) return PredSplat(r, i, false);
  if (DirectionOf(i) == Dir::kGe) return PredSplat(r, i, true);
  return nullptr;
}

Instruction* ComparePredWithConstant(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (!IsPred(Type(x))) return nullptr;
  std::optional<double> c = SplatValue(i->operand(1));
  Dir d = DirectionOf(i);
  if (!c.has_value() || (d != Dir::kEq && d != Dir::kNe)) return nullptr;
  bool keeps = (d == Dir::kEq) == (*c != 0);
  return keeps ? x : r.Add(Opcode::kNot, i->shape(), {x});
}

Instruction* NotOfCompare(Instruction* i, Rewriter& r) {
  Instruction* c = i->operand(0);
  if (c->use_count() != 1) return nullptr;
  ElementType t = Type(c->operand(0));
  Dir d = DirectionOf(c);
  // NaN is unequal to everything, and neither below nor above anything.
  bool exact = IsInteger(t) || IsPred(t) || d == Dir::kEq || d == Dir::kNe;
  if (!exact) return nullptr;
  return WithDirection(r, c, c->operand(0), c->operand(1), Facts(d).opposite);
}

// ---- select ----

Instruction* SelectConstant(Instruction* i, Rewriter& r) {
  if (!i->operand(0)->shape().SameDims(i->shape()) &&
      !i->operand(0)->shape().IsScalar()) {
    return nullptr;
  }
  std::optional<double> p = SplatValue(i->operand(0));
  if (!p.has_value()) return nullptr;
  return i->operand(*p != 0 ? 1 : 2);
}

Instruction* SelectSame(Instruction* i, Rewriter& r) {
  return i->operand(1) == i->operand(2) ? i->operand(1) : nullptr;
}

Instruction* SelectOfNot(Instruction* i, Rewriter& r) {
  return r.Add(Opcode::kSelect, i->shape(),
               {i->operand(0)->operand(0), i->operand(2), i->operand(1)});
}

Instruction* SelectOfBooleans(Instruction* i, Rewriter& r) {
  Instruction* p = i->operand(0);
  if (!IsPred(Type(i)) || !p->shape().SameDims(i->shape())) return nullptr;
  if (IsAll(i->operand(1), 1) && IsAll(i->operand(2), 0)) return p;
  if (IsAll(i->operand(1), 0) && IsAll(i->operand(2), 1)) {
    return r.Add(Opcode::kNot, i->shape(), {p});
  }
  return nullptr;
}

Instruction* SelectOfSelect(Instruction* i, Rewriter& r) {
  // The same predicate again: one side of the inner selection is dead.
  Instruction* p = i->operand(0);
  for (int k : {1, 2}) {
    Instruction* inner = i->operand(k);
    if (inner->opcode() != Opcode::kSelect || inner->operand(0) != p) continue;
    Instruction* operands[] = {p, i->operand(1), i->operand(2)};
    operands[k] = inner->operand(k);
    return r.Add(Opcode::kSelect, i->shape(), operands);
  }
  return nullptr;
}

// ---- and, or, xor, not ----

Instruction* BitConstantRight(Instruction* i, Rewriter& r) {
  if (SplatOf(i->operand(0)) == nullptr || SplatOf(i->operand(1)) != nullptr) {
    return nullptr;
  }
  return r.Add(i->opcode(), i->shape(), {i->operand(1), i->operand(0)});
}

Instruction* BitNeutral(Instruction* i, Rewriter& r) {
  return IsNeutral(i->opcode(), i->operand(1)) ? i->operand(0) : nullptr;
}

Instruction* BitAbsorbing(Instruction* i, Rewriter& r) {
  bool absorbs = i->opcode() == Opcode::kAnd ? IsAll(i->operand(1), 0)
                                             : IsAllOnes(i->operand(1));
  return absorbs ? i->operand(1) : nullptr;
}

Instruction* BitSame(Instruction* i, Rewriter& r) {
  return i->operand(0) == i->operand(1) ? i->operand(0) : nullptr;
}

Instruction* XorSelf(Instruction* i, Rewriter& r) {
  if (i->operand(0) != i->operand(1)) return nullptr;
  return r.Splat(Type(i), i->shape().dims(), 0);
}

Instruction* XorOnes(Instruction* i, Rewriter& r) {
  if (!IsAllOnes(i->operand(1))) return nullptr;
  return r.Add(Opcode::kNot, i->shape(), {i->operand(0)});
}

// ---- shifts ----

Instruction* ShiftByZero(Instruction* i, Rewriter& r) {
  return IsAll(i->operand(1), 0) ? i->operand(0) : nullptr;
}

Instruction* ShiftPastWidth(Instruction* i, Rewriter& r) {
  // HLO defines it: logical shifts by the width or more give 0. The count is
  // read as unsigned, so a negative one is past the width as well.
  if (i->opcode() == Opcode::kShiftRightArithmetic) return nullptr;
  std::optional<double> count = SplatValue(i->operand(1));
  if (!count.has_value() || (*count >= 0 && *count < Info(Type(i)).bits)) {
    return nullptr;
  }
  return r.Splat(Type(i), i->shape().dims(), 0);
}

constexpr RewriteRule kRules[] = {
    {"compare-constant-right", Opcode::kCompare, kAnyOpcode, "c < x = x > c",
     CompareConstantRight},
    {"compare-self", Opcode::kCompare, kAnyOpcode, "x <= x = true",
     CompareSelf},
    {"compare-unsigned-zero", Opcode::kCompare, kAnyOpcode,
     "x < 0u = false, x >= 0u = true", CompareUnsignedWithZero},
    {"compare-pred-constant", Opcode::kCompare, kAnyOpcode,
     "p == true = p, p == false = !p", ComparePredWithConstant},
    {"not-of-compare", Opcode::kNot, Opcode::kCompare, "!(x < y) = x >= y",
     NotOfCompare},
    {"select-constant", Opcode::kSelect, kAnyOpcode, "select(true, x, y) = x",
     SelectConstant},
    {"select-same", Opcode::kSelect, kAnyOpcode, "select(p, x, x) = x",
     SelectSame},
    {"select-of-not", Opcode::kSelect, Opcode::kNot,
     "select(!p, x, y) = select(p, y, x)", SelectOfNot},
    {"select-of-booleans", Opcode::kSelect, kAnyOpcode,
     "select(p, true, false) = p", SelectOfBooleans},
    {"select-of-select", Opcode::kSelect, kAnyOpcode,
     "select(p, select(p, x, y), z) = select(p, x, z)", SelectOfSelect},
    {"and-constant-right", Opcode::kAnd, kAnyOpcode, "c & x = x & c",
     BitConstantRight},
    {"or-constant-right", Opcode::kOr, kAnyOpcode, "c | x = x | c",
     BitConstantRight},
    {"xor-constant-right", Opcode::kXor, kAnyOpcode, "c ^ x = x ^ c",
     BitConstantRight},
    {"and-ones", Opcode::kAnd, kAnyOpcode, "x & ~0 = x", BitNeutral},
    {"or-zero", Opcode::kOr, kAnyOpcode, "x | 0 = x", BitNeutral},
    {"xor-zero", Opcode::kXor, kAnyOpcode, "x ^ 0 = x", BitNeutral},
    {"and-zero", Opcode::kAnd, kAnyOpcode, "x & 0 = 0", BitAbsorbing},
    {"or-ones", Opcode::kOr, kAnyOpcode, "x | ~0 = ~0", BitAbsorbing},
    {"and-self", Opcode::kAnd, kAnyOpcode, "x & x = x", BitSame},
    {"or-self", Opcode::kOr, kAnyOpcode, "x | x = x", BitSame},
    {"xor-self", Opcode::kXor, kAnyOpcode, "x ^ x = 0", XorSelf},
    {"xor-ones", Opcode::kXor, kAnyOpcode, "x ^ ~0 = ~x", XorOnes},
    {"shift-left-zero", Opcode::kShiftLeft, kAnyOpcode, "x << 0 = x",
     ShiftByZero},
    {"shift-right-logical-zero", Opcode::kShiftRightLogical, kAnyOpcode,
     "x >>> 0 = x", ShiftByZero},
    {"shift-right-arithmetic-zero", Opcode::kShiftRightArithmetic, kAnyOpcode,
     "x >> 0 = x", ShiftByZero},
    {"shift-left-past-width", Opcode::kShiftLeft, kAnyOpcode,
     "x << n = 0 where n >= width", ShiftPastWidth},
    {"shift-right-past-width", Opcode::kShiftRightLogical, kAnyOpcode,
     "x >>> n = 0 where n >= width", ShiftPastWidth},
};

}  // namespace

absl::Span<const RewriteRule> LogicRules() { return kRules; }

}  // namespace ridge
