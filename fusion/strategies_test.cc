#include "fusion/strategies.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "fusion/testing.h"
#include "fusion/traffic.h"
#include "fusion/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

class GreedyTest : public ::testing::Test {
 protected:
  Plan Make(absl::string_view entry, const StrategyOptions& options = {}) {
    auto module = EntryModule(entry);
    EXPECT_THAT(module, IsOk());
    module_ = *std::move(module);
    auto plan = MakePlan(*module_, "greedy", options);
    EXPECT_THAT(plan, IsOk());
    return plan.ok() ? *std::move(plan) : Plan();
  }
  std::unique_ptr<Module> module_;
};

TEST_F(GreedyTest, LayerNormIsOneKernel) {
  Plan plan = Make(R"(
  x = f32[4096,1024] parameter(0)
  zero = f32[] constant(0)
  n = f32[] constant(1024)
  nb = f32[4096] broadcast(n), dimensions={}
  s = f32[4096] reduce(x, zero), dimensions={1}, to_apply=add
  mean = f32[4096] divide(s, nb)
  mb = f32[4096,1024] broadcast(mean), dimensions={0}
  d = f32[4096,1024] subtract(x, mb)
  q = f32[4096,1024] multiply(d, d)
  v = f32[4096] reduce(q, zero), dimensions={1}, to_apply=add
  var = f32[4096] divide(v, nb)
  inv = f32[4096] rsqrt(var)
  ib = f32[4096,1024] broadcast(inv), dimensions={0}
  ROOT r = f32[4096,1024] multiply(d, ib))");
  EXPECT_EQ(Patterns(plan), "row_reduce");
}

TEST_F(GreedyTest, GroupNormIsOneKernel) {
  Plan plan = Make(R"(
  x = f32[16,64,64,512] parameter(0)
  r = f32[16,4096,32,16] reshape(x)
  zero = f32[] constant(0)
  n = f32[] constant(65536)
  nb = f32[16,32] broadcast(n), dimensions={}
  s = f32[16,32] reduce(r, zero), dimensions={1,3}, to_apply=add
  mean = f32[16,32] divide(s, nb)
  mb = f32[16,4096,32,16] broadcast(mean), dimensions={0,2}
  d = f32[16,4096,32,16] subtract(r, mb)
  q = f32[16,4096,32,16] multiply(d, d)
  v = f32[16,32] reduce(q, zero), dimensions={1,3}, to_apply=add
  var = f32[16,32] divide(v, nb)
  inv = f32[16,32] rsqrt(var)
  ib = f32[16,4096,32,16] broadcast(inv), dimensions={0,2}
  y = f32[16,4096,32,16] multiply(d, ib)
  ROOT o = f32[16,64,64,512] reshape(y))");
  EXPECT_EQ(Patterns(plan), "row_reduce");
}

TEST_F(GreedyTest, SeveralReductionsShareOnePass) {
  Plan plan = Make(R"(
  x = f32[4096,1024] parameter(0)
  zero = f32[] constant(0)
  low = f32[] constant(-inf)
  s = f32[4096] reduce(x, zero), dimensions={1}, to_apply=add
  m = f32[4096] reduce(x, low), dimensions={1}, to_apply=max
  t = f32[4096,1024] tanh(x)
  ROOT o = (f32[4096], f32[4096], f32[4096,1024]) tuple(s, m, t))");
  EXPECT_EQ(Patterns(plan), "row_reduce");
}

TEST_F(GreedyTest, NormBackwardIsRowsAndColumnsInOneKernel) {
  StrategyOptions options;
  options.limits.row_column = true;
  Plan plan = Make(R"(
  x = f32[4096,1024] parameter(0)
  dy = f32[4096,1024] parameter(1)
  zero = f32[] constant(0)
  q = f32[4096,1024] multiply(x, dy)
  s = f32[4096] reduce(q, zero), dimensions={1}, to_apply=add
  sb = f32[4096,1024] broadcast(s), dimensions={0}
  dx = f32[4096,1024] subtract(dy, sb)
  dg = f32[1024] reduce(q, zero), dimensions={0}, to_apply=add
  db = f32[1024] reduce(dy, zero), dimensions={0}, to_apply=add
  ROOT o = (f32[4096,1024], f32[1024], f32[1024]) tuple(dx, dg, db))",
                   options);
  EXPECT_EQ(Patterns(plan), "row_column");
}

TEST_F(GreedyTest, WithoutRowColumnTheyAreTwoKernelsThatReadTheInputs) {
  StrategyOptions options;
  options.limits.row_column = false;
  Plan plan = Make(R"(
  x = f32[4096,1024] parameter(0)
  zero = f32[] constant(0)
  e = f32[4096,1024] negate(x)
  s = f32[4096] reduce(e, zero), dimensions={1}, to_apply=add
  c = f32[1024] reduce(e, zero), dimensions={0}, to_apply=add
  ROOT o = (f32[4096], f32[1024]) tuple(s, c))",
                   options);
  ASSERT_EQ(plan.computations.back().groups.size(), 2);
  // The negation is computed twice rather than stored.
  EXPECT_EQ(GroupStoring(plan, "e"), nullptr);
}

TEST_F(GreedyTest, BatchNormReadsItsInputThreeTimesAndStoresNothingBetween) {
  Plan plan = Make(R"(
  x = f32[4096,256] parameter(0)
  zero = f32[] constant(0)
  s = f32[256] reduce(x, zero), dimensions={0}, to_apply=add
  sb = f32[4096,256] broadcast(s), dimensions={1}
  d = f32[4096,256] subtract(x, sb)
  q = f32[4096,256] multiply(d, d)
  v = f32[256] reduce(q, zero), dimensions={0}, to_apply=add
  vb = f32[4096,256] broadcast(v), dimensions={1}
  ROOT r = f32[4096,256] multiply(d, vb))");
  EXPECT_EQ(Patterns(plan), "column_reduce column_reduce loop");
  EXPECT_EQ(PlanTraffic(plan).tensor_trips, 4);
}

TEST_F(GreedyTest, AThirdGroupBetweenForbidsTheMerge) {
  Plan plan = Make(R"(
  x = f32[64,64] parameter(0)
  e = f32[64,64] exponential(x)
  d = f32[64,64] dot(e, e), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT a = f32[64,64] subtract(e, d))");
  EXPECT_EQ(Patterns(plan), "loop gemm loop");
}

// Steps of an optimizer for two parameters of these sizes.
std::string TwoSteps(int64_t m, int64_t n) {
  const std::string x = absl::StrCat("f32[", m, "]");
  const std::string y = absl::StrCat("f32[", n, "]");
  return absl::StrCat("\n  p = ", x, " parameter(0)\n  g = ", x,
                      " parameter(1)\n  q = ", y, " parameter(2)\n  h = ", y,
                      " parameter(3)\n  a = ", x, " subtract(p, g)\n  b = ", y,
                      " subtract(q, h)\n  ROOT o = (", x, ", ", y,
                      ") tuple(a, b)");
}

TEST_F(GreedyTest, OptimizerStepsOfOneSizeShareALaunch) {
  EXPECT_EQ(Patterns(Make(TwoSteps(1024, 1024))), "loop");
}

TEST_F(GreedyTest, LargeOptimizerStepsStayApart) {
  EXPECT_EQ(Patterns(Make(TwoSteps(1048576, 1048576))), "loop loop");
}

TEST_F(GreedyTest, OptimizerStepsOfOtherSizesStayApart) {
  EXPECT_EQ(Patterns(Make(TwoSteps(1024, 2048))), "loop loop");
}

TEST_F(GreedyTest, WhatIsReadAgainDoesNotWaitForAnIndependentGroup) {
  Plan plan = Make(R"(
  p = f32[64,64] parameter(0)
  q = f32[64,64] parameter(1)
  a = f32[64,64] exponential(p)
  b = f32[64,64] exponential(q)
  d = f32[64,64] dot(a, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT o = (f32[64,64], f32[64,64]) tuple(d, b))");
  EXPECT_EQ(GroupStoring(plan, "a")->roots.size(), 1);
}

TEST_F(GreedyTest, ASharedScalarIsComputedInEveryReader) {
  Plan plan = Make(R"(
  t = f32[] parameter(0)
  p = f32[4096] parameter(1)
  q = f32[8192] parameter(2)
  k = f32[] constant(0.9)
  w = f32[] power(k, t)
  wp = f32[4096] broadcast(w), dimensions={}
  wq = f32[8192] broadcast(w), dimensions={}
  a = f32[4096] divide(p, wp)
  b = f32[8192] divide(q, wq)
  ROOT o = (f32[4096], f32[8192]) tuple(a, b))");
  EXPECT_EQ(Patterns(plan), "loop loop");
  EXPECT_EQ(GroupStoring(plan, "w"), nullptr);
}

TEST_F(GreedyTest, LoopsAndBranchesArePlannedToo) {
  auto module = ParseModule(R"(
HloModule loop
body {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  e = f32[64] exponential(x)
  n = f32[64] negate(e)
  ROOT t = (s32[], f32[64]) tuple(j, n) }
condition {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  k = s32[] constant(3)
  ROOT c = pred[] compare(i, k), direction=LT }
ENTRY main {
  x = f32[64] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[64]) tuple(zero, x)
  ROOT w = (s32[], f32[64]) while(t), condition=condition, body=body
})");
  RIDGE_ASSERT_OK(module);
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan plan, MakePlan(**module, "greedy"));
  ASSERT_EQ(plan.computations.size(), 3);
  EXPECT_EQ(plan.computations.back().computation, (*module)->entry());
  const Group* group = GroupStoring(plan, "n");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->members.size(), 2);  // exponential and negate
}

TEST_F(GreedyTest, EveryDecisionIsLogged) {
  DecisionLog log;
  StrategyOptions options;
  options.log = &log;
  Make(R"(
  x = f32[4096,256] parameter(0)
  zero = f32[] constant(0)
  s = f32[256] reduce(x, zero), dimensions={0}, to_apply=add
  sb = f32[4096,256] broadcast(s), dimensions={1}
  ROOT d = f32[4096,256] subtract(x, sb))",
       options);
  ASSERT_FALSE(log.empty());
  EXPECT_THAT(ToString(log[0]), HasSubstr("merge %s -> %d: after-columns"));
}

TEST_F(GreedyTest, APricerMayRefuse) {
  class NoReductions : public GroupPricer {
   public:
    absl::StatusOr<GroupPrice> Price(const Group& group) override {
      if (group.pattern == GroupPattern::kRowReduce &&
          group.members.size() > 2) {
        return absl::UnimplementedError("only bare reductions");
      }
      GroupPrice p;
      p.us = 1;
      return p;
    }
  };
  NoReductions pricer;
  StrategyOptions options;
  options.pricer = &pricer;
  Plan plan = Make(R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  e = f32[64,128] exponential(x)
  ROOT s = f32[64] reduce(e, zero), dimensions={1}, to_apply=add)",
                   options);
  EXPECT_EQ(Patterns(plan), "loop row_reduce");
}

TEST_F(GreedyTest, IsTheSameEveryTime) {
  constexpr char kEntry[] = R"(
  x = f32[64,128] parameter(0)
  y = f32[64,128] parameter(1)
  a = f32[64,128] add(x, y)
  b = f32[64,128] multiply(x, y)
  c = f32[64,128] subtract(a, b)
  ROOT o = (f32[64,128], f32[64,128]) tuple(a, c))";
  Plan first = Make(kEntry);
  std::string names;
  for (const Group& g : first.computations[0].groups) names += g.name;
  Plan again = Make(kEntry);
  std::string names_again;
  for (const Group& g : again.computations[0].groups) names_again += g.name;
  EXPECT_EQ(names, names_again);
}

TEST(StrategiesTest, UnknownStrategyNamesTheKnown) {
  Module module;
  EXPECT_THAT(MakePlan(module, "best"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("known: none, greedy")));
}

TEST(StrategiesTest, ALongChainPlansInLinearTime) {
  // Ten times the instructions, at most some twenty times the time.
  auto seconds = [](int n) {
    std::string entry = "x0 = f32[64] parameter(0)\n";
    for (int i = 1; i <= n; ++i) {
      absl::StrAppend(&entry, i == n ? "ROOT " : "", "x", i, " = f32[64] ",
                      i % 3 == 0 ? "tanh" : "negate", "(x", i - 1, ")\n");
    }
    auto module = EntryModule(entry);
    EXPECT_THAT(module, IsOk());
    const absl::Time start = absl::Now();
    EXPECT_THAT(MakePlan(**module, "greedy"), IsOk());
    return absl::ToDoubleSeconds(absl::Now() - start);
  };
  const double small = seconds(1000);
  EXPECT_LT(seconds(10000), 40 * small + 0.2);
}

}  // namespace
}  // namespace ridge
