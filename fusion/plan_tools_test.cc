// What is built on plans: traffic, explanations, assertions, changes, export.
#include "fusion/assertions.h"
#include "fusion/explain.h"
#include "fusion/export.h"
#include "fusion/proposals.h"
#include "fusion/testing.h"
#include "fusion/traffic.h"
#include "fusion/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two kernels: column sums may not be read at every point in the same pass.
constexpr char kTwoKernels[] = R"(
  x = f32[4096,256] parameter(0)
  zero = f32[] constant(0)
  s = f32[256] reduce(x, zero), dimensions={0}, to_apply=add
  sb = f32[4096,256] broadcast(s), dimensions={1}
  d = f32[4096,256] subtract(x, sb)
  ROOT e = f32[4096,256] exponential(d))";

class PlanToolsTest : public ::testing::Test {
 protected:
  void Make(absl::string_view entry, absl::string_view strategy = "greedy") {
    RIDGE_ASSERT_OK_AND_ASSIGN(module_, EntryModule(entry));
    StrategyOptions options;
    options.log = &log_;
    RIDGE_ASSERT_OK_AND_ASSIGN(plan_, MakePlan(*module_, strategy, options));
  }
  std::unique_ptr<Module> module_;
  Plan plan_;
  DecisionLog log_;
};

TEST_F(PlanToolsTest, ExplainNamesTheRuleAndWhatWouldFlipIt) {
  Make(kTwoKernels);
  RIDGE_ASSERT_OK_AND_ASSIGN(
      Explanation e, Explain(*module_, plan_, "%s", "d", nullptr, {}, &log_));
  EXPECT_EQ(e.shared, nullptr);
  EXPECT_EQ(e.decision.rule, Rule::kAfterColumns);
  EXPECT_THAT(e.flip, HasSubstr("one pass"));
  EXPECT_FALSE(e.history.empty());
}

TEST_F(PlanToolsTest, ExplainShowsTheSharedKernel) {
  Make(kTwoKernels);
  RIDGE_ASSERT_OK_AND_ASSIGN(Explanation e, Explain(*module_, plan_, "d", "e"));
  ASSERT_NE(e.shared, nullptr);
  EXPECT_THAT(e.ToString(), HasSubstr("share kernel"));
}

TEST_F(PlanToolsTest, ExplainNamesTheGroupsBetween) {
  Make(R"(
  x = f32[64,64] parameter(0)
  e = f32[64,64] exponential(x)
  d = f32[64,64] dot(e, e), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT a = f32[64,64] subtract(e, d))");
  RIDGE_ASSERT_OK_AND_ASSIGN(Explanation e, Explain(*module_, plan_, "e", "a"));
  EXPECT_EQ(e.decision.rule, Rule::kCycle);
  ASSERT_EQ(e.between.size(), 1);
  EXPECT_EQ(e.between[0]->hero->name(), "d");
}

TEST_F(PlanToolsTest, ExplainOffersWhatAPlanLeftOut) {
  Make(R"(
  x = f32[64] parameter(0)
  e = f32[64] exponential(x)
  ROOT n = f32[64] negate(e))",
       "none");
  RIDGE_ASSERT_OK_AND_ASSIGN(Explanation e, Explain(*module_, plan_, "e", "n"));
  EXPECT_TRUE(e.decision.allowed());
  ASSERT_TRUE(e.price_fused.has_value());
  EXPECT_LT(e.price_fused->us, e.price_a->us + e.price_b->us);
}

TEST_F(PlanToolsTest, ExplainRefusesWhatIsNoKernel) {
  Make(kTwoKernels);
  EXPECT_THAT(Explain(*module_, plan_, "x", "d"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("%x is in no kernel")));
  EXPECT_THAT(Explain(*module_, plan_, "nobody", "d"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("%nobody")));
}

TEST_F(PlanToolsTest, AssertionsThatHoldSayNothing) {
  Make(kTwoKernels);
  RIDGE_ASSERT_OK_AND_ASSIGN(
      PlanAssertions a,
      ParseAssertions({"max_kernels=2", "fuse=d,e", "apart=s,d"}));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<std::string> failed,
                             FailedAssertions(plan_, a));
  EXPECT_THAT(failed, IsEmpty());
}

TEST_F(PlanToolsTest, AssertionsThatFailSayWhatIs) {
  Make(kTwoKernels);
  RIDGE_ASSERT_OK_AND_ASSIGN(PlanAssertions a,
                             ParseAssertions({"max_kernels=1", "max_bytes=8",
                                              "fuse=s,d", "apart=d,e"}));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<std::string> failed,
                             FailedAssertions(plan_, a));
  EXPECT_THAT(
      failed,
      ElementsAre(HasSubstr("the plan has 2"), HasSubstr("the plan moves"),
                  HasSubstr("no kernel holds both"), HasSubstr("holds both")));
}

TEST_F(PlanToolsTest, AssertionsAreChecked) {
  Make(kTwoKernels);
  EXPECT_THAT(
      ParseAssertions({"max_kernels=many"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_kernels=N")));
  RIDGE_ASSERT_OK_AND_ASSIGN(PlanAssertions a, ParseAssertions({"fuse=q,d"}));
  EXPECT_THAT(FailedAssertions(plan_, a),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("%q")));
}

TEST_F(PlanToolsTest, AMergeThatARuleForbidsSaysWhich) {
  Make(kTwoKernels);
  Change change;
  change.computation = module_->entry();
  change.a = 0;
  change.b = 1;
  EXPECT_THAT(
      ApplyChange(*module_, plan_, change),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("after-columns")));
}

TEST_F(PlanToolsTest, ASplitAndAMergeGiveThePlanBack) {
  Make(R"(
  x = f32[64] parameter(0)
  e = f32[64] exponential(x)
  ROOT n = f32[64] negate(e))");
  Change split;
  split.kind = ChangeKind::kSplit;
  split.computation = module_->entry();
  split.at = Named(*module_, "e")[0];
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan two, ApplyChange(*module_, plan_, split));
  ASSERT_EQ(two.computations[0].groups.size(), 2);
  Change merge;
  merge.computation = module_->entry();
  merge.b = 1;
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan one, ApplyChange(*module_, two, merge));
  ASSERT_EQ(one.computations[0].groups.size(), 1);
  EXPECT_EQ(one.computations[0].groups[0].members,
            plan_.computations[0].groups[0].members);
}

TEST_F(PlanToolsTest, AValueMayBeComputedTwiceAndOnceAgain) {
  Make(R"(
  x = f32[64] parameter(0)
  e = f32[64] exponential(x)
  a = f32[64] negate(e)
  b = f32[64] abs(e)
  ROOT o = (f32[64], f32[64]) tuple(a, b))",
       "none");
  ASSERT_EQ(plan_.computations[0].groups.size(), 3);
  Change twice;
  twice.kind = ChangeKind::kDuplicate;
  twice.computation = module_->entry();
  twice.a = 0;
  twice.b = 1;
  twice.at = Named(*module_, "e")[0];
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan plan, ApplyChange(*module_, plan_, twice));
  EXPECT_EQ(GroupStoring(plan, "a")->members.size(), 2);
  EXPECT_EQ(GroupStoring(plan, "b")->members.size(), 1);
  Change once;
  once.kind = ChangeKind::kUnduplicate;
  once.computation = module_->entry();
  const auto& groups = plan.computations[0].groups;
  while (groups[once.a].members.size() != 2) ++once.a;
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan back, ApplyChange(*module_, plan, once));
  EXPECT_EQ(GroupStoring(back, "a")->members.size(), 1);
}

TEST_F(PlanToolsTest, ChangesAreTheSameForTheSameSeed) {
  Make(R"(
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  a = f32[64] exponential(x)
  b = f32[64] negate(a)
  c = f32[64] add(b, y)
  ROOT d = f32[64] multiply(c, a))",
       "none");
  auto list = [&](uint64_t seed) {
    std::string text;
    for (const Change& c : EnumerateChanges(plan_, 100, seed)) {
      absl::StrAppend(&text, static_cast<int>(c.kind), ":", c.a, ",", c.b, " ");
    }
    return text;
  };
  EXPECT_EQ(list(7), list(7));
  EXPECT_EQ(list(0), list(0));
  EXPECT_NE(list(1), list(2));
}

TEST_F(PlanToolsTest, ADotWithItsEpilogueIsAnOutputFusion) {
  Make(R"(
  x = f32[4,8] parameter(0)
  w = f32[8,16] parameter(1)
  b = f32[16] parameter(2)
  p = f32[4,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[4,16] broadcast(b), dimensions={1}
  ROOT r = f32[4,16] add(p, bb))");
  ASSERT_EQ(Patterns(plan_), "gemm");
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> fused,
                             ExportFused(*module_, plan_));
  const Instruction* root = fused->entry()->root();
  EXPECT_EQ(root->opcode(), Opcode::kFusion);
  EXPECT_EQ(root->enum_attr(AttrId::kKind, FusionKind::kLoop),
            FusionKind::kOutput);
}

TEST_F(PlanToolsTest, ADotAloneStaysADot) {
  Make(R"(
  x = f32[4,8] parameter(0)
  w = f32[8,16] parameter(1)
  ROOT p = f32[4,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> fused,
                             ExportFused(*module_, plan_));
  EXPECT_EQ(fused->entry()->root()->opcode(), Opcode::kDot);
}

}  // namespace
}  // namespace ridge
