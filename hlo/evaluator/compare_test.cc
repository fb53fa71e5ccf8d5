// A tolerance is worth what it rejects: each test breaks a program in one way
// and asks that the comparison with the right program's result notices.
#include "hlo/evaluator/compare.h"

#include <cmath>

#include "absl/strings/substitute.h"
#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/evaluator/testing.h"

namespace ridge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// The result of `other` compared with the bounds of `text`, on the same
// arguments.
absl::StatusOr<Comparison> CompareTexts(absl::string_view text,
                                        absl::string_view other,
                                        uint64_t seed = 1) {
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(text));
  RIDGE_ASSIGN_OR_RETURN(std::unique_ptr<Module> broken, ParseModule(other));
  RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                         MakeInputs(*module, {seed}));
  RIDGE_ASSIGN_OR_RETURN(Literal got, Evaluate(*broken, arguments));
  return CompareWithEvaluator(*module, arguments, got);
}

MATCHER(Agrees, "") {
  *result_listener << (arg.ok() ? arg->ToString()
                                : std::string(arg.status().message()));
  return arg.ok() && arg->ok;
}
MATCHER(Differs, "") {
  *result_listener << (arg.ok() ? arg->ToString()
                                : std::string(arg.status().message()));
  return arg.ok() && !arg->ok;
}

std::string Sum(absl::string_view type, absl::string_view dims) {
  return absl::StrCat("add { a = ", type, "[] parameter(0) b = ", type,
                      "[] parameter(1) ROOT s = ", type, "[] add(a, b) }\n",
                      "ENTRY e { x = ", type, dims, " parameter(0)\n",
                      "z = ", type, "[] constant(0)\n");
}

TEST(Bound, ALongSumSummedInAnotherOrderAgrees) {
  EXPECT_THAT(CompareTexts(Sum("f32", "[10000]") + R"(
        ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add })",
                           Sum("f32", "[10000]") + R"(
        y = f32[100,100] reshape(x)
        p = f32[100] reduce(y, z), dimensions={0}, to_apply=add
        ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add })"),
              Agrees());
}

TEST(Bound, ASumThatDropsOneElementOfTenThousandDiffers) {
  EXPECT_THAT(CompareTexts(Sum("f32", "[10000]") + R"(
        ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add })",
                           Sum("f32", "[10000]") + R"(
        y = f32[9999] slice(x), slice={[0:9999]}
        ROOT r = f32[] reduce(y, z), dimensions={0}, to_apply=add })"),
              Differs());
}

TEST(Bound, ADroppedCastDiffers) {
  EXPECT_THAT(CompareTexts(R"(ENTRY e { x = f32[1000] parameter(0)
                 h = bf16[1000] convert(x)
                 w = f32[1000] convert(h)
                 ROOT y = f32[1000] exponential(w) })",
                           R"(ENTRY e { x = f32[1000] parameter(0)
                 ROOT y = f32[1000] exponential(x) })"),
              Differs());
}

TEST(Bound, ABf16IntermediateKeptInF32Differs) {
  EXPECT_THAT(CompareTexts(R"(ENTRY e { x = bf16[1000] parameter(0)
                 s = bf16[1000] multiply(x, x)
                 ROOT y = bf16[1000] subtract(s, x) })",
                           R"(ENTRY e { x = bf16[1000] parameter(0)
                 f = f32[1000] convert(x)
                 s = f32[1000] multiply(f, f)
                 d = f32[1000] subtract(s, f)
                 ROOT y = bf16[1000] convert(d) })"),
              Differs());
}

TEST(Bound, AWrongAxisDiffers) {
  EXPECT_THAT(CompareTexts(R"(ENTRY e { x = bf16[8,8] parameter(0)
      ROOT y = bf16[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
                           R"(ENTRY e { x = bf16[8,8] parameter(0)
      ROOT y = bf16[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1} })"),
              Differs());
}

TEST(Bound, ADotWithoutItsLastProductDiffers) {
  EXPECT_THAT(CompareTexts(R"(ENTRY e { x = f32[8,512] parameter(0)
      y = f32[512,8] parameter(1)
      ROOT d = f32[8,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
                           R"(ENTRY e { x = f32[8,512] parameter(0)
      y = f32[512,8] parameter(1)
      a = f32[8,511] slice(x), slice={[0:8],[0:511]}
      b = f32[511,8] slice(y), slice={[0:511],[0:8]}
      ROOT d = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })"),
              Differs());
}

TEST(Bound, ASoftmaxWithoutItsMaximumAgreesAndWithAnotherScaleDiffers) {
  constexpr char kHead[] =
      R"(add { a = f32[] parameter(0) b = f32[] parameter(1)
      ROOT s = f32[] add(a, b) }
    max { a = f32[] parameter(0) b = f32[] parameter(1)
      ROOT s = f32[] maximum(a, b) }
    ENTRY e { x = f32[4,64] parameter(0)
      z = f32[] constant(0)  i = f32[] constant(-inf)
      m = f32[4] reduce(x, i), dimensions={1}, to_apply=max
      n = f32[4,64] broadcast(m), dimensions={0}
)";
  constexpr char kTail[] = R"(
      s = f32[4] reduce(p, z), dimensions={1}, to_apply=add
      t = f32[4,64] broadcast(s), dimensions={0}
      ROOT y = f32[4,64] divide(p, t) })";
  const std::string softmax =
      absl::StrCat(kHead, R"(d = f32[4,64] subtract(x, n)
      p = f32[4,64] exponential(d))",
                   kTail);
  EXPECT_THAT(CompareTexts(softmax, absl::StrCat(kHead, R"(
      p = f32[4,64] exponential(x))",
                                                 kTail)),
              Agrees());
  EXPECT_THAT(CompareTexts(softmax, absl::StrCat(kHead, R"(
      c = f32[] constant(1.0001)
      k = f32[4,64] broadcast(c), dimensions={}
      d = f32[4,64] subtract(x, n)
      q = f32[4,64] multiply(d, k)
      p = f32[4,64] exponential(q))",
                                                 kTail)),
              Differs());
}

TEST(Bound, CancellationIsForgivenByTheSizeOfTheTermsOnly) {
  // (x + 1e6) - 1e6 is known to 1e6 ulps of x and no better.
  constexpr char kText[] = R"(ENTRY e { x = f32[100] parameter(0)
      c = f32[] constant(1e6)
      b = f32[100] broadcast(c), dimensions={}
      m = f32[100] multiply(x, b)
      a = f32[100] add(m, b)
      ROOT y = f32[100] subtract(a, b) })";
  EXPECT_THAT(CompareTexts(kText, kText), Agrees());
  EXPECT_THAT(CompareTexts(kText, R"(ENTRY e { x = f32[100] parameter(0)
      c = f32[] constant(1e6)
      d = f32[] constant(1000001)
      b = f32[100] broadcast(c), dimensions={}
      e = f32[100] broadcast(d), dimensions={}
      m = f32[100] multiply(x, b)
      a = f32[100] add(m, e)
      ROOT y = f32[100] subtract(a, b) })"),
              Differs());
}

TEST(Bound, ARemainderJumpsWhereTheQuotientPassesAnInteger) {
  // The last digits of a sum hang on its order; a millionth of it does not.
  const std::string sum = Sum("f32", "[100]") + R"(
        v = f32[100] reverse(x), dimensions={0}
        c = f32[] constant($0)
        r = f32[] reduce($1, z), dimensions={0}, to_apply=add
        ROOT y = f32[] remainder(r, c) })";
  auto text = [&](const char* divisor, const char* order) {
    return absl::Substitute(sum, divisor, order);
  };
  EXPECT_THAT(CompareTexts(text("1e-7", "x"), text("1e-7", "v")), Agrees());
  EXPECT_THAT(CompareTexts(text("1000", "x"), text("1000", "v")), Agrees());
  EXPECT_THAT(CompareTexts(text("1000", "x"), text("1e-7", "x")), Differs());
}

TEST(Bound, IntegersAreExact) {
  EXPECT_THAT(CompareTexts(R"(ENTRY e { x = s32[10] parameter(0)
                 ROOT y = s32[10] add(x, x) })",
                           R"(ENTRY e { x = s32[10] parameter(0)
                 o = s32[] constant(1)
                 b = s32[10] broadcast(o), dimensions={}
                 s = s32[10] add(x, x)
                 ROOT y = s32[10] or(s, b) })"),
              Differs());
}

TEST(Bound, AComparisonOfEqualSumsMayGoEitherWayAndSaysSo) {
  absl::StatusOr<Comparison> c = CompareTexts(Sum("f32", "[3]") + R"(
        r = f32[] reduce(x, z), dimensions={0}, to_apply=add
        v = f32[3] reverse(x), dimensions={0}
        s = f32[] reduce(v, z), dimensions={0}, to_apply=add
        ROOT y = pred[] compare(r, s), direction=GT })",
                                              Sum("f32", "[3]") + R"(
        ROOT y = pred[] constant(true) })");
  ASSERT_THAT(c, Agrees());
  EXPECT_THAT(c->notes, Contains(HasSubstr("closer than their error")));
}

TEST(Bound, RandomValuesHaveNone) {
  absl::StatusOr<Comparison> c = CompareTexts(
      R"(ENTRY e { a = f32[] constant(0) b = f32[] constant(1)
        ROOT y = f32[4] rng(a, b), distribution=rng_uniform })",
      R"(ENTRY e { ROOT y = f32[4] constant({1, 2, 3, 4}) })");
  ASSERT_THAT(c, Agrees());
  EXPECT_EQ(c->outputs[0].unbounded, 4);
}

// 0 + -0 is 0, and -0 alone is -0: a sum's start decides, which HLO leaves
// open. A number that was not summed has the sign it has.
TEST(Bound, ZerosOfSumsHaveEitherSign) {
  const std::string sum = Sum("f32", "[1]") + R"(
        n = f32[1] constant({-0.0})
        r = f32[] reduce(n, z), dimensions={0}, to_apply=add
        ROOT b = u32[] bitcast-convert(r) })";
  const std::string plain = R"(ENTRY e { x = f32[1] parameter(0)
        ROOT b = u32[] constant(2147483648) })";
  const std::string zero = R"(ENTRY e { x = f32[] parameter(0)
        ROOT b = u32[] constant(0) })";
  EXPECT_THAT(CompareTexts(sum, plain), Agrees());
  EXPECT_THAT(CompareTexts(R"(ENTRY e { x = f32[] parameter(0)
        z = f32[] constant(-0.0) ROOT b = u32[] bitcast-convert(z) })",
                           zero),
              Differs());
}

TEST(Compare, SaysHowFarAndWhere) {
  RIDGE_ASSERT_OK_AND_ASSIGN(
      std::unique_ptr<Module> module,
      ParseModule("ENTRY e { ROOT x = f32[2,2] parameter(0) }"));
  RIDGE_ASSERT_OK_AND_ASSIGN(
      Literal expected,
      RunText("ENTRY e { ROOT c = f32[2,2] constant({{1, 2}, {3, nan}}) }"));
  RIDGE_ASSERT_OK_AND_ASSIGN(
      Literal got,
      RunText(
          "ENTRY e { ROOT c = f32[2,2] constant({{1, 2}, {3.0000005, 0}}) }"));
  RIDGE_ASSERT_OK_AND_ASSIGN(Comparison c,
                             CompareOutputs(*module, got, expected));
  const OutputComparison& o = c.outputs[0];
  EXPECT_FALSE(c.ok);
  EXPECT_EQ(o.differ, 2);
  EXPECT_EQ(o.max_ulp, INT64_MAX);
  EXPECT_EQ(o.nan_or_inf_disagree, 1);
  EXPECT_NEAR(o.max_abs, 4.8e-7, 1e-7);
  EXPECT_THAT(o.index, ElementsAre(1, 0));
}

TEST(Compare, RefusesOtherShapes) {
  RIDGE_ASSERT_OK_AND_ASSIGN(
      std::unique_ptr<Module> module,
      ParseModule("ENTRY e { ROOT x = f32[2] parameter(0) }"));
  Literal two = Literal::Zeros(Shape::Array(ElementType::kF32, {2}));
  Literal three = Literal::Zeros(Shape::Array(ElementType::kF32, {3}));
  EXPECT_THAT(CompareOutputs(*module, three, two),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("got f32[3], expected f32[2]")));
}

TEST(StaticTolerance, GrowsWithLengthAndNarrowness) {
  auto relative = [](absl::string_view text) {
    auto module = ParseModule(text);
    return module.ok() ? StaticTolerances(**module).outputs[0].relative : -1;
  };
  const double f32 =
      relative(Sum("f32", "[100]") +
               "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }");
  const double longer =
      relative(Sum("f32", "[10000]") +
               "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }");
  const double bf16 =
      relative(Sum("bf16", "[100]") +
               "ROOT r = bf16[] reduce(x, z), dimensions={0}, to_apply=add }");
  EXPECT_GT(f32, 0);
  EXPECT_GT(longer, 5 * f32);
  EXPECT_GT(bf16, 0x1p-8);
  EXPECT_LT(longer, 1e-4);
}

}  // namespace
}  // namespace ridge
