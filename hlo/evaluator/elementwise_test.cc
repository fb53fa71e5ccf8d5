// What each elementwise opcode gives in the corner cases of each kind of type.
#include <cmath>
#include <limits>

#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/testing.h"

namespace ridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::NanSensitiveDoubleEq;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(IntegerDivide, ByZeroGivesAllOnesAndRemainderTheDividend) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s32[3] constant({7, -7, 0})
    z = s32[3] constant({0, 0, 0})
    d = s32[3] divide(x, z)
    r = s32[3] remainder(x, z)
    ROOT t = (s32[3], s32[3]) tuple(d, r)
  })"),
              IsOkAndHolds(ElementsAre(-1, -1, -1, 7, -7, 0)));
  EXPECT_THAT(Values(R"(ENTRY e {
    x = u8[1] constant({7})
    z = u8[1] constant({0})
    ROOT d = u8[1] divide(x, z)
  })"),
              IsOkAndHolds(ElementsAre(255)));
}

TEST(IntegerDivide, SmallestByMinusOneIsItself) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s32[] constant(-2147483648)
    m = s32[] constant(-1)
    d = s32[] divide(x, m)
    r = s32[] remainder(x, m)
    y = s8[] constant(-128)
    n = s8[] constant(-1)
    f = s8[] divide(y, n)
    ROOT t = (s32[], s32[], s8[]) tuple(d, r, f)
  })"),
              IsOkAndHolds(ElementsAre(-2147483648.0, 0, -128)));
}

TEST(IntegerDivide, TruncatesTowardsZero) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s64[4] constant({7, -7, 7, -7})
    y = s64[4] constant({2, 2, -2, -2})
    d = s64[4] divide(x, y)
    r = s64[4] remainder(x, y)
    ROOT t = (s64[4], s64[4]) tuple(d, r)
  })"),
              IsOkAndHolds(ElementsAre(3, -3, -3, 3, 1, -1, 1, -1)));
}

TEST(Tanh, ZeroKeepsItsSign) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2] constant({-0.0, 0})
    t = f32[2] tanh(x)
    o = f32[2] constant({1, 1})
    ROOT d = f32[2] divide(o, t)
  })"),
              IsOkAndHolds(ElementsAre(-INFINITY, INFINITY)));
}

TEST(Shift, ByTheWidthOrMoreGivesZeroOrTheSign) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s8[3] constant({-128, 64, -1})
    n = s8[3] constant({8, 9, -1})
    l = s8[3] shift-left(x, n)
    a = s8[3] shift-right-arithmetic(x, n)
    u = s8[3] shift-right-logical(x, n)
    ROOT t = (s8[3], s8[3], s8[3]) tuple(l, a, u)
  })"),
              IsOkAndHolds(ElementsAre(0, 0, 0, -1, 0, -1, 0, 0, 0)));
}

TEST(Shift, LogicalRightFillsTheWidthOfTheTypeWithZeros) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s16[] constant(-1)
    n = s16[] constant(4)
    ROOT u = s16[] shift-right-logical(x, n)
  })"),
              IsOkAndHolds(ElementsAre(4095)));
}

TEST(Integers, WrapInTheirWidth) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s8[2] constant({127, 100})
    y = s8[2] constant({1, 3})
    a = s8[2] add(x, y)
    m = s8[2] multiply(x, y)
    u = u4[] constant(15)
    v = u4[] constant(2)
    b = u4[] add(u, v)
    ROOT t = (s8[2], s8[2], u4[]) tuple(a, m, b)
  })"),
              IsOkAndHolds(ElementsAre(-128, 103, 127, 44, 1)));
}

TEST(Integers, PowerOfNegativeExponentIsZeroButForOnes) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s32[5] constant({2, 1, -1, -1, 3})
    y = s32[5] constant({-1, -5, -3, -2, 4})
    ROOT p = s32[5] power(x, y)
  })"),
              IsOkAndHolds(ElementsAre(0, 1, -1, 1, 81)));
}

TEST(Integers, CountBitsOfTheirWidth) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s8[3] constant({0, 1, -1})
    c = s8[3] count-leading-zeros(x)
    p = s8[3] popcnt(x)
    ROOT t = (s8[3], s8[3]) tuple(c, p)
  })"),
              IsOkAndHolds(ElementsAre(8, 7, 0, 0, 1, 8)));
}

TEST(Convert, FloatToIntegerTruncatesAndSaturatesAndNanIsZero) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[6] constant({2.9, -2.9, 1e20, -1e20, nan, inf})
    a = s8[6] convert(x)
    b = u16[6] convert(x)
    ROOT t = (s8[6], u16[6]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(2, -2, 127, -128, 0, 127, 2, 0, 65535, 0,
                                       0, 65535)));
}

TEST(Convert, IntegerToIntegerWraps) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s32[3] constant({300, -1, 129})
    a = s8[3] convert(x)
    b = u8[3] convert(x)
    ROOT t = (s8[3], u8[3]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(44, -1, -127, 44, 255, 129)));
}

TEST(Convert, RoundsOnceToNearestEven) {
  // 1 + 2^-8 lies between two bf16; + 2^-30 decides, and would be lost on the
  // way through f32.
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f64[3] constant({1.00390625, 1.00390625093132257, 1.01171875})
    ROOT y = bf16[3] convert(x)
  })"),
              IsOkAndHolds(ElementsAre(1, 1.0078125, 1.015625)));
}

TEST(Convert, AnythingToPredIsNotZero) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[4] constant({0, -0.0, 0.5, nan})
    ROOT y = pred[4] convert(x)
  })"),
              IsOkAndHolds(ElementsAre(0, 0, 1, 1)));
}

TEST(Convert, SmallFloatsOverflowAsTheirFormatsSay) {
  EXPECT_THAT(
      Values(R"(ENTRY e {
    x = f32[2] constant({1e9, 448})
    a = f8e5m2[2] convert(x)
    b = f8e4m3fn[2] convert(x)
    ROOT t = (f8e5m2[2], f8e4m3fn[2]) tuple(a, b)
  })"),
      IsOkAndHolds(ElementsAre(kInf, 448, NanSensitiveDoubleEq(NAN), 448)));
}

TEST(Bf16, EveryInstructionRounds) {
  // 256 + 1 is not a bf16: the two halves are lost one by one.
  EXPECT_THAT(Values(R"(ENTRY e {
    x = bf16[] constant(256)
    y = bf16[] constant(1)
    a = bf16[] add(x, y)
    ROOT b = bf16[] add(a, y)
  })"),
              IsOkAndHolds(ElementsAre(256)));
}

TEST(F16, SubnormalsAndOverflow) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f16[3] constant({0.00006103515625, 60000, -60000})
    y = f16[3] constant({0.5, 2, 2})
    ROOT m = f16[3] multiply(x, y)
  })"),
              IsOkAndHolds(ElementsAre(0x1p-15, kInf, -kInf)));
}

TEST(Compare, NanIsUnorderedButForNe) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2] constant({nan, 1})
    y = f32[2] constant({nan, nan})
    a = pred[2] compare(x, y), direction=EQ
    b = pred[2] compare(x, y), direction=NE
    c = pred[2] compare(x, y), direction=GE
    ROOT t = (pred[2], pred[2], pred[2]) tuple(a, b, c)
  })"),
              IsOkAndHolds(ElementsAre(0, 0, 1, 1, 0, 0)));
}

TEST(Compare, TotalOrderRanksZerosAndNans) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[4] constant({-nan, -0.0, inf, -inf})
    y = f32[4] constant({-inf, 0, nan, -nan})
    ROOT c = pred[4] compare(x, y), direction=LT, type=TOTALORDER
  })"),
              IsOkAndHolds(ElementsAre(1, 1, 1, 0)));
}

TEST(MinMax, PropagateNan) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2] constant({nan, 1})
    y = f32[2] constant({1, nan})
    a = f32[2] maximum(x, y)
    b = f32[2] minimum(x, y)
    ROOT t = (f32[2], f32[2]) tuple(a, b)
  })"),
              IsOkAndHolds(testing::Each(NanSensitiveDoubleEq(NAN))));
}

TEST(Remainder, TakesTheSignOfTheDividend) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[3] constant({5.5, -5.5, 5.5})
    y = f32[3] constant({2, 2, -2})
    ROOT r = f32[3] remainder(x, y)
  })"),
              IsOkAndHolds(ElementsAre(1.5, -1.5, 1.5)));
}

TEST(Rounding, AwayFromZeroAndToEven) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[4] constant({0.5, 1.5, 2.5, -2.5})
    a = f32[4] round-nearest-afz(x)
    b = f32[4] round-nearest-even(x)
    ROOT t = (f32[4], f32[4]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(1, 2, 3, -3, 0, 2, 2, -2)));
}

TEST(ReducePrecision, RoundsMantissaAndCutsExponents) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[4] constant({1.001, 100000, -100000, 1e-9})
    ROOT r = f32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=10
  })"),
              IsOkAndHolds(ElementsAre(1.0009765625, kInf, -kInf, 0)));
}

TEST(StochasticConvert, RoundsUpWhereTheRandomBitsFallBelowThePartCutOff) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[4] constant({1.5, 1.5, -1.25, 300})
    r = u32[4] constant({0, 4000000000, 1, 7})
    ROOT s = s8[4] stochastic-convert(x, r)
  })"),
              IsOkAndHolds(ElementsAre(2, 1, -2, 127)));
}

TEST(BitcastConvert, BetweenWidthsFoldsTheLastDimensionLowPartFirst) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = u32[1] constant({67305985})
    a = u8[1,4] bitcast-convert(x)
    b = u16[1,2] bitcast-convert(x)
    c = u32[1] bitcast-convert(a)
    ROOT t = (u8[1,4], u16[1,2], u32[1]) tuple(a, b, c)
  })"),
              IsOkAndHolds(ElementsAre(1, 2, 3, 4, 513, 1027, 67305985)));
}

TEST(BitcastConvert, SubByteTypesArePackedFromTheLowEnd) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = u8[1] constant({241})
    ROOT a = s4[1,2] bitcast-convert(x)
  })"),
              IsOkAndHolds(ElementsAre(1, -1)));
}

TEST(Complex, ArithmeticAndParts) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = c64[] constant((3, 4))
    y = c64[] constant((0, 2))
    m = c64[] multiply(x, y)
    d = c64[] divide(x, y)
    a = f32[] abs(x)
    i = f32[] imag(x)
    ROOT t = (c64[], c64[], f32[], f32[]) tuple(m, d, a, i)
  })"),
              IsOkAndHolds(ElementsAre(-8, 6, 2, -1.5, 5, 4)));
}

TEST(Sign, KeepsZeroAndNan) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[4] constant({-3, 0, 7, nan})
    ROOT s = f32[4] sign(x)
  })"),
              IsOkAndHolds(ElementsAre(-1, 0, 1, NanSensitiveDoubleEq(NAN))));
}

TEST(Clamp, TakesScalarLimits) {
  EXPECT_THAT(Values(R"(ENTRY e {
    lo = f32[] constant(0)
    x = f32[3] constant({-1, 0.5, 9})
    hi = f32[] constant(1)
    ROOT c = f32[3] clamp(lo, x, hi)
  })"),
              IsOkAndHolds(ElementsAre(0, 0.5, 1)));
}

TEST(Precision, F64KeepsWhatF32Loses) {
  EvalOptions options;
  options.precision = EvalPrecision::kF64;
  const char* text = R"(ENTRY e {
    x = f32[] constant(16777216)
    y = f32[] constant(1)
    a = f32[] add(x, y)
    ROOT s = f32[] subtract(a, x)
  })";
  EXPECT_THAT(Values(text), IsOkAndHolds(ElementsAre(0)));
  EXPECT_THAT(Values(text, {}, options), IsOkAndHolds(ElementsAre(1)));
}

TEST(Errors, NameInstructionAndLine) {
  Shape shape = Shape::Array(ElementType::kF32, {2});
  EXPECT_THAT(RunText("ENTRY e {\n  x = f32[2] parameter(0)\n"
                      "  y = pred[2] constant({true, false})\n"
                      "  ROOT n = f32[2] custom-call(x), "
                      "custom_call_target=\"mystery\"\n}",
                      {Literal::Zeros(shape)}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("n (custom-call, line 4): custom call "
                                 "\"mystery\"")));
}

}  // namespace
}  // namespace ridge
