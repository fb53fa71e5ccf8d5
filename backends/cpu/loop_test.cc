// Loops on the cpu back end: parts of the state that no round changes lie where
// they were, and nobody may write them there.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/physical.h"
#include "backends/runtime/program.h"
#include "fusion/strategies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

// A part that two of its readers see, one of which updates its copy; and a part
// that is an input of two.
const char kUpdated[] = R"(HloModule a
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
cond { s = (s32[], f32[8], f32[8], f32[4,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[8], f32[8], f32[4,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  x = f32[8] get-tuple-element(s), index=1
  w = f32[8] get-tuple-element(s), index=2
  w2 = f32[8] get-tuple-element(s), index=2
  m = f32[4,8] get-tuple-element(s), index=3
  two = f32[2] constant({7, 9})
  d = f32[8] dynamic-update-slice(w2, two, i)
  y = f32[8] add(x, d)
  r = f32[1,8] reshape(y)
  k = f32[4,8] dynamic-update-slice(m, r, i, zero)
  f0 = f32[] constant(0)
  q = f32[8] reduce(k, f0), dimensions={0}, to_apply=add
  z = f32[8] subtract(y, q)
  ROOT t = (s32[], f32[8], f32[8], f32[4,8]) tuple(j, z, w, m) }
ENTRY e {
  x = f32[8] parameter(0)
  m = f32[4,8] parameter(1)
  zero = s32[] constant(0)
  w = f32[8] negate(x)
  mm = f32[4,8] exponential(m)
  t = (s32[], f32[8], f32[8], f32[4,8]) tuple(zero, w, w, mm)
  l = (s32[], f32[8], f32[8], f32[4,8]) while(t), condition=cond, body=body
  a = f32[8] get-tuple-element(l), index=1
  b = f32[8] get-tuple-element(l), index=2
  c = f32[4,8] get-tuple-element(l), index=3
  two = f32[2] constant({1, 2})
  one = s32[] constant(3)
  u = f32[8] dynamic-update-slice(b, two, one)
  ROOT r = (f32[8], f32[8], f32[4,8], f32[8], f32[8]) tuple(a, b, c, u, w)
}
)";

// A kept part that goes through an inner loop, whose results become others.
const char kNested[] = R"(HloModule b
icond { s = (s32[], f32[6], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
ibody { s = (s32[], f32[6], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[6] get-tuple-element(s), index=1
  w = f32[6] get-tuple-element(s), index=2
  y = f32[6] reverse(x), dimensions={0}
  z = f32[6] add(y, w)
  ROOT t = (s32[], f32[6], f32[6]) tuple(j, z, w) }
cond { s = (s32[], f32[6], f32[6], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[6], f32[6], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = f32[6] get-tuple-element(s), index=1
  b = f32[6] get-tuple-element(s), index=2
  k = f32[6] get-tuple-element(s), index=3
  zero = s32[] constant(0)
  it = (s32[], f32[6], f32[6]) tuple(zero, a, k)
  il = (s32[], f32[6], f32[6]) while(it), condition=icond, body=ibody
  n1 = f32[6] get-tuple-element(il), index=1
  n2 = f32[6] get-tuple-element(il), index=2
  h = f32[6] add(n1, n2)
  ROOT t = (s32[], f32[6], f32[6], f32[6]) tuple(j, b, h, k) }
ENTRY e {
  x = f32[6] parameter(0)
  y = f32[6] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[6], f32[6], f32[6]) tuple(zero, x, y, x)
  ROOT l = (s32[], f32[6], f32[6], f32[6]) while(t), condition=cond, body=body
}
)";

class LoopTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LoopTest, AgreesWithTheEvaluator) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> written,
                             ParseModule(GetParam()));
  std::unique_ptr<Module> canonical = written->Clone();
  RIDGE_ASSERT_OK(Canonicalize(canonical.get()));
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Backend> cpu, MakeCpuBackend());
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<Literal> inputs, MakeInputs(*written));
  for (const char* strategy : {"none", "greedy"}) {
    SCOPED_TRACE(strategy);
    RIDGE_ASSERT_OK_AND_ASSIGN(Plan plan, MakePlan(*canonical, strategy));
    RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Executable> executable,
                               cpu->Compile(*canonical, plan, {}));
    // Twice: the first run must leave the parameters as they were.
    for (int run = 0; run < 2; ++run) {
      RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<Literal> leaves,
                                 executable->Run(FlattenLiterals(inputs)));
      size_t next = 0;
      const Literal got =
          UnflattenLiteral(written->entry()->root()->shape(), leaves, &next);
      RIDGE_ASSERT_OK_AND_ASSIGN(Comparison c,
                                 CompareWithEvaluator(*written, inputs, got));
      EXPECT_TRUE(c.ok) << c.ToString();
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, LoopTest, ::testing::Values(kUpdated, kNested));

int InitialCopies(const char* text) {
  auto module = ParseModule(text);
  EXPECT_TRUE(module.ok());
  auto plan = MakePlan(**module, "none");
  EXPECT_TRUE(plan.ok());
  auto program = BuildProgram(**module, *plan);
  EXPECT_TRUE(program.ok());
  int copies = 0;
  for (const Step& s : program->entry.steps) {
    copies += absl::EndsWith(s.name, "_init");
  }
  return copies;
}

TEST(LoopProgramTest, OnlyWhatChangesIsCopied) {
  // Of four parts each: the counter and one more, the counter and two.
  EXPECT_EQ(InitialCopies(kUpdated), 2);
  EXPECT_EQ(InitialCopies(kNested), 3);
}

}  // namespace
}  // namespace ridge
