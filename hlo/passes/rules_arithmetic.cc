// Rules of arithmetic. Each is exact for every input (NaN, infinities and
// signed zeros included; payloads and signs of NaN aside) unless an option
// named in its function lets it be less.
#include <cmath>
#include <limits>

#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

ElementType Type(const Instruction* i) { return i->shape().type(); }

Instruction* SplatLike(Rewriter& r, const Instruction* i, double value) {
  return r.Splat(Type(i), i->shape().dims(), value);
}

// ---- add, subtract ----

Instruction* ConstantToTheRight(Instruction* i, Rewriter& r) {
  if (SplatOf(i->operand(0)) == nullptr || SplatOf(i->operand(1)) != nullptr) {
    return nullptr;
  }
  return r.AddLike(*i, {i->operand(1), i->operand(0)}, i->shape());
}

Instruction* AddZero(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (!IsAllZero(i->operand(1))) return nullptr;
  bool exact = !IsFloat(Type(i)) || IsAllNegativeZero(i->operand(1)) ||
               r.options().allow_signed_zero || NeverNegativeZero(x);
  return exact ? x : nullptr;
}

Instruction* AddNegated(Instruction* i, Rewriter& r) {
  // x + (-y): the IEEE definition of subtraction.
  Instruction* y = i->operand(1);
  if (y->opcode() == Opcode::kNegate) {
    return r.Add(Opcode::kSubtract, i->shape(), {i->operand(0), y->operand(0)});
  }
  Instruction* x = i->operand(0);
  if (x->opcode() == Opcode::kNegate) {
    return r.Add(Opcode::kSubtract, i->shape(), {y, x->operand(0)});
  }
  return nullptr;
}

Instruction* SubtractZero(Instruction* i, Rewriter& r) {
  const Instruction* zero = i->operand(1);
  if (!IsAllZero(zero)) return nullptr;
  // x - (-0) is x + 0.
  if (IsAllNegativeZero(zero) && !r.options().allow_signed_zero &&
      !NeverNegativeZero(i->operand(0))) {
    return nullptr;
  }
  return i->operand(0);
}

Instruction* ZeroMinus(Instruction* i, Rewriter& r) {
  const Instruction* zero = i->operand(0);
  if (!IsAllZero(zero)) return nullptr;
  // +0 - +0 is +0, but -(+0) is -0.
  if (IsFloat(Type(i)) && !IsAllNegativeZero(zero) &&
      !r.options().allow_signed_zero) {
    return nullptr;
  }
  return r.Add(Opcode::kNegate, i->shape(), {i->operand(1)});
}

Instruction* SubtractSelf(Instruction* i, Rewriter& r) {
  if (i->operand(0) != i->operand(1)) return nullptr;
  if (!IsInteger(Type(i)) &&
      !(IsFloat(Type(i)) && r.options().allow_nan_unsafe)) {
    return nullptr;
  }
  return SplatLike(r, i, 0);
}

Instruction* SubtractNegated(Instruction* i, Rewriter& r) {
  Instruction* y = i->operand(1);
  if (y->opcode() != Opcode::kNegate) return nullptr;
  return r.Add(Opcode::kAdd, i->shape(), {i->operand(0), y->operand(0)});
}

// (x op c1) op c2 for integers, where the order cannot matter.
Instruction* ReassociateIntegers(Instruction* i, Rewriter& r) {
  Instruction* inner = i->operand(0);
  if (inner->opcode() != i->opcode() || !IsInteger(Type(i)) ||
      SplatOf(i->operand(1)) == nullptr ||
      SplatOf(inner->operand(1)) == nullptr ||
      SplatOf(inner->operand(0)) != nullptr) {
    return nullptr;
  }
  Instruction* c =
      r.Add(i->opcode(), i->shape(), {inner->operand(1), i->operand(1)});
  return r.Add(i->opcode(), i->shape(), {inner->operand(0), c});
}

// ---- multiply, divide, remainder ----

Instruction* MultiplyOne(Instruction* i, Rewriter& r) {
  return IsAll(i->operand(1), 1) ? i->operand(0) : nullptr;
}

Instruction* MultiplyZero(Instruction* i, Rewriter& r) {
  if (!IsAllZero(i->operand(1))) return nullptr;
  if (IsFloat(Type(i)) && !r.options().allow_nan_unsafe) return nullptr;
  return i->operand(1);
}

Instruction* MultiplyMinusOne(Instruction* i, Rewriter& r) {
  if (!IsAll(i->operand(1), -1)) return nullptr;
  return r.Add(Opcode::kNegate, i->shape(), {i->operand(0)});
}

Instruction* BothNegated(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  Instruction* y = i->operand(1);
  if (x->opcode() != Opcode::kNegate || y->opcode() != Opcode::kNegate) {
    return nullptr;
  }
  // The quotient of integers overflows differently.
  if (i->opcode() == Opcode::kDivide && !IsIeeeFloat(Type(i))) return nullptr;
  return r.Add(i->opcode(), i->shape(), {x->operand(0), y->operand(0)});
}

Instruction* NegatedTimesConstant(Instruction* i, Rewriter& r) {
  // (-x) * c = x * (-c); both sides round the same number.
  std::optional<double> c = SplatValue(i->operand(1));
  if (!c.has_value() || !IsIeeeFloat(Type(i))) return nullptr;
  return r.Add(i->opcode(), i->shape(),
               {i->operand(0)->operand(0), SplatLike(r, i, -*c)});
}

Instruction* DivideOne(Instruction* i, Rewriter& r) {
  return IsAll(i->operand(1), 1) ? i->operand(0) : nullptr;
}

Instruction* DivideByPowerOfTwo(Instruction* i, Rewriter& r) {
  std::optional<double> reciprocal = ExactReciprocal(i->operand(1));
  if (!reciprocal.has_value()) return nullptr;
  return r.Add(Opcode::kMultiply, i->shape(),
               {i->operand(0), SplatLike(r, i, *reciprocal)});
}

Instruction* DivideUnsignedByPowerOfTwo(Instruction* i, Rewriter& r) {
  if (!IsUnsigned(Type(i))) return nullptr;
  std::optional<double> c = SplatValue(i->operand(1));
  int exponent;
  if (!c.has_value() || std::frexp(*c, &exponent) != 0.5) return nullptr;
  return r.Add(Opcode::kShiftRightLogical, i->shape(),
               {i->operand(0), SplatLike(r, i, exponent - 1)});
}

Instruction* DivideSelf(Instruction* i, Rewriter& r) {
  if (i->operand(0) != i->operand(1) || !IsFloat(Type(i)) ||
      !r.options().allow_nan_unsafe) {
    return nullptr;
  }
  return SplatLike(r, i, 1);
}

Instruction* RemainderUnsignedByPowerOfTwo(Instruction* i, Rewriter& r) {
  if (!IsUnsigned(Type(i))) return nullptr;
  std::optional<double> c = SplatValue(i->operand(1));
  int exponent;
  if (!c.has_value() || std::frexp(*c, &exponent) != 0.5) return nullptr;
  return r.Add(Opcode::kAnd, i->shape(),
               {i->operand(0), SplatLike(r, i, *c - 1)});
}

// ---- power ----

Instruction* SmallPower(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (IsComplex(Type(i))) return nullptr;
  std::optional<double> n = SplatValue(i->operand(1));
  if (!n.has_value()) return nullptr;
  if (*n == 0) return SplatLike(r, i, 1);  // of NaN as well
  if (*n == 1) return x;
  if (*n == 2) return r.Add(Opcode::kMultiply, i->shape(), {x, x});
  if (*n == 3 && IsInteger(Type(i))) {
    Instruction* square = r.Add(Opcode::kMultiply, i->shape(), {x, x});
    return r.Add(Opcode::kMultiply, i->shape(), {square, x});
  }
  if (!IsIeeeFloat(Type(i))) return nullptr;
  if (*n == -1) {
    return r.Add(Opcode::kDivide, i->shape(), {SplatLike(r, i, 1), x});
  }
  // pow(-inf, 0.5) is inf and pow(-0, 0.5) is +0, unlike the roots.
  if (!NeverNegative(x)) return nullptr;
  if (*n == 0.5) return r.Add(Opcode::kSqrt, i->shape(), {x});
  if (*n == -0.5) return r.Add(Opcode::kRsqrt, i->shape(), {x});
  return nullptr;
}

// ---- negate, abs, sign, complex ----

Instruction* OperandOfOperand(Instruction* i, Rewriter& r) {
  return i->operand(0)->operand(0);
}

Instruction* NegateDifference(Instruction* i, Rewriter& r) {
  // Integers only: -(x - x) is -0.
  Instruction* d = i->operand(0);
  if (!IsInteger(Type(i)) || d->use_count() != 1) return nullptr;
  return r.Add(Opcode::kSubtract, i->shape(), {d->operand(1), d->operand(0)});
}

Instruction* AbsOfNegate(Instruction* i, Rewriter& r) {
  if (!IsFloat(Type(i)) && !IsInteger(Type(i))) return nullptr;
  return r.Add(Opcode::kAbs, i->shape(), {i->operand(0)->operand(0)});
}

Instruction* AbsOfNonNegative(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (IsComplex(Type(x)) || !NeverNegative(x)) return nullptr;
  return x;
}

Instruction* SquareOfAbs(Instruction* i, Rewriter& r) {
  Instruction* a = i->operand(0);
  if (i->operand(1) != a || IsComplex(Type(a->operand(0)))) return nullptr;
  return r.Add(Opcode::kMultiply, i->shape(), {a->operand(0), a->operand(0)});
}

Instruction* RealOfComplex(Instruction* i, Rewriter& r) {
  return i->operand(0)->operand(0);
}

Instruction* ImagOfComplex(Instruction* i, Rewriter& r) {
  return i->operand(0)->operand(1);
}

Instruction* ComplexOfParts(Instruction* i, Rewriter& r) {
  const Instruction* re = i->operand(0);
  const Instruction* im = i->operand(1);
  if (re->opcode() != Opcode::kReal || im->opcode() != Opcode::kImag ||
      re->operand(0) != im->operand(0)) {
    return nullptr;
  }
  return re->operand(0);
}

Instruction* RealOfReal(Instruction* i, Rewriter& r) {
  return IsComplex(Type(i->operand(0))) ? nullptr : i->operand(0);
}

Instruction* ImagOfReal(Instruction* i, Rewriter& r) {
  return IsComplex(Type(i->operand(0))) ? nullptr : SplatLike(r, i, 0);
}

// ---- minimum, maximum, clamp, rounding ----

Instruction* BothSame(Instruction* i, Rewriter& r) {
  return i->operand(0) == i->operand(1) ? i->operand(0) : nullptr;
}

Instruction* NeutralOperand(Instruction* i, Rewriter& r) {
  return IsNeutral(i->opcode(), i->operand(1)) ? i->operand(0) : nullptr;
}

// max(max(x, c), d) = max(x, max(c, d)), and the same for min.
Instruction* NestedExtreme(Instruction* i, Rewriter& r) {
  Instruction* inner = i->operand(0);
  if (inner->opcode() != i->opcode() || IsComplex(Type(i)) ||
      SplatOf(i->operand(1)) == nullptr ||
      SplatOf(inner->operand(1)) == nullptr ||
      SplatOf(inner->operand(0)) != nullptr) {
    return nullptr;
  }
  Instruction* c =
      r.Add(i->opcode(), i->shape(), {inner->operand(1), i->operand(1)});
  return r.Add(i->opcode(), i->shape(), {inner->operand(0), c});
}

Instruction* ClampUnbounded(Instruction* i, Rewriter& r) {
  if (!IsNeutral(Opcode::kMaximum, i->operand(0)) ||
      !IsNeutral(Opcode::kMinimum, i->operand(2)) ||
      !i->operand(1)->shape().SameDims(i->shape())) {
    return nullptr;
  }
  return i->operand(1);
}

Instruction* ClampTwice(Instruction* i, Rewriter& r) {
  Instruction* inner = i->operand(1);
  if (inner->opcode() != Opcode::kClamp || inner->operand(0) != i->operand(0) ||
      inner->operand(2) != i->operand(2)) {
    return nullptr;
  }
  return inner;
}

Instruction* RoundingOfInteger(Instruction* i, Rewriter& r) {
  // The same rounding twice, or of a value that an integer was.
  Instruction* x = i->operand(0);
  if (x->opcode() == i->opcode()) return x;
  bool integral =
      x->opcode() == Opcode::kConvert &&
      (IsInteger(Type(x->operand(0))) || IsPred(Type(x->operand(0))));
  return integral ? x : nullptr;
}

constexpr RewriteRule kRules[] = {
    {"add-constant-right", Opcode::kAdd, kAnyOpcode, "c + x = x + c",
     ConstantToTheRight},
    {"add-zero", Opcode::kAdd, kAnyOpcode, "x + 0 = x", AddZero},
    {"add-negated", Opcode::kAdd, kAnyOpcode, "x + -y = x - y", AddNegated},
    {"add-integers", Opcode::kAdd, Opcode::kAdd, "(x + c) + d = x + (c + d)",
     ReassociateIntegers},
    {"subtract-zero", Opcode::kSubtract, kAnyOpcode, "x - 0 = x", SubtractZero},
    {"zero-minus", Opcode::kSubtract, kAnyOpcode, "0 - x = -x", ZeroMinus},
    {"subtract-self", Opcode::kSubtract, kAnyOpcode, "x - x = 0", SubtractSelf},
    {"subtract-negated", Opcode::kSubtract, kAnyOpcode, "x - -y = x + y",
     SubtractNegated},
    {"multiply-constant-right", Opcode::kMultiply, kAnyOpcode, "c x = x c",
     ConstantToTheRight},
    {"multiply-one", Opcode::kMultiply, kAnyOpcode, "x * 1 = x", MultiplyOne},
    {"multiply-zero", Opcode::kMultiply, kAnyOpcode, "x * 0 = 0", MultiplyZero},
    {"multiply-minus-one", Opcode::kMultiply, kAnyOpcode, "x * -1 = -x",
     MultiplyMinusOne},
    {"multiply-both-negated", Opcode::kMultiply, Opcode::kNegate,
     "-x * -y = x * y", BothNegated},
    {"multiply-negated-constant", Opcode::kMultiply, Opcode::kNegate,
     "-x * c = x * -c", NegatedTimesConstant},
    {"multiply-integers", Opcode::kMultiply, Opcode::kMultiply,
     "(x c) d = x (c d)", ReassociateIntegers},
    {"square-of-abs", Opcode::kMultiply, Opcode::kAbs, "|x| |x| = x x",
     SquareOfAbs},
    {"divide-one", Opcode::kDivide, kAnyOpcode, "x / 1 = x", DivideOne},
    {"divide-by-power-of-two", Opcode::kDivide, kAnyOpcode,
     "x / 2^k = x * 2^-k", DivideByPowerOfTwo},
    {"divide-unsigned", Opcode::kDivide, kAnyOpcode, "x / 2^k = x >> k",
     DivideUnsignedByPowerOfTwo},
    {"divide-both-negated", Opcode::kDivide, Opcode::kNegate, "-x / -y = x / y",
     BothNegated},
    {"divide-self", Opcode::kDivide, kAnyOpcode, "x / x = 1", DivideSelf},
    {"remainder-unsigned", Opcode::kRemainder, kAnyOpcode,
     "x % 2^k = x & (2^k - 1)", RemainderUnsignedByPowerOfTwo},
    {"small-power", Opcode::kPower, kAnyOpcode,
     "x^0 = 1, x^1 = x, x^2 = x x, x^-1 = 1/x, x^.5 = sqrt(x)", SmallPower},
    {"negate-negate", Opcode::kNegate, Opcode::kNegate, "--x = x",
     OperandOfOperand},
    {"negate-difference", Opcode::kNegate, Opcode::kSubtract,
     "-(x - y) = y - x", NegateDifference},
    {"not-not", Opcode::kNot, Opcode::kNot, "~~x = x", OperandOfOperand},
    {"abs-abs", Opcode::kAbs, Opcode::kAbs, "||x|| = |x|",
     [](Instruction* i, Rewriter&) { return i->operand(0); }},
    {"abs-negate", Opcode::kAbs, Opcode::kNegate, "|-x| = |x|", AbsOfNegate},
    {"abs-non-negative", Opcode::kAbs, kAnyOpcode, "|x| = x where x >= +0",
     AbsOfNonNegative},
    {"real-of-complex", Opcode::kReal, Opcode::kComplex, "re(a + bi) = a",
     RealOfComplex},
    {"imag-of-complex", Opcode::kImag, Opcode::kComplex, "im(a + bi) = b",
     ImagOfComplex},
    {"real-of-real", Opcode::kReal, kAnyOpcode, "re(x) = x for real x",
     RealOfReal},
    {"imag-of-real", Opcode::kImag, kAnyOpcode, "im(x) = 0 for real x",
     ImagOfReal},
    {"complex-of-parts", Opcode::kComplex, Opcode::kReal, "re(z) + im(z) i = z",
     ComplexOfParts},
    {"maximum-constant-right", Opcode::kMaximum, kAnyOpcode,
     "max(c, x) = max(x, c)", ConstantToTheRight},
    {"minimum-constant-right", Opcode::kMinimum, kAnyOpcode,
     "min(c, x) = min(x, c)", ConstantToTheRight},
    {"maximum-self", Opcode::kMaximum, kAnyOpcode, "max(x, x) = x", BothSame},
    {"minimum-self", Opcode::kMinimum, kAnyOpcode, "min(x, x) = x", BothSame},
    {"maximum-lowest", Opcode::kMaximum, kAnyOpcode, "max(x, lowest) = x",
     NeutralOperand},
    {"minimum-highest", Opcode::kMinimum, kAnyOpcode, "min(x, highest) = x",
     NeutralOperand},
    {"maximum-nested", Opcode::kMaximum, Opcode::kMaximum,
     "max(max(x, c), d) = max(x, max(c, d))", NestedExtreme},
    {"minimum-nested", Opcode::kMinimum, Opcode::kMinimum,
     "min(min(x, c), d) = min(x, min(c, d))", NestedExtreme},
    {"clamp-unbounded", Opcode::kClamp, kAnyOpcode,
     "clamp(lowest, x, highest) = x", ClampUnbounded},
    {"clamp-twice", Opcode::kClamp, kAnyOpcode,
     "clamp(a, clamp(a, x, b), b) = clamp(a, x, b)", ClampTwice},
    {"floor-of-integer", Opcode::kFloor, kAnyOpcode, "floor(n) = n",
     RoundingOfInteger},
    {"ceil-of-integer", Opcode::kCeil, kAnyOpcode, "ceil(n) = n",
     RoundingOfInteger},
    {"round-afz-of-integer", Opcode::kRoundNearestAfz, kAnyOpcode,
     "round(n) = n", RoundingOfInteger},
    {"round-even-of-integer", Opcode::kRoundNearestEven, kAnyOpcode,
     "round(n) = n", RoundingOfInteger},
};

}  // namespace

absl::Span<const RewriteRule> ArithmeticRules() { return kRules; }

}  // namespace ridge
