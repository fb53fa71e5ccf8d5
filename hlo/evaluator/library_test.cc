// Opcodes that are a library of their own: norms, custom calls, dynamic sizes,
// random numbers; and what holds for a whole evaluation.
#include <cmath>
#include <string>

#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/error_bound.h"
#include "hlo/evaluator/testing.h"

namespace ridge {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Lt;

// Four examples of one feature: mean 2, variance 1.
constexpr char kExamples[] = R"(
    x = f32[4,1] constant({{1}, {1}, {3}, {3}})
    two = f32[1] constant({2})
    one = f32[1] constant({1})
)";

TEST(BatchNorm, TrainingGivesTheNormAndItsMoments) {
  EXPECT_THAT(Values(absl::StrCat("ENTRY e {", kExamples, R"(
    ROOT r = (f32[4,1], f32[1], f32[1]) batch-norm-training(x, two, one),
      epsilon=0, feature_index=1 })")),
              IsOkAndHolds(ElementsAre(-1, -1, 3, 3, 2, 1)));
}

TEST(BatchNorm, InferenceTakesTheMomentsAsTheyAre) {
  EXPECT_THAT(Values(absl::StrCat("ENTRY e {", kExamples, R"(
    ROOT r = f32[4,1] batch-norm-inference(x, two, one, two, one),
      epsilon=3, feature_index=1 })")),
              IsOkAndHolds(ElementsAre(0, 0, 2, 2)));
}

TEST(BatchNorm, GradTakesOutWhatMeanAndVarianceAbsorb) {
  EXPECT_THAT(Values(absl::StrCat("ENTRY e {", kExamples, R"(
    g = f32[4,1] constant({{1}, {0}, {0}, {1}})
    ROOT r = (f32[4,1], f32[1], f32[1])
      batch-norm-grad(x, two, two, one, g), epsilon=0, feature_index=1 })")),
              IsOkAndHolds(ElementsAre(1, -1, -1, 1, 0, 2)));
}

std::string Call(absl::string_view target) {
  return absl::StrCat(R"(ENTRY e { x = f32[2] constant({1, 2})
    ROOT named = f32[2] custom-call(x), custom_call_target=")",
                      target, "\" }");
}

TEST(CustomCall, ThatSaysWhereValuesLiveIsTheIdentity) {
  for (absl::string_view target : {"Sharding", "SPMDFullToShardShape",
                                   "MoveToHost", "annotate_device_placement"}) {
    EXPECT_THAT(Values(Call(target)), IsOkAndHolds(ElementsAre(1, 2)))
        << target;
  }
}

TEST(CustomCall, OfALibraryIsRefusedByName) {
  for (absl::string_view target :
       {"lapack_spotrf_ffi", "lapack_sgesdd", "__cublas$gemm"}) {
    EXPECT_THAT(RunText(Call(target)),
                StatusIs(absl::StatusCode::kUnimplemented,
                         AllOf(HasSubstr(std::string(target)),
                               HasSubstr("named (custom-call, line"))));
  }
}

TEST(CustomCall, TopKIsThatOfTheOpcode) {
  EXPECT_THAT(Values(R"(ENTRY e { x = f32[4] constant({1, 4, 2, 4})
    ROOT t = (f32[2], s32[2]) custom-call(x), custom_call_target="TopK" })"),
              IsOkAndHolds(ElementsAre(4, 4, 1, 3)));
}

TEST(DynamicSize, HasNoValueOnTheHost) {
  EXPECT_THAT(RunText(R"(ENTRY e { x = f32[4] constant({1, 2, 3, 4})
    n = s32[] constant(2)
    ROOT d = f32[<=4] set-dimension-size(x, n), dimensions={0} })"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("d (set")));
}

TEST(DynamicSize, OfAWholeDimensionIsTheIdentity) {
  EXPECT_THAT(Values(R"(ENTRY e { x = f32[2] constant({1, 2})
    n = s32[] constant(2)
    d = f32[2] set-dimension-size(x, n), dimensions={0}
    s = s32[] get-dimension-size(d), dimensions={0}
    ROOT t = (f32[2], s32[]) tuple(d, s) })"),
              IsOkAndHolds(ElementsAre(1, 2, 2)));
}

TEST(Rng, UniformStaysInItsRangeAndFollowsTheSeed) {
  constexpr char kText[] = R"(ENTRY e { a = f32[] constant(2)
    b = f32[] constant(3)
    ROOT r = f32[1000] rng(a, b), distribution=rng_uniform })";
  EXPECT_THAT(Values(kText), IsOkAndHolds(Each(AllOf(Ge(2), Lt(3)))));
  EvalOptions other;
  other.rng_seed = 7;
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<double> a, Values(kText));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<double> b, Values(kText));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<double> c, Values(kText, {}, other));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(Map, CallsItsComputationOnEveryElement) {
  EXPECT_THAT(Values(R"(
  f { a = s32[] parameter(0) b = s32[] parameter(1)
      ROOT r = s32[] subtract(a, b) }
  ENTRY e { x = s32[3] constant({5, 6, 7}) y = s32[3] constant({1, 2, 4})
    ROOT m = s32[3] map(x, y), dimensions={0}, to_apply=f })"),
              IsOkAndHolds(ElementsAre(4, 4, 3)));
}

// A sum long enough to be cut into parts, and a product.
TEST(Threads, DoNotChangeAnyBit) {
  constexpr char kText[] = R"(
  add { a = f64[] parameter(0) b = f64[] parameter(1)
        ROOT s = f64[] add(a, b) }
  ENTRY e { i = f64[300,1000] iota(), iota_dimension=1
    c = f64[300,1000] cosine(i)
    z = f64[] constant(0)
    s = f64[] reduce(c, z), dimensions={0,1}, to_apply=add
    p = f64[300,300] dot(c, c), lhs_contracting_dims={1},
      rhs_contracting_dims={1}
    ROOT t = (f64[], f64[300,300]) tuple(s, p) })";
  EvalOptions one;
  one.max_threads = 1;
  RIDGE_ASSERT_OK_AND_ASSIGN(Literal alone, RunText(kText, {}, one));
  RIDGE_ASSERT_OK_AND_ASSIGN(Literal together, RunText(kText));
  EXPECT_TRUE(alone == together);
}

TEST(Limits, MaxStepsCountsNestedLoops) {
  constexpr char kText[] = R"(
  less { s = (s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
         n = s32[] constant(10) ROOT r = pred[] compare(i, n), direction=LT }
  step { s = (s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
         o = s32[] constant(1) j = s32[] add(i, o) ROOT t = (s32[]) tuple(j) }
  outer { s = (s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
          z = s32[] constant(0) t = (s32[]) tuple(z)
          w = (s32[]) while(t), condition=less, body=step
          k = s32[] get-tuple-element(w), index=0
          m = s32[] multiply(k, z) o = s32[] constant(1)
          l = s32[] add(m, o) j = s32[] add(i, l)
          ROOT u = (s32[]) tuple(j) }
  ENTRY e { z = s32[] constant(0) t = (s32[]) tuple(z)
    ROOT loop = (s32[]) while(t), condition=less, body=outer })";
  EvalOptions options;
  options.max_steps = 110;
  EXPECT_THAT(Values(kText, {}, options), IsOkAndHolds(ElementsAre(10)));
  options.max_steps = 109;
  EXPECT_THAT(Values(kText, {}, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("more than max_steps = 109")));
}

// One byte an element, but eight for each of the copies that a bound takes.
TEST(Limits, BoundsThatDoNotFitAreAnError) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, ParseModule(R"(
    ENTRY e { x = f8e4m3fn[1000] parameter(0)
      ROOT wide = f8e4m3fn[1000] exponential(x) })"));
  std::vector<Literal> arguments = {
      Literal::Zeros(Shape::Array(ElementType::kF8E4M3FN, {1000}))};
  BoundOptions options;
  options.evaluation.max_bytes = 10000;
  RIDGE_EXPECT_OK(Evaluate(*module, arguments, options.evaluation));
  EXPECT_THAT(EvaluateWithBounds(*module, arguments, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("wide (exponential")));
}

}  // namespace
}  // namespace ridge
