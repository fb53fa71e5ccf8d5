#include "fusion/plan_io.h"

#include "fusion/testing.h"
#include "fusion/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kEntry[] = R"(
  x = f32[8] parameter(0)
  e = f32[8] exponential(x)
  ROOT n = f32[8] negate(e))";

class PlanIoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RIDGE_ASSERT_OK_AND_ASSIGN(module_, EntryModule(kEntry));
    RIDGE_ASSERT_OK_AND_ASSIGN(plan_, MakePlan(*module_, "greedy"));
    text_ = PlanToText(*module_, plan_);
  }
  std::string Replaced(const std::string& from, const std::string& to) {
    std::string text = text_;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to);
  }
  std::unique_ptr<Module> module_;
  Plan plan_;
  std::string text_;
};

TEST_F(PlanIoTest, TextGivesThePlanBack) {
  plan_.computations[0].groups[0].schedule = {"loop", {{"vector", 4}}};
  text_ = PlanToText(*module_, plan_);
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan read, PlanFromText(text_, *module_, "plan"));
  EXPECT_EQ(PlanToText(*module_, read), text_);
  EXPECT_EQ(read.computations[0].groups[0].schedule,
            plan_.computations[0].groups[0].schedule);
}

TEST_F(PlanIoTest, APlanOfAnotherModuleNamesBoth) {
  auto other = EntryModule(R"(
  x = f32[9] parameter(0)
  e = f32[9] exponential(x)
  ROOT n = f32[9] negate(e))");
  RIDGE_ASSERT_OK(other);
  EXPECT_THAT(PlanFromText(text_, **other, "p.txt"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("p.txt"), HasSubstr("for module test"),
                             HasSubstr("not for test"))));
}

TEST_F(PlanIoTest, AnUnknownInstructionIsNamed) {
  EXPECT_THAT(
      PlanFromText(Replaced("members: \"e\"", "members: \"q\""), *module_, "p"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("no instruction %q")));
}

TEST_F(PlanIoTest, ABrokenInvariantIsNamed) {
  EXPECT_THAT(PlanFromText(Replaced("members: \"e\"\n", ""), *module_, "p"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("%e"), HasSubstr("stored by no"))));
}

TEST_F(PlanIoTest, ControlCharactersInATextAreRefused) {
  plan_.strategy = "greedy\033[31m";
  EXPECT_THAT(PlanFromText(PlanToText(*module_, plan_), *module_, "p.txt"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("p.txt"),
                             HasSubstr("strategy \"greedy\\x1b[31m"),
                             HasSubstr("control characters"))));
}

TEST_F(PlanIoTest, OtherTextIsNoPlan) {
  for (const char* text : {"", "HloModule m", "\x01\x02\x7f", "{}{}"}) {
    EXPECT_THAT(PlanFromText(text, *module_, "p"),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("p:")))
        << text;
  }
}

// A plan whose only kernel was compiled.
Plan Built(Plan plan) {
  BuiltKernel built;
  built.kernel = plan.computations[0].groups[0].name;
  built.target = "sm_90a";
  built.compiler = "NVRTC 13.0";
  built.code_bytes = 9000;
  BuiltFunction f;
  f.name = "f";
  f.threads = 256;
  f.registers = 40;
  f.spill_store_bytes = 16;
  f.spill_load_bytes = 24;
  f.static_shared_bytes = 1024;
  f.dynamic_shared_bytes = 65536;
  built.functions.push_back(f);
  plan.built.push_back(built);
  return plan;
}

TEST_F(PlanIoTest, WhatTheCompilerSaidIsKept) {
  const Plan built = Built(plan_);
  const std::string text = PlanToText(*module_, built);
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan read, PlanFromText(text, *module_, "p"));
  EXPECT_EQ(PlanToText(*module_, read), text);
  ASSERT_EQ(read.built.size(), 1u);
  const BuiltKernel& kernel = read.built[0];
  EXPECT_EQ(kernel.target, "sm_90a");
  EXPECT_EQ(kernel.compiler, "NVRTC 13.0");
  EXPECT_EQ(kernel.code_bytes, 9000);
  ASSERT_EQ(kernel.functions.size(), 1u);
  const BuiltFunction& f = kernel.functions[0];
  EXPECT_EQ(f.threads, 256);
  EXPECT_EQ(f.registers, 40);
  EXPECT_EQ(f.spill_store_bytes, 16);
  EXPECT_EQ(f.spill_load_bytes, 24);
  EXPECT_EQ(f.static_shared_bytes, 1024);
  EXPECT_EQ(f.dynamic_shared_bytes, 65536);
}

TEST_F(PlanIoTest, WhatTheCompilerSaidIsNoPartOfThePlan) {
  EXPECT_EQ(FingerprintPlan(*module_, Built(plan_)),
            FingerprintPlan(*module_, plan_));
  EXPECT_EQ(text_.find("built"), std::string::npos);
}

TEST_F(PlanIoTest, ImpossibleWordsOfTheCompilerAreRefused) {
  text_ = PlanToText(*module_, Built(plan_));
  const struct {
    const char* from;
    const char* to;
    const char* said;
  } cases[] = {
      {"registers: 40", "registers: -1", "registers is -1, not 0 to 255"},
      {"registers: 40", "registers: 256", "registers is 256, not 0 to 255"},
      {"threads: 256", "threads: 0", "threads is 0, not 1 to 1024"},
      {"threads: 256", "threads: 2147483647", "not 1 to 1024"},
      {"spill_store_bytes: 16", "spill_store_bytes: -16", "-16, not 0"},
      {"spill_load_bytes: 24", "spill_load_bytes: 99999999", "99999999, not"},
      {"static_shared_bytes: 1024", "static_shared_bytes: -1", "is -1, not 0"},
      {"dynamic_shared_bytes: 65536",
       "dynamic_shared_bytes: 9223372036854775807", "not 0 to 262144"},
      {"code_bytes: 9000", "code_bytes: -9000", "code_bytes is -9000, not 0"},
      {"  kernel: \"fusion", "  kernel: \"fission", "no such group or loop"},
      {"target: \"sm_90a\"", "target: \"\"", "no target"},
      {"compiler: \"NVRTC", "compiler: \"\\033[31m", "no name to print"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(PlanFromText(Replaced(c.from, c.to), *module_, "p.txt"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("p.txt"), HasSubstr("compiled kernel"),
                               HasSubstr(c.said))))
        << c.to;
  }
  Plan twice = Built(plan_);
  twice.built.push_back(twice.built[0]);
  EXPECT_THAT(
      PlanFromText(PlanToText(*module_, twice), *module_, "p"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("comes twice")));
  Plan repeated = Built(plan_);
  repeated.built[0].functions.push_back(repeated.built[0].functions[0]);
  EXPECT_THAT(PlanFromText(PlanToText(*module_, repeated), *module_, "p"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("function f comes twice")));
}

TEST_F(PlanIoTest, AListHoldsSeveral) {
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan none, MakePlan(*module_, "none"));
  PlanListProto list;
  *list.add_plans()->mutable_plan() = PlanToProto(*module_, plan_);
  *list.add_plans()->mutable_plan() = PlanToProto(*module_, none);
  const std::string text = PlanListToText(list);
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan best, PlanFromText(text, *module_, "l"));
  RIDGE_ASSERT_OK_AND_ASSIGN(Plan next, PlanFromText(text, *module_, "l", 1));
  EXPECT_EQ(best.strategy, "greedy");
  EXPECT_EQ(next.strategy, "none");
  EXPECT_THAT(PlanFromText(text, *module_, "l", 2),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no plan number 3; there are 2")));
  EXPECT_THAT(PlanFromText(text_, *module_, "o", 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no plan number 2; it holds one plan")));
  // Errors of a list are a list's.
  std::string broken = text;
  broken.insert(broken.find("plans {"), "plan { }\n");
  EXPECT_THAT(PlanFromText(broken, *module_, "l"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("PlanListProto"),
                             HasSubstr("expected a list of plans"))));
}

TEST(FingerprintTest, SeesAttributesThatLeaveShapesAlone) {
  auto with = [](absl::string_view slice) {
    auto module = EntryModule(absl::StrCat(R"(
  x = f32[8] parameter(0)
  ROOT s = f32[4] slice(x), slice={)",
                                           slice, "}"));
    EXPECT_THAT(module, IsOk());
    return FingerprintModule(**module);
  };
  EXPECT_NE(with("[0:4]"), with("[1:5]"));
  EXPECT_EQ(with("[0:4]"), with("[0:4]"));
}

}  // namespace
}  // namespace ridge
