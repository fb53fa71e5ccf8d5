// One row per rewrite rule: HLO in, the expression that the rule makes of it
// out. Every row is also evaluated before and after, and has to give the same
// numbers; every rule of every table has a row.
#include "hlo/passes/rules.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/passes/dce.h"
#include "hlo/passes/expression.h"
#include "hlo/passes/rules_test_cases.h"
#include "hlo/testing/differential.h"
#include "hlo/text/parser.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

std::vector<RuleCase> RuleCases() {
  std::vector<RuleCase> cases(ValueRuleCases().begin(), ValueRuleCases().end());
  cases.insert(cases.end(), ShapeRuleCases().begin(), ShapeRuleCases().end());
  return cases;
}

const RewriteRule* FindRule(absl::string_view name) {
  static const auto* const tables =
      new std::vector<absl::Span<const RewriteRule>>(AllRuleTables());
  for (absl::Span<const RewriteRule> table : *tables) {
    for (const RewriteRule& rule : table) {
      if (rule.name == name) return &rule;
    }
  }
  return nullptr;
}

std::unique_ptr<Module> Parse(const RuleCase& c) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ParseModule(absl::StrCat("HloModule test\n", kRuleCaseComputations,
                               "ENTRY e {\n", c.before, "\n}\n"));
  EXPECT_TRUE(module.ok()) << c.rule << ": " << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

class RuleTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, RewritesToExpression) {
  const RuleCase& c = GetParam();
  const RewriteRule* rule = FindRule(c.rule);
  ASSERT_NE(rule, nullptr) << c.rule;
  std::unique_ptr<Module> module = Parse(c);
  ASSERT_NE(module, nullptr);
  ASSERT_TRUE(VerifyStatus(*module).ok()) << VerifyStatus(*module);
  RewriteStats stats;
  PassOptions options;
  options.stats = &stats;
  absl::Span<const RewriteRule> table(rule, 1);
  absl::StatusOr<bool> changed = ApplyRules(module.get(), {table}, options);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_TRUE(stats.converged);
  EXPECT_TRUE(VerifyStatus(*module).ok()) << VerifyStatus(*module);
  EXPECT_EQ(Expression(module->entry()->root()), c.after);
}

TEST_P(RuleTest, ComputesTheSame) {
  const RuleCase& c = GetParam();
  static const RewriteRule* rule;
  rule = FindRule(c.rule);
  ASSERT_NE(rule, nullptr);
  std::unique_ptr<Module> module = Parse(c);
  ASSERT_NE(module, nullptr);
  Pass pass("one_rule", "the rule under test",
            [](Module* m, const PassOptions& options) {
              return ApplyRules(m, {absl::Span<const RewriteRule>(rule, 1)},
                                options);
            });
  absl::StatusOr<DifferentialCase> test =
      DifferentialCase::Make(*module, {/*input_seed=*/3});
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_TRUE(test->Check(pass).ok()) << test->Check(pass);
}

class UnsafeRuleTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(UnsafeRuleTest, AppliesOnlyWhenAllowed) {
  const RuleCase& c = GetParam();
  const RewriteRule* rule = FindRule(c.rule);
  ASSERT_NE(rule, nullptr) << c.rule;
  std::unique_ptr<Module> module = Parse(c);
  ASSERT_NE(module, nullptr);
  absl::Span<const RewriteRule> table(rule, 1);
  EXPECT_FALSE(*ApplyRules(module.get(), {table}, PassOptions()));
  PassOptions options;
  options.allow_nan_unsafe = true;
  options.allow_signed_zero = true;
  EXPECT_TRUE(*ApplyRules(module.get(), {table}, options));
  EXPECT_EQ(Expression(module->entry()->root()), c.after);
}

std::string CaseName(const ::testing::TestParamInfo<RuleCase>& info) {
  std::string name = absl::StrCat(info.param.rule, "_", info.index);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllRules, RuleTest, ::testing::ValuesIn(RuleCases()),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(AllRules, UnsafeRuleTest,
                         ::testing::ValuesIn(UnsafeRuleCases().begin(),
                                             UnsafeRuleCases().end()),
                         CaseName);

TEST(RulesTest, EveryRuleHasACaseAndANameOfItsOwn) {
  std::set<std::string> tested;
  for (const RuleCase& c : RuleCases()) tested.insert(std::string(c.rule));
  for (const RuleCase& c : UnsafeRuleCases()) {
    tested.insert(std::string(c.rule));
  }
  std::set<std::string> names;
  for (absl::Span<const RewriteRule> table : AllRuleTables()) {
    for (const RewriteRule& rule : table) {
      EXPECT_TRUE(names.insert(std::string(rule.name)).second) << rule.name;
      EXPECT_TRUE(tested.count(std::string(rule.name)) == 1)
          << rule.name << " has no case";
      EXPECT_FALSE(rule.equation.empty()) << rule.name;
    }
  }
}

// What must not be rewritten.
class NoRewriteTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(NoRewriteTest, StaysAsItIs) {
  const RuleCase& c = GetParam();
  std::unique_ptr<Module> module = Parse(c);
  ASSERT_NE(module, nullptr);
  absl::StatusOr<bool> changed =
      ApplyRules(module.get(), AllRuleTables(), PassOptions());
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(Expression(module->entry()->root()), c.after);
}

INSTANTIATE_TEST_SUITE_P(AllRules, NoRewriteTest,
                         ::testing::ValuesIn(KeptCases().begin(),
                                             KeptCases().end()),
                         CaseName);

TEST(RulesTest, ReplacementKeepsNameLocationAndMetadata) {
  RuleCase c{"divide-by-power-of-two",
             "p = f32[4] parameter(0)\n"
             "c = f32[] constant(4)\n"
             "b = f32[4] broadcast(c), dimensions={}\n"
             "ROOT quotient = f32[4] divide(p, b), "
             "metadata={op_name=\"jit/div\"}",
             ""};
  std::unique_ptr<Module> module = Parse(c);
  ASSERT_NE(module, nullptr);
  int line = module->entry()->root()->location().line;
  ASSERT_TRUE(ApplyRules(module.get(), AllRuleTables(), PassOptions()).ok());
  const Instruction* root = module->entry()->root();
  EXPECT_EQ(root->opcode(), Opcode::kMultiply);
  EXPECT_EQ(root->name(), "quotient");
  EXPECT_EQ(root->location().line, line);
  EXPECT_EQ(root->text(AttrId::kMetadata), "{op_name=\"jit/div\"}");
}

}  // namespace
}  // namespace ridge
