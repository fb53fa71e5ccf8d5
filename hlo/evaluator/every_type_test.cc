// Every elementwise opcode in every element type that HLO lets it have: it is
// evaluated, and to what the same opcode gives in the widest type of its kind,
// rounded or wrapped to the type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/small_float.h"
#include "hlo/verify/shape_inference.h"

namespace ridge {
namespace {

constexpr int64_t kElements = 4;

std::vector<ElementType> ArrayTypes() {
  std::vector<ElementType> types;
#define V(e, ...) types.push_back(ElementType::e);
  RIDGE_ELEMENT_TYPES(V)
#undef V
  types.erase(std::remove_if(types.begin(), types.end(),
                             [](ElementType t) {
                               return Info(t).type_class == TypeClass::kOther;
                             }),
              types.end());
  return types;
}

// One instruction on parameters of one type.
struct Lone {
  std::unique_ptr<Module> module;
  Instruction* instruction;
};

Lone Make(Opcode opcode, ElementType type) {
  Lone lone{std::make_unique<Module>("lone"), nullptr};
  Computation* c = lone.module->AddComputation("main");
  lone.module->set_entry(c);
  const Shape shape = Shape::Array(type, {kElements});
  const Shape predicates = Shape::Array(ElementType::kPred, {kElements});
  std::vector<Instruction*> operands;
  for (int k = 0; k < Info(opcode).arity; ++k) {
    const bool chooses = opcode == Opcode::kSelect && k == 0;
    operands.push_back(c->AddParameter(k, chooses ? predicates : shape));
  }
  lone.instruction = c->Add(opcode, shape, operands);
  if (opcode == Opcode::kCompare) {
    lone.instruction->SetAttr(AttrId::kDirection,
                              EnumValue{static_cast<int32_t>(
                                  IsComplex(type) ? ComparisonDirection::kEq
                                                  : ComparisonDirection::kLt)});
  } else if (opcode == Opcode::kReducePrecision) {
    lone.instruction->SetAttr(AttrId::kExponentBits, int64_t{5});
    lone.instruction->SetAttr(AttrId::kMantissaBits, int64_t{2});
  }
  c->set_root(lone.instruction);
  return lone;
}

// Values that all types have: 1/2 and 1, or 0 and 1 (-1 in s1).
Literal Operand(const Shape& shape, int k) {
  const double low = IsFloat(shape.type()) || IsComplex(shape.type()) ? 0.5 : 0;
  const double high = shape.type() == ElementType::kS1 ? -1 : 1;
  Literal literal = Literal::Zeros(shape);
  for (int64_t e = 0; e < kElements; ++e) {
    SetDouble(&literal, e, (e >> (k % 2) & 1) != 0 ? high : low);
  }
  return literal;
}

std::vector<Literal> Operands(const Instruction& i) {
  std::vector<Literal> operands;
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    operands.push_back(Operand(i.operand(k)->shape(), static_cast<int>(k)));
  }
  return operands;
}

// The type in which arithmetic of `type` loses nothing.
ElementType Widest(ElementType type) {
  switch (Info(type).type_class) {
    case TypeClass::kFloat:
      return ElementType::kF64;
    case TypeClass::kComplex:
      return ElementType::kC128;
    case TypeClass::kUnsigned:
      return ElementType::kU64;
    default:
      return ElementType::kS64;
  }
}

// Whether the result hangs on the number of bits and not on the value alone.
bool HangsOnTheWidth(Opcode opcode, ElementType type) {
  if (opcode == Opcode::kCountLeadingZeros) return true;
  if (IsPred(type)) return opcode == Opcode::kNot;
  // 1 has the sign bit of one bit.
  if (type == ElementType::kU1) return opcode == Opcode::kShiftRightArithmetic;
  return type == ElementType::kS1 && (opcode == Opcode::kPopulationCount ||
                                      opcode == Opcode::kShiftRightLogical);
}

// What shape inference lets pass, but HLO gives no meaning to.
bool HasNoMeaning(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAtan2:
      return !IsFloat(type);
    case Opcode::kAbs:
      return IsPred(type);
    case Opcode::kClamp:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kRemainder:
      return IsComplex(type);  // which have no order
    default:
      return false;
  }
}

// Element i of `literal` as `type` would hold it.
double Narrowed(const Literal& literal, int64_t i, ElementType type) {
  const double wide = GetDouble(literal, i);
  if (IsPred(type)) return wide != 0;
  if (IsFloat(type)) {
    return type == ElementType::kF64 ? wide
           : type == ElementType::kF32
               ? static_cast<double>(static_cast<float>(wide))
               : DecodeFloat(type, EncodeFloat(type, wide));
  }
  const int bits = Info(type).bits;
  if (bits == 64) return IsUnsigned(type) && wide < 0 ? wide + 0x1p64 : wide;
  const int64_t span = int64_t{1} << bits;
  int64_t wrapped = GetInt(literal, i) & (span - 1);
  if (Info(type).type_class == TypeClass::kSigned && wrapped >= span / 2) {
    wrapped -= span;
  }
  return static_cast<double>(wrapped);
}

void ExpectClose(double got, double expected, ElementType type) {
  if (std::isnan(expected) || std::isinf(expected)) {
    EXPECT_EQ(std::isnan(got), std::isnan(expected)) << got;
    if (std::isinf(expected)) {
      EXPECT_EQ(got, expected);
    }
    return;
  }
  const ElementType part = ComplexComponent(type);
  // f32's functions are those of the library: one unit in the last place.
  const double unit =
      part == ElementType::kF32 ? std::ldexp(std::abs(expected), -23) : 0;
  EXPECT_NEAR(got, expected, IsComplex(type) ? 4 * unit + 1e-6 : unit);
}

class EveryTypeTest : public ::testing::TestWithParam<ElementType> {};

TEST_P(EveryTypeTest, OfEveryOpcodeThatMayHaveIt) {
  const ElementType type = GetParam();
  int evaluated = 0;
  for (int op = 0; op < kOpcodeCount; ++op) {
    const Opcode opcode = static_cast<Opcode>(op);
    if (Info(opcode).op_class != OpClass::kElementwise) continue;
    // Their result's type is their own (elementwise_test.cc).
    if (opcode == Opcode::kConvert || opcode == Opcode::kStochasticConvert) {
      continue;
    }
    SCOPED_TRACE(std::string(Name(opcode)));
    Lone narrow = Make(opcode, type);
    absl::StatusOr<Shape> shape = InferShape(*narrow.instruction);
    if (!shape.ok()) continue;
    narrow.instruction->set_shape(*shape);
    const std::vector<Literal> operands = Operands(*narrow.instruction);
    absl::StatusOr<Literal> got =
        EvaluateInstruction(*narrow.instruction, operands);
    if (HasNoMeaning(opcode, type)) {
      EXPECT_THAT(got, StatusIs(absl::StatusCode::kUnimplemented));
      continue;
    }
    EXPECT_THAT(got, IsOk());
    if (!got.ok()) continue;
    EXPECT_EQ(got->shape().type(), shape->type());
    ++evaluated;
    if (HangsOnTheWidth(opcode, type)) continue;
    Lone wide = Make(opcode, Widest(type));
    absl::StatusOr<Shape> wide_shape = InferShape(*wide.instruction);
    if (!wide_shape.ok()) continue;  // only pred has it
    wide.instruction->set_shape(*wide_shape);
    std::vector<Literal> same = Operands(*wide.instruction);
    for (size_t k = 0; k < same.size(); ++k) {
      for (int64_t e = 0; e < kElements; ++e) {
        SetDouble(&same[k], e, GetDouble(operands[k], e));
      }
    }
    absl::StatusOr<Literal> expected =
        EvaluateInstruction(*wide.instruction, same);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (int64_t e = 0; e < kElements; ++e) {
      SCOPED_TRACE(e);
      ExpectClose(GetDouble(*got, e),
                  Narrowed(*expected, e, ComplexComponent(shape->type())),
                  shape->type());
    }
  }
  EXPECT_GE(evaluated, 8);
}

// What a conversion of element i makes of it: floats saturate on their way to
// integers, integers wrap.
double Converted(const Literal& literal, int64_t i, ElementType to) {
  const ElementType from = literal.shape().type();
  if (IsInteger(to) && (IsFloat(from) || IsComplex(from))) {
    const double top =
        std::ldexp(1.0, Info(to).bits - (IsSigned(to) ? 1 : 0)) - 1;
    return std::min(std::trunc(GetDouble(literal, i)), top);
  }
  return Narrowed(literal, i, ComplexComponent(to));
}

TEST_P(EveryTypeTest, ConvertsToEveryType) {
  const Literal from = Operand(Shape::Array(GetParam(), {kElements}), 0);
  for (ElementType to : ArrayTypes()) {
    SCOPED_TRACE(std::string(Name(to)));
    Lone lone = Make(Opcode::kConvert, GetParam());
    lone.instruction->set_shape(Shape::Array(to, {kElements}));
    absl::StatusOr<Literal> got =
        EvaluateInstruction(*lone.instruction, {from});
    ASSERT_TRUE(got.ok()) << got.status();
    for (int64_t e = 0; e < kElements; ++e) {
      ExpectClose(GetDouble(*got, e), Converted(from, e, to), to);
    }
  }
}

std::string TypeName(const ::testing::TestParamInfo<ElementType>& info) {
  return std::string(Name(info.param));
}

INSTANTIATE_TEST_SUITE_P(Types, EveryTypeTest,
                         ::testing::ValuesIn(ArrayTypes()), TypeName);

}  // namespace
}  // namespace ridge
