// Elementwise operations: what element types each takes, and its result type.
#include <cstdint>

#include "hlo/verify/infer.h"

namespace ridge::infer {
namespace {

// Sets of type classes.
constexpr uint32_t kPredBit = 1;
constexpr uint32_t kSignedBit = 2;
constexpr uint32_t kUnsignedBit = 4;
constexpr uint32_t kFloatBit = 8;
constexpr uint32_t kComplexBit = 16;
constexpr uint32_t kIntegers = kSignedBit | kUnsignedBit;
constexpr uint32_t kLogical = kPredBit | kIntegers;
constexpr uint32_t kInexact = kFloatBit | kComplexBit;
constexpr uint32_t kArithmetic = kIntegers | kInexact;
constexpr uint32_t kAll = kPredBit | kArithmetic;

enum class Result : uint8_t { kSame, kPred, kComponent };

struct TypeRule {
  Opcode opcode;
  uint32_t classes;
  Result result = Result::kSame;
};

constexpr TypeRule kUnaryRules[] = {
    {Opcode::kAbs, kPredBit | kArithmetic, Result::kComponent},
    {Opcode::kAcos, kInexact},
    {Opcode::kAcosh, kInexact},
    {Opcode::kAsin, kInexact},
    {Opcode::kAsinh, kInexact},
    {Opcode::kAtanh, kInexact},
    {Opcode::kCbrt, kInexact},
    {Opcode::kCeil, kFloatBit},
    {Opcode::kCosine, kInexact},
    {Opcode::kCosh, kInexact},
    {Opcode::kCountLeadingZeros, kIntegers},
    {Opcode::kErf, kFloatBit},
    {Opcode::kExp, kInexact},
    {Opcode::kExpm1, kInexact},
    {Opcode::kFloor, kFloatBit},
    {Opcode::kImag, kInexact, Result::kComponent},
    {Opcode::kIsFinite, kFloatBit, Result::kPred},
    {Opcode::kLog, kInexact},
    {Opcode::kLog1p, kInexact},
    {Opcode::kLogistic, kInexact},
    {Opcode::kNegate, kArithmetic},
    {Opcode::kNot, kLogical},
    {Opcode::kPopulationCount, kLogical},
    {Opcode::kReal, kInexact, Result::kComponent},
    {Opcode::kRoundNearestAfz, kFloatBit},
    {Opcode::kRoundNearestEven, kFloatBit},
    {Opcode::kRsqrt, kInexact},
    {Opcode::kSign, kArithmetic},
    {Opcode::kSine, kInexact},
    {Opcode::kSinh, kInexact},
    {Opcode::kSqrt, kInexact},
    {Opcode::kTan, kInexact},
    {Opcode::kTanh, kInexact},
};

constexpr TypeRule kBinaryRules[] = {
    {Opcode::kAdd, kAll},
    {Opcode::kAnd, kLogical},
    {Opcode::kAtan2, kArithmetic},
    {Opcode::kDivide, kArithmetic},
    {Opcode::kMaximum, kAll},
    {Opcode::kMinimum, kAll},
    {Opcode::kMultiply, kAll},
    {Opcode::kOr, kLogical},
    {Opcode::kPower, kArithmetic},
    {Opcode::kRemainder, kArithmetic},
    {Opcode::kShiftLeft, kIntegers},
    {Opcode::kShiftRightArithmetic, kIntegers},
    {Opcode::kShiftRightLogical, kIntegers},
    {Opcode::kSubtract, kArithmetic},
    {Opcode::kXor, kLogical},
};

uint32_t ClassBit(ElementType type) {
  switch (Info(type).type_class) {
    case TypeClass::kPred:
      return kPredBit;
    case TypeClass::kSigned:
      return kSignedBit;
    case TypeClass::kUnsigned:
      return kUnsignedBit;
    case TypeClass::kFloat:
      return kFloatBit;
    case TypeClass::kComplex:
      return kComplexBit;
    case TypeClass::kOther:
      return 0;
  }
  return 0;
}

std::string ClassNames(uint32_t classes) {
  constexpr absl::string_view kNames[] = {
      "pred", "signed integer", "unsigned integer", "float", "complex"};
  std::string text;
  for (int bit = 0; bit < 5; ++bit) {
    if (((classes >> bit) & 1) == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", kNames[bit]);
  }
  return text;
}

// Rules by opcode, so that finding one is an index.
using RuleIndex = std::vector<const TypeRule*>;

const RuleIndex* MakeIndex(absl::Span<const TypeRule> rules) {
  auto* index = new RuleIndex(kOpcodeCount, nullptr);
  for (const TypeRule& rule : rules) {
    (*index)[static_cast<size_t>(rule.opcode)] = &rule;
  }
  return index;
}

const TypeRule* UnaryRule(Opcode opcode) {
  static const RuleIndex* const index = MakeIndex(kUnaryRules);
  return (*index)[static_cast<size_t>(opcode)];
}

const TypeRule* BinaryRule(Opcode opcode) {
  static const RuleIndex* const index = MakeIndex(kBinaryRules);
  return (*index)[static_cast<size_t>(opcode)];
}

absl::Status CheckType(const TypeRule& rule, const Shape& shape) {
  if ((rule.classes & ClassBit(shape.type())) != 0) return absl::OkStatus();
  return Invalid(Name(rule.opcode), " takes element types of class ",
                 ClassNames(rule.classes), ", found ", Text(shape));
}

ElementType ResultType(Result result, ElementType type) {
  switch (result) {
    case Result::kSame:
      return type;
    case Result::kPred:
      return ElementType::kPred;
    case Result::kComponent:
      return ComplexComponent(type);
  }
  return type;
}

// Both operands of a binary operation agree; the common shape (of the wider
// float) comes back.
absl::StatusOr<Shape> CommonShape(const Instruction& i, const Shape& a,
                                  const Shape& b) {
  RIDGE_RETURN_IF_ERROR(ExpectArray(a, "operand 0"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(b, "operand 1"));
  if (!SameTypeIgnoringPrecision(a.type(), b.type())) {
    return Invalid("operands of ", Name(i.opcode()),
                   " must have one element type, found ", Text(a), " and ",
                   Text(b));
  }
  if (!SameBounds(a, b)) {
    return Invalid("operands of ", Name(i.opcode()),
                   " must have the same dimensions (there is no implicit "
                   "broadcast), found ",
                   Text(a), " and ", Text(b));
  }
  Shape shape = MergeDynamic(a, b);
  if (a.type() != b.type()) shape.set_type(HigherPrecision(a.type(), b.type()));
  return shape;
}

}  // namespace

absl::StatusOr<Shape> Unary(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const TypeRule* rule = UnaryRule(i.opcode());
  RIDGE_RET_CHECK(rule != nullptr) << Name(i.opcode());
  Shape shape = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(shape, "the operand"));
  RIDGE_RETURN_IF_ERROR(CheckType(*rule, shape));
  shape.set_type(ResultType(rule->result, shape.type()));
  return shape;
}

absl::StatusOr<Shape> Binary(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  const TypeRule* rule = BinaryRule(i.opcode());
  RIDGE_RET_CHECK(rule != nullptr) << Name(i.opcode());
  const Shape& a = i.operand(0)->shape();
  RIDGE_ASSIGN_OR_RETURN(Shape shape, CommonShape(i, a, i.operand(1)->shape()));
  RIDGE_RETURN_IF_ERROR(CheckType(*rule, a));
  return shape;
}

absl::StatusOr<Shape> Compare(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  RIDGE_ASSIGN_OR_RETURN(Shape shape, CommonShape(i, i.operand(0)->shape(),
                                                  i.operand(1)->shape()));
  shape.set_type(ElementType::kPred);
  return shape;
}

absl::StatusOr<Shape> Complex(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  RIDGE_ASSIGN_OR_RETURN(Shape shape, CommonShape(i, i.operand(0)->shape(),
                                                  i.operand(1)->shape()));
  if (shape.type() == ElementType::kF32) {
    shape.set_type(ElementType::kC64);
  } else if (shape.type() == ElementType::kF64) {
    shape.set_type(ElementType::kC128);
  } else {
    return Invalid("complex takes f32 or f64, found ", Text(shape));
  }
  return shape;
}

absl::StatusOr<Shape> Select(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 3));
  const Shape& pred = i.operand(0)->shape();
  const Shape& on_true = i.operand(1)->shape();
  const Shape& on_false = i.operand(2)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(pred, "operand 0 of select"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(on_true, "operand 1 of select"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(on_false, "operand 2 of select"));
  if (pred.type() != ElementType::kPred) {
    return Invalid("operand 0 of select must be pred, found ", Text(pred));
  }
  if (!SameTypeIgnoringPrecision(on_true.type(), on_false.type()) ||
      !SameBounds(on_true, on_false)) {
    return Invalid("operands 1 and 2 of select must have one shape, found ",
                   Text(on_true), " and ", Text(on_false));
  }
  if (!pred.IsScalar() && !SameBounds(pred, on_true)) {
    return Invalid("operand 0 of select must be a scalar or have dimensions ",
                   Text(on_true), ", found ", Text(pred));
  }
  Shape shape = MergeDynamic(on_true, on_false);
  if (!pred.IsScalar()) shape = MergeDynamic(shape, pred);
  shape.set_type(HigherPrecision(on_true.type(), on_false.type()));
  return shape;
}

absl::StatusOr<Shape> Clamp(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 3));
  const Shape& operand = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(operand, "operand 1 of clamp"));
  for (int64_t k : {0, 2}) {
    const Shape& bound = i.operand(k)->shape();
    RIDGE_RETURN_IF_ERROR(ExpectArray(bound, "a bound of clamp"));
    if (!SameTypeIgnoringPrecision(bound.type(), operand.type())) {
      return Invalid("bounds of clamp must have element type ",
                     Name(operand.type()), ", found ", Text(bound));
    }
    if (!bound.IsScalar() && !SameBounds(bound, operand)) {
      return Invalid("bounds of clamp must be scalars or have dimensions ",
                     Text(operand), ", found ", Text(bound));
    }
  }
  return operand;
}

absl::StatusOr<Shape> Convert(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  Shape shape = i.operand(0)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(shape, "the operand of convert"));
  RIDGE_RETURN_IF_ERROR(ExpectArray(i.shape(), "the result of convert"));
  if (IsComplex(shape.type()) && !IsComplex(i.shape().type())) {
    return Invalid("convert cannot make ", Name(i.shape().type()), " of ",
                   Name(shape.type()), ": take its real or imag first");
  }
  shape.set_type(i.shape().type());
  return shape;
}

absl::StatusOr<Shape> BitcastConvert(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& from = i.operand(0)->shape();
  const ElementType to = i.shape().type();
  RIDGE_RETURN_IF_ERROR(ExpectArray(from, "the operand of bitcast-convert"));
  RIDGE_RETURN_IF_ERROR(
      ExpectArray(i.shape(), "the result of bitcast-convert"));
  if (IsComplex(from.type()) != IsComplex(to)) {
    return Invalid("bitcast-convert cannot make ", Name(to), " of ",
                   Name(from.type()));
  }
  const int from_bits = Info(from.type()).bits;
  const int to_bits = Info(to).bits;
  if (from_bits == to_bits) {
    Shape shape = from;
    shape.set_type(to);
    return shape;
  }
  std::vector<int64_t> dims(from.dims().begin(), from.dims().end());
  absl::InlinedVector<bool, 6> dynamic;
  for (int64_t d = 0; d < from.rank(); ++d) {
    dynamic.push_back(from.IsDynamicDim(d));
  }
  if (from_bits > to_bits) {
    if (from_bits % to_bits != 0) {
      return Invalid("bitcast-convert from ", Name(from.type()), " to ",
                     Name(to), ": ", from_bits, " is no multiple of ", to_bits,
                     " bits");
    }
    dims.push_back(from_bits / to_bits);
    dynamic.push_back(false);
    return MakeArray(to, dims, dynamic);
  }
  const int64_t ratio = to_bits / from_bits;
  if (to_bits % from_bits != 0 || dims.empty() || dims.back() != ratio) {
    return Invalid("bitcast-convert from ", Text(from), " to ", Name(to),
                   " needs a last dimension of size ", ratio);
  }
  dims.pop_back();
  dynamic.pop_back();
  return MakeArray(to, dims, dynamic);
}

absl::StatusOr<Shape> StochasticConvert(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 2));
  Shape shape = i.operand(0)->shape();
  const Shape& random = i.operand(1)->shape();
  RIDGE_RETURN_IF_ERROR(ExpectArray(shape, "operand 0 of stochastic-convert"));
  RIDGE_RETURN_IF_ERROR(
      ExpectArray(i.shape(), "the result of stochastic-convert"));
  if (!random.IsArray() || !IsUnsigned(random.type()) ||
      Info(random.type()).bits != Info(shape.type()).bits ||
      !SameBounds(random, shape)) {
    return Invalid(
        "operand 1 of stochastic-convert must be unsigned, as wide as operand "
        "0 and of its dimensions, ",
        Text(shape), "; found ", Text(random));
  }
  const ElementType to = i.shape().type();
  if (!IsFloat(shape.type()) || IsComplex(to)) {
    return Invalid("stochastic-convert takes a float to a real type, found ",
                   Name(shape.type()), " to ", Name(to));
  }
  shape.set_type(to);
  return shape;
}

absl::StatusOr<Shape> ReducePrecision(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  const Shape& shape = i.operand(0)->shape();
  if (!shape.IsArray() || !IsFloat(shape.type())) {
    return Invalid("reduce-precision takes a float array, found ", Text(shape));
  }
  const int64_t exponent = i.int_attr(AttrId::kExponentBits);
  const int64_t mantissa = i.int_attr(AttrId::kMantissaBits);
  if (exponent < 1) {
    return Invalid("exponent_bits must be at least 1, found ", exponent);
  }
  if (mantissa < 0) {
    return Invalid("mantissa_bits must not be negative, found ", mantissa);
  }
  return shape;
}

absl::StatusOr<Shape> Copy(const Instruction& i) {
  RIDGE_RETURN_IF_ERROR(ExpectOperands(i, 1));
  return i.operand(0)->shape();
}

}  // namespace ridge::infer
