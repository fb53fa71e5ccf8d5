// Loops as one kernel: what the rounds leave, against the evaluator; and the
// loops that are none.
#include "backends/kernel/sequential.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/kernel/interpreter.h"
#include "backends/kernel/sequential_cases.h"
#include "backends/kernel/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/compare.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

// Runs the loop that is the root of the entry as one kernel.
absl::StatusOr<Comparison> CheckLoop(absl::string_view hlo,
                                     SequentialKernel* built) {
  RIDGE_ASSIGN_OR_RETURN(const Module* module, KeepModule(hlo));
  const Instruction& loop = *module->entry()->root();
  RIDGE_ASSIGN_OR_RETURN(*built, BuildSequentialKernel(loop));
  const std::vector<Literal> arguments = TestInputs(*module, 11);
  std::vector<Literal> state;
  for (const Instruction* i : loop.operand(0)->operands()) {
    state.push_back(i->opcode() == Opcode::kConstant
                        ? i->literal()
                        : arguments[i->parameter_number()]);
  }
  std::vector<Literal> inputs;
  for (int64_t element : built->input_element) {
    RIDGE_RET_CHECK(element >= 0);
    inputs.push_back(state[element]);
  }
  RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> outputs,
                         InterpretKernel(built->kernel, inputs));
  for (size_t k = 0; k < outputs.size(); ++k) {
    state[built->output_element[k]] = outputs[k];
  }
  Literal& counter = state[built->counter_element];
  std::memcpy(counter.mutable_bytes(), &built->counter_end,
              counter.byte_size());
  return CompareWithEvaluator(*module, arguments,
                              Literal::Tuple(std::move(state)));
}

class SequentialTest : public ::testing::TestWithParam<SequentialCase> {};

TEST_P(SequentialTest, LeavesWhatTheLoopLeaves) {
  SequentialKernel built;
  auto comparison = CheckLoop(GetParam().hlo, &built);
  ASSERT_EQ(comparison.status(), absl::OkStatus());
  EXPECT_TRUE(comparison->ok) << comparison->ToString() << "\n"
                              << ToString(built.kernel);
}

INSTANTIATE_TEST_SUITE_P(Cases, SequentialTest,
                         ::testing::ValuesIn(kSequentialCases),
                         [](const ::testing::TestParamInfo<SequentialCase>& i) {
                           return i.param.name;
                         });

TEST(SequentialKernelTest, KnowsWhenNothingOfTheInitialValueIsLeft) {
  SequentialKernel scan, backwards;
  ASSERT_TRUE(CheckLoop(kSequentialCases[0].hlo, &scan).ok());
  ASSERT_TRUE(CheckLoop(kSequentialCases[1].hlo, &backwards).ok());
  // Every row is written; every other row is.
  EXPECT_THAT(scan.overwritten, ::testing::ElementsAre(true, true));
  EXPECT_THAT(backwards.overwritten, ::testing::ElementsAre(true, true, false));
  // One round fewer leaves a row.
  SequentialKernel fewer;
  ASSERT_TRUE(CheckLoop(absl::StrReplaceAll(kSequentialCases[0].hlo,
                                            {{"constant(5)", "constant(4)"}}),
                        &fewer)
                  .ok());
  EXPECT_THAT(fewer.overwritten, ::testing::ElementsAre(true, false));
}

TEST(SequentialKernelTest, ALoopThatOnlyCountsIsItsLastCount) {
  auto module = KeepModule(R"(HloModule m
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  three = s32[] constant(3)
  n = s32[] add(i, three)
  ROOT o = (s32[], f32[4]) tuple(n, x)
}
condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(1000000)
  ROOT c = pred[] compare(i, limit), direction=LT
}
ENTRY e {
  start = s32[] constant(0)
  x = f32[4] parameter(0)
  t = (s32[], f32[4]) tuple(start, x)
  ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body
})");
  ASSERT_EQ(module.status(), absl::OkStatus());
  auto built = BuildSequentialKernel(*(*module)->entry()->root());
  ASSERT_EQ(built.status(), absl::OkStatus());
  EXPECT_TRUE(built->kernel.stores.empty());
  EXPECT_EQ(built->counter_element, 0);
  EXPECT_EQ(built->counter_end, 1000002);
}

// The body's text, of a loop over an f32[4,4] `x` and an f32[4] `h`.
absl::Status Refusal(absl::string_view body, absl::string_view next_x,
                     absl::string_view next_h) {
  SequentialKernel built;
  return CheckLoop(
             absl::StrCat(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
both { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  x = f32[] add(a, c)
  y = f32[] multiply(b, d)
  ROOT r = (f32[], f32[]) tuple(x, y) }
body {
  s = (s32[], f32[4,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  zero = s32[] constant(0)
  fzero = f32[] constant(0)
  next = s32[] add(i, one)
  x = f32[4,4] get-tuple-element(s), index=1
  h = f32[4] get-tuple-element(s), index=2
)",
                          body,
                          "\n  ROOT o = (s32[], f32[4,4], f32[4]) tuple(next, ",
                          next_x, ", ", next_h, R"()
}
condition {
  s = (s32[], f32[4,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(3)
  ROOT c = pred[] compare(i, limit), direction=LT
}
ENTRY e {
  start = s32[] constant(0)
  x = f32[4,4] parameter(0)
  h = f32[4] parameter(1)
  t = (s32[], f32[4,4], f32[4]) tuple(start, x, h)
  ROOT w = (s32[], f32[4,4], f32[4]) while(t), condition=condition, body=body
})"),
             &built)
      .status();
}

std::string Why(absl::string_view body, absl::string_view next_x,
                absl::string_view next_h) {
  absl::Status s = Refusal(body, next_x, next_h);
  return absl::IsUnimplemented(s) ? std::string(s.message()) : s.ToString();
}

TEST(SequentialKernelTest, RefusesLoopsWhosePointsLookAtEachOther) {
  EXPECT_EQ(Refusal("n = f32[4] negate(h)", "x", "n"), absl::OkStatus());
  EXPECT_THAT(Why("n = f32[4] reverse(h), dimensions={0}", "x", "n"),
              HasSubstr("element 2 is read at other points"));
  EXPECT_THAT(Why("m = f32[4] reduce(x, fzero), dimensions={1}, to_apply=add\n"
                  "n = f32[4] add(h, m)",
                  "x", "n"),
              HasSubstr("a reduction"));
  // Updates that move by less than their own size: the last round must win, and
  // threads do not wait for each other. Columns of their own are none.
  EXPECT_THAT(Why("n = f32[4] negate(h)\n sq = f32[2,2] reshape(n)\n"
                  "u = f32[4,4] dynamic-update-slice(x, sq, i, zero)",
                  "u", "n"),
              HasSubstr("element 1: updates of two rounds overlap"));
  EXPECT_EQ(Refusal("n = f32[4] negate(h)\n c = f32[4,1] reshape(n)\n"
                    "u = f32[4,4] dynamic-update-slice(x, c, zero, i)",
                    "u", "n"),
            absl::OkStatus());
  // An element of a tuple that the body makes is none of the state.
  EXPECT_THAT(
      Why("v = (f32[4], f32[4]) reduce(x, x, fzero, fzero), dimensions={1}, "
          "to_apply=both\n"
          "m = f32[4] get-tuple-element(v), index=1\n n = f32[4] add(h, m)",
          "x", "n"),
      HasSubstr("a reduction"));
  EXPECT_THAT(
      Why("r = f32[1,4] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,4}\n"
          "v = f32[4] reshape(r)\n n = f32[4] add(h, v)\n"
          "nr = f32[1,4] reshape(n)\n"
          "u = f32[4,4] dynamic-update-slice(x, nr, i, zero)",
          "u", "n"),
      HasSubstr("element 1 is read and updated in parts"));
  EXPECT_THAT(Why("n = f32[4] negate(h)\n m = f32[4,4] negate(x)", "m", "n"),
              HasSubstr("roots of different sizes"));
}

}  // namespace
}  // namespace ridge
