#include <algorithm>
#include <cmath>

#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

// Float opcodes of one operand: where they are tame, and what comes out.
struct FloatUnary {
  Opcode opcode;
  double low, high;          // the operand is fitted into this
  double out_low, out_high;  // of the result; both 0: that of the operand
};
constexpr double kAny = 1e300;
constexpr FloatUnary kFloatUnary[] = {
    {Opcode::kNegate, -kAny, kAny, 0, 0},
    {Opcode::kAbs, -kAny, kAny, 0, 0},
    {Opcode::kSign, -kAny, kAny, -1, 1},
    {Opcode::kFloor, -kAny, kAny, 0, 0},
    {Opcode::kCeil, -kAny, kAny, 0, 0},
    {Opcode::kRoundNearestAfz, -kAny, kAny, 0, 0},
    {Opcode::kRoundNearestEven, -kAny, kAny, 0, 0},
    {Opcode::kCopy, -kAny, kAny, 0, 0},
    {Opcode::kExp, -4, 1.5, 0, 4.5},
    {Opcode::kExpm1, -4, 1.5, -1, 4},
    {Opcode::kLog, 0.25, kAny, -1.5, 7},
    {Opcode::kLog1p, -0.5, kAny, -0.7, 7},
    {Opcode::kLogistic, -kAny, kAny, 0, 1},
    {Opcode::kTanh, -kAny, kAny, -1, 1},
    {Opcode::kSqrt, 0, kAny, 0, 33},
    {Opcode::kRsqrt, 0.25, kAny, 0, 2},
    {Opcode::kCbrt, -kAny, kAny, -11, 11},
    {Opcode::kSine, -8, 8, -1, 1},
    {Opcode::kCosine, -8, 8, -1, 1},
    {Opcode::kTan, -1, 1, -1.6, 1.6},
    {Opcode::kErf, -kAny, kAny, -1, 1},
    {Opcode::kSinh, -1.5, 1.5, -2.2, 2.2},
    {Opcode::kCosh, -1.5, 1.5, 1, 2.4},
    {Opcode::kAsin, -0.75, 0.75, -1, 1},
    {Opcode::kAcos, -0.75, 0.75, 0, 2.5},
    {Opcode::kAsinh, -kAny, kAny, -8, 8},
    {Opcode::kAcosh, 1.5, kAny, 0, 8},
    {Opcode::kAtanh, -0.75, 0.75, -1, 1},
};

bool IsFloatValue(const Value& v) { return IsFloat(v.type()); }
bool IsIntegerValue(const Value& v) { return IsInteger(v.type()); }
bool IsPredValue(const Value& v) { return IsPred(v.type()); }
bool IsComplexValue(const Value& v) { return IsComplex(v.type()); }

bool MakeFloatUnary(RandomBuilder& b) {
  std::optional<Value> v = b.Pick(IsFloatValue);
  if (!v.has_value()) return false;
  const FloatUnary& f = b.random().Pick(absl::MakeSpan(kFloatUnary));
  Value x = b.Clamped(b.Tame(*v), f.low, f.high);
  Instruction* i = b.Add(f.opcode, x.shape(), {x.i});
  bool like = f.out_low == 0 && f.out_high == 0;
  double m = x.magnitude() + 1;
  b.Push(i, like ? -m : f.out_low, like ? m : f.out_high);
  return true;
}

bool MakeFloatBinary(RandomBuilder& b) {
  std::optional<Value> v = b.Pick(IsFloatValue);
  if (!v.has_value()) return false;
  Value x = b.Tame(*v);
  Value y = b.Tame(b.Partner(x));
  if (b.random().Chance(0.3)) std::swap(x, y);
  double limit = Limit(x.type());
  switch (b.random().Below(9)) {
    case 0:
    case 1: {
      Value z = b.Push(b.Add(Opcode::kAdd, x.shape(), {x.i, y.i}),
                       x.low + y.low, x.high + y.high);
      return z.i != nullptr;
    }
    case 2:
      b.Push(b.Add(Opcode::kSubtract, x.shape(), {x.i, y.i}), x.low - y.high,
             x.high - y.low);
      return true;
    case 3:
    case 4: {
      if (x.magnitude() * y.magnitude() > limit) {
        x = b.Clamped(x, -2, 2);
        y = b.Clamped(y, -2, 2);
      }
      double m = x.magnitude() * y.magnitude();
      b.Push(b.Add(Opcode::kMultiply, x.shape(), {x.i, y.i}), -m, m);
      return true;
    }
    case 5: {
      // Divisors that are constants as they are, others away from zero.
      Value divisor =
          y.low == y.high && std::fabs(y.low) >= 0.5 ? y : b.Positive(y, 0.5);
      double m = 2 * x.magnitude();
      b.Push(b.Add(Opcode::kDivide, x.shape(), {x.i, divisor.i}), -m, m);
      return true;
    }
    case 6: {
      Opcode op = b.random().Chance(0.5) ? Opcode::kMaximum : Opcode::kMinimum;
      b.Push(b.Add(op, x.shape(), {x.i, y.i}), std::min(x.low, y.low),
             std::max(x.high, y.high));
      return true;
    }
    case 7: {
      Value divisor = b.Positive(y, 0.5);
      Opcode op = b.random().Chance(0.5) ? Opcode::kRemainder : Opcode::kAtan2;
      double m = op == Opcode::kAtan2 ? 3.2 : x.magnitude();
      b.Push(b.Add(op, x.shape(), {x.i, divisor.i}), -m, m);
      return true;
    }
    default: {
      Value base = b.Clamped(b.Positive(x, 0.5), 0.25, 2);
      Value exponent =
          y.low == y.high && std::fabs(y.low) <= 2 ? y : b.Clamped(y, -2, 2);
      // Constant small exponents of bases of any sign.
      if (exponent.low == exponent.high &&
          exponent.low == std::floor(exponent.low)) {
        base = b.Clamped(x, -2, 2);
        if (exponent.low < 0) base = b.Positive(base, 0.5);
      }
      b.Push(b.Add(Opcode::kPower, x.shape(), {base.i, exponent.i}), -16, 16);
      return true;
    }
  }
}

bool MakeIntegerBinary(RandomBuilder& b) {
  static constexpr Opcode kOpcodes[] = {
      Opcode::kAdd,       Opcode::kSubtract,
      Opcode::kMultiply,  Opcode::kDivide,
      Opcode::kRemainder, Opcode::kMaximum,
      Opcode::kMinimum,   Opcode::kAnd,
      Opcode::kOr,        Opcode::kXor,
      Opcode::kShiftLeft, Opcode::kShiftRightLogical,
      Opcode::kPower,     Opcode::kShiftRightArithmetic};
  std::optional<Value> x = b.Pick(IsIntegerValue);
  if (!x.has_value()) return false;
  Value y = b.Partner(*x);
  Instruction* operands[] = {x->i, y.i};
  if (b.random().Chance(0.3)) std::swap(operands[0], operands[1]);
  b.Push(b.Add(b.random().Pick(absl::MakeSpan(kOpcodes)), x->shape(), operands),
         0, 0);
  return true;
}

bool MakeIntegerUnary(RandomBuilder& b) {
  static constexpr Opcode kOpcodes[] = {Opcode::kNegate,
                                        Opcode::kAbs,
                                        Opcode::kSign,
                                        Opcode::kNot,
                                        Opcode::kPopulationCount,
                                        Opcode::kCountLeadingZeros};
  std::optional<Value> x = b.Pick(IsIntegerValue);
  if (!x.has_value()) return false;
  Opcode op = b.random().Pick(absl::MakeSpan(kOpcodes));
  bool needs_sign = op == Opcode::kAbs || op == Opcode::kSign;
  if (needs_sign && !IsSigned(x->type())) op = Opcode::kNot;
  b.Push(b.Add(op, x->shape(), {x->i}), 0, 0);
  return true;
}

bool MakePred(RandomBuilder& b) {
  static constexpr Opcode kOpcodes[] = {Opcode::kAnd, Opcode::kOr, Opcode::kXor,
                                        Opcode::kNot};
  std::optional<Value> x = b.Pick(IsPredValue);
  if (!x.has_value()) return false;
  Opcode op = b.random().Pick(absl::MakeSpan(kOpcodes));
  if (op == Opcode::kNot) {
    b.Push(b.Add(op, x->shape(), {x->i}), 0, 1);
  } else {
    b.Push(b.Add(op, x->shape(), {x->i, b.Partner(*x).i}), 0, 1);
  }
  return true;
}

bool MakeCompare(RandomBuilder& b) {
  std::optional<Value> x =
      b.Pick([](const Value& v) { return !IsComplex(v.type()); });
  if (!x.has_value()) return false;
  Value y = b.Partner(*x);
  Instruction* operands[] = {x->i, y.i};
  if (b.random().Chance(0.3)) std::swap(operands[0], operands[1]);
  Shape shape = x->shape();
  shape.set_type(ElementType::kPred);
  Instruction* c = b.Add(Opcode::kCompare, shape, operands);
  c->SetAttr(AttrId::kDirection,
             EnumValue{static_cast<int32_t>(b.random().Below(6))});
  b.Push(c, 0, 1);
  return true;
}

bool MakeIsFinite(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(IsFloatValue);
  if (!x.has_value()) return false;
  Shape shape = x->shape();
  shape.set_type(ElementType::kPred);
  b.Push(b.Add(Opcode::kIsFinite, shape, {x->i}), 0, 1);
  return true;
}

bool MakeSelect(RandomBuilder& b) {
  std::optional<Value> x = b.Pick();
  if (!x.has_value()) return false;
  Value y = b.Partner(*x);
  Shape pred = x->shape();
  pred.set_type(ElementType::kPred);
  if (b.random().Chance(0.1)) pred = Shape::Scalar(ElementType::kPred);
  Value p = b.Like(pred);
  b.Push(b.Add(Opcode::kSelect, x->shape(), {p.i, x->i, y.i}),
         std::min(x->low, y.low), std::max(x->high, y.high));
  return true;
}

bool MakeClamp(RandomBuilder& b) {
  std::optional<Value> x =
      b.Pick([](const Value& v) { return !IsComplex(v.type()); });
  if (!x.has_value() || IsPred(x->type())) return false;
  Value low = b.Scalar(x->type(), b.random().Between(0, 1));
  Value high = b.Scalar(x->type(), b.random().Between(1, 3));
  if (b.random().Chance(0.5)) {
    low = b.Splat(x->shape(), low.low);
    high = b.Splat(x->shape(), high.low);
  }
  b.Push(b.Add(Opcode::kClamp, x->shape(), {low.i, x->i, high.i}), 0, 3);
  return true;
}

bool MakeConvert(RandomBuilder& b) {
  std::optional<Value> v = b.Pick();
  if (!v.has_value()) return false;
  ElementType to = b.RandomType();
  if (IsComplex(v->type()) && !IsComplex(to)) return false;
  Value x = *v;
  if (IsInteger(x.type()) && !IsInteger(to) && !IsPred(to)) {
    // Integers have no interval: give them one.
    bool is_signed = IsSigned(x.type());
    double limit = Info(to).bits <= 8 || Info(x.type()).bits <= 4 ? 4 : 100;
    Value from = b.Scalar(x.type(), is_signed ? -limit : 0);
    Value upto = b.Scalar(x.type(), limit);
    x.i = b.Add(Opcode::kClamp, x.shape(), {from.i, x.i, upto.i});
    x.low = is_signed ? -limit : 0;
    x.high = limit;
  } else if (IsPred(x.type())) {
    x.low = 0;
    x.high = 1;
  }
  if (IsFloat(x.type()) && IsFloat(to)) {
    x = b.Clamped(x, -Limit(to), Limit(to));
  }
  Shape shape = x.shape();
  shape.set_type(to);
  Value y = b.Push(b.Add(Opcode::kConvert, shape, {x.i}), x);
  // Often there and back again.
  if (b.random().Chance(0.4) && !IsComplex(to)) {
    Shape back = shape;
    back.set_type(b.random().Chance(0.7) ? v->type() : b.RandomType());
    if (IsComplex(back.type())) return true;
    Value z = IsFloat(back.type())
                  ? b.Clamped(y, -Limit(back.type()), Limit(back.type()))
                  : y;
    if (IsInteger(to) && !IsInteger(back.type())) return true;
    b.Push(b.Add(Opcode::kConvert, back, {z.i}), z);
  }
  return true;
}

bool MakeBitcastConvert(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return (IsFloat(v.type()) || IsInteger(v.type())) &&
           Info(v.type()).bits >= 8;
  });
  if (!x.has_value()) return false;
  // To integers only: the bits of integers are floats without bounds.
  int bits = Info(x->type()).bits;
  ElementType to = bits == 8    ? ElementType::kU8
                   : bits == 16 ? ElementType::kU16
                   : bits == 32 ? ElementType::kU32
                                : ElementType::kU64;
  if (b.random().Chance(0.3)) to = bits == 32 ? ElementType::kU16 : to;
  if (!b.Uses(to)) return false;
  Shape shape = x->shape();
  if (Info(to).bits < bits) {
    DimVector dims(shape.dims().begin(), shape.dims().end());
    dims.push_back(bits / Info(to).bits);
    shape = Shape::Array(to, dims);
  }
  shape.set_type(to);
  Instruction* i = b.Add(Opcode::kBitcastConvert, shape, {x->i});
  b.Push(i, 0, 0);
  if (b.random().Chance(0.5)) {
    b.Push(b.Add(Opcode::kBitcastConvert, x->shape(), {i}), *x);
  }
  return true;
}

bool MakeReducePrecision(RandomBuilder& b) {
  std::optional<Value> v = b.Pick(IsFloatValue);
  if (!v.has_value()) return false;
  Value x = b.Tame(*v);
  Instruction* i = b.Add(Opcode::kReducePrecision, x.shape(), {x.i});
  bool bf16 = b.random().Chance(0.5);
  i->SetAttr(AttrId::kExponentBits, int64_t{bf16 ? 8 : 5});
  i->SetAttr(AttrId::kMantissaBits, int64_t{bf16 ? 7 : 10});
  b.Push(i, x.low * 1.01 - 0.01, x.high * 1.01 + 0.01);
  return true;
}

bool MakeStochasticConvert(RandomBuilder& b) {
  std::optional<Value> x =
      b.Pick([](const Value& v) { return v.type() == ElementType::kF32; });
  if (!x.has_value() || !b.Uses(ElementType::kBF16)) return false;
  Shape bits = x->shape();
  bits.set_type(ElementType::kU32);
  Shape shape = x->shape();
  shape.set_type(ElementType::kBF16);
  b.Push(b.Add(Opcode::kStochasticConvert, shape, {x->i, b.Like(bits).i}),
         x->low * 1.1 - 0.1, x->high * 1.1 + 0.1);
  return true;
}

bool MakeComplex(RandomBuilder& b) {
  std::optional<Value> re = b.Pick([](const Value& v) {
    return v.type() == ElementType::kF32 || v.type() == ElementType::kF64;
  });
  if (!re.has_value()) return false;
  Shape shape = re->shape();
  shape.set_type(re->type() == ElementType::kF32 ? ElementType::kC64
                                                 : ElementType::kC128);
  if (!b.Uses(shape.type())) return false;
  Value x = b.Clamped(*re, -4, 4);
  Value y = b.Clamped(b.Partner(x), -4, 4);
  b.Push(b.Add(Opcode::kComplex, shape, {x.i, y.i}), -6, 6);
  return true;
}

bool MakeComplexOperation(RandomBuilder& b) {
  std::optional<Value> z = b.Pick(IsComplexValue);
  if (!z.has_value()) return false;
  Shape part = z->shape();
  part.set_type(ComplexComponent(z->type()));
  switch (b.random().Below(6)) {
    case 0:
      b.Push(b.Add(Opcode::kReal, part, {z->i}), z->low, z->high);
      return true;
    case 1:
      b.Push(b.Add(Opcode::kImag, part, {z->i}), z->low, z->high);
      return true;
    case 2:
      b.Push(b.Add(Opcode::kAbs, part, {z->i}), 0, 2 * z->magnitude() + 1);
      return true;
    case 3:
      b.Push(b.Add(Opcode::kNegate, z->shape(), {z->i}), *z);
      return true;
    case 4: {
      Value w = b.Partner(*z);
      b.Push(b.Add(b.random().Chance(0.5) ? Opcode::kAdd : Opcode::kSubtract,
                   z->shape(), {z->i, w.i}),
             -z->magnitude() - w.magnitude() - 8,
             z->magnitude() + w.magnitude() + 8);
      return true;
    }
    default: {
      Value w = b.Partner(*z);
      double m = 2 * (z->magnitude() + 1) * (w.magnitude() + 4);
      if (m > 1000) return false;
      b.Push(b.Add(Opcode::kMultiply, z->shape(), {z->i, w.i}), -m, m);
      return true;
    }
  }
}

constexpr RandomOperation kOperations[] = {
    {"float-unary", 12, true, MakeFloatUnary},
    {"float-binary", 20, true, MakeFloatBinary},
    {"integer-binary", 8, true, MakeIntegerBinary},
    {"integer-unary", 3, true, MakeIntegerUnary},
    {"pred", 4, true, MakePred},
    {"compare", 5, true, MakeCompare},
    {"is-finite", 1, true, MakeIsFinite},
    {"select", 5, true, MakeSelect},
    {"clamp", 2, true, MakeClamp},
    {"convert", 10, true, MakeConvert},
    {"bitcast-convert", 2, true, MakeBitcastConvert},
    {"reduce-precision", 1, true, MakeReducePrecision},
    {"stochastic-convert", 1, true, MakeStochasticConvert},
    {"complex", 2, true, MakeComplex},
    {"complex-operation", 4, true, MakeComplexOperation},
};

}  // namespace

absl::Span<const RandomOperation> ElementwiseOperations() {
  return kOperations;
}

}  // namespace ridge::testing
