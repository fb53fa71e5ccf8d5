// The forms of loops that generated host code has: lengths around the sizes of
// lanes, row groups and tiles. Results against the evaluator's.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/physical.h"
#include "fusion/strategies.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

Backend& Cpu() {
  static Backend* backend = [] {
    setenv("RIDGE_CACHE_DIR",
           absl::StrCat(::testing::TempDir(), "/ridge_cache").c_str(), 1);
    return MakeCpuBackend().value().release();
  }();
  return *backend;
}

// Runs `text` and compares. Returns the generated code.
std::string Check(const std::string& text) {
  std::string sources;
  [&] {
    RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> written,
                               ParseModule(text));
    std::unique_ptr<Module> canonical = written->Clone();
    RIDGE_ASSERT_OK(Canonicalize(canonical.get()));
    RIDGE_ASSERT_OK_AND_ASSIGN(Plan plan, MakePlan(*canonical, "greedy"));
    RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Executable> executable,
                               Cpu().Compile(*canonical, plan, {}));
    for (const CompiledStep& s : executable->steps()) sources += s.source;
    RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<Literal> inputs,
                               MakeInputs(*written));
    RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<Literal> leaves,
                               executable->Run(FlattenLiterals(inputs)));
    size_t next = 0;
    const Literal got =
        UnflattenLiteral(written->entry()->root()->shape(), leaves, &next);
    RIDGE_ASSERT_OK_AND_ASSIGN(Comparison c,
                               CompareWithEvaluator(*written, inputs, got));
    EXPECT_TRUE(c.ok) << c.ToString() << sources;
  }();
  return sources;
}

std::string Sized(absl::string_view text, int64_t n, int64_t m = 0) {
  return absl::StrReplaceAll(
      text, {{"<n>", absl::StrCat(n)}, {"<m>", absl::StrCat(m)}});
}

TEST(StageWriterTest, FoldsByFunctionsRunInLanes) {
  for (int64_t n : {5, 100, 511, 512, 513, 1100}) {
    SCOPED_TRACE(n);
    // The largest value and its first place, beside a plain sum. Few values,
    // so that there are ties.
    const std::string source = Check(Sized(R"(HloModule m
larger { v = f32[] parameter(0)
  k = s32[] parameter(1)
  w = f32[] parameter(2)
  l = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(k, l), direction=LT
  tie = pred[] and(eq, lt)
  take = pred[] or(gt, tie)
  a = f32[] select(gt, v, w)
  b = s32[] select(take, k, l)
  ROOT r = (f32[], s32[]) tuple(a, b) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[6,<n>] parameter(0)
  few = f32[6,<n>] floor(x)
  at = s32[6,<n>] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  none = f32[] constant(0)
  best = (f32[6], s32[6]) reduce(few, at, low, zero), dimensions={1}, to_apply=larger
  v = f32[6] get-tuple-element(best), index=0
  k = s32[6] get-tuple-element(best), index=1
  sum = f32[6] reduce(x, none), dimensions={1}, to_apply=add
  ROOT r = (f32[6], s32[6], f32[6]) tuple(v, k, sum)
})",
                                           n));
    EXPECT_EQ(absl::StrContains(source, "rdg_lane"), n >= 512) << source;
  }
}

TEST(StageWriterTest, ShortInnerLoopsAreFoldedTogether) {
  for (int64_t n : {1, 5, 64, 513}) {
    for (int64_t m : {1, 3, 16, 31, 512, 513}) {
      SCOPED_TRACE(absl::StrCat(n, " rounds of ", m));
      const std::string source = Check(Sized(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
ENTRY e {
  x = f32[3,<n>,4,<m>] parameter(0)
  zero = f32[] constant(0)
  low = f32[] constant(-inf)
  s = f32[3,4] reduce(x, zero), dimensions={1,3}, to_apply=add
  l = f32[3,4] reduce(x, low), dimensions={1,3}, to_apply=max
  ROOT r = (f32[3,4], f32[3,4]) tuple(s, l)
})",
                                             n, m));
      EXPECT_EQ(
          absl::StrContains(source, absl::StrCat("(rdg_e - rdg_i) * ", m, ")")),
          n > 1 && m > 1 && m <= 512)
          << source;
    }
  }
}

TEST(StageWriterTest, AStartThatChangesTheResultIsTakenOnce) {
  for (int64_t n : {3, 512, 700}) {
    SCOPED_TRACE(n);
    // (1 + a) (1 + b) - 1; started with 1, the product doubles once.
    Check(Sized(R"(HloModule m
grow { a = f32[] parameter(0)
  b = f32[] parameter(1)
  s = f32[] add(a, b)
  p = f32[] multiply(a, b)
  ROOT r = f32[] add(s, p) }
ENTRY e {
  x = f32[4,3,<n>] parameter(0)
  scale = f32[] constant(0.001)
  scales = f32[4,3,<n>] broadcast(scale), dimensions={}
  y = f32[4,3,<n>] multiply(x, scales)
  one = f32[] constant(1)
  ROOT r = f32[4] reduce(y, one), dimensions={1,2}, to_apply=grow
})",
                n));
  }
}

TEST(StageWriterTest, TheFirstOfEqualValuesWins) {
  for (int64_t n : {300, 512, 1700}) {
    SCOPED_TRACE(n);
    // The function looks at the order of its operands only.
    Check(Sized(R"(HloModule m
first { v = f32[] parameter(0)
  k = s32[] parameter(1)
  w = f32[] parameter(2)
  l = s32[] parameter(3)
  ge = pred[] compare(v, w), direction=GE
  a = f32[] select(ge, v, w)
  b = s32[] select(ge, k, l)
  ROOT r = (f32[], s32[]) tuple(a, b) }
ENTRY e {
  x = f32[6,<n>] parameter(0)
  few = f32[6,<n>] sign(x)
  at = s32[6,<n>] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT best = (f32[6], s32[6]) reduce(few, at, low, zero), dimensions={1}, to_apply=first
})",
                n));
  }
}

TEST(StageWriterTest, MomentsInLanes) {
  for (int64_t n : {7, 16, 33}) {
    SCOPED_TRACE(n);
    Check(Sized(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[3,40,<n>] parameter(0)
  none = f32[] constant(0)
  sum = f32[3] reduce(x, none), dimensions={1,2}, to_apply=add
  count = f32[] constant(<m>)
  counts = f32[3] broadcast(count), dimensions={}
  mean = f32[3] divide(sum, counts)
  means = f32[3,40,<n>] broadcast(mean), dimensions={0}
  d = f32[3,40,<n>] subtract(x, means)
  q = f32[3,40,<n>] multiply(d, d)
  ROOT r = f32[3] reduce(q, none), dimensions={1,2}, to_apply=add
})",
                n, 40 * n));
  }
}

TEST(StageWriterTest, ColumnsOfAnyNumberOfRows) {
  for (int64_t n : {1, 3, 4, 5, 11}) {
    for (int64_t m : {8, 33, 1030}) {
      SCOPED_TRACE(absl::StrCat(n, "x", m));
      Check(Sized(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = bf16[<n>,<m>] parameter(0)
  y = f32[<n>] parameter(1)
  zero = bf16[] constant(0)
  zeros = bf16[<n>,<m>] broadcast(zero), dimensions={}
  on = pred[<n>,<m>] compare(x, zeros), direction=GT
  one = f32[<n>,<m>] convert(on)
  ys = f32[<n>,<m>] broadcast(y), dimensions={0}
  v = f32[<n>,<m>] multiply(one, ys)
  none = f32[] constant(0)
  ROOT r = f32[<m>] reduce(v, none), dimensions={0}, to_apply=add
})",
                  n, m));
    }
  }
}

TEST(StageWriterTest, DivisionsOfTheLoopVariableLeaveTheLoop) {
  for (int64_t n : {2, 8, 12}) {
    SCOPED_TRACE(n);
    Check(Sized(R"(HloModule m
ENTRY e {
  x = f32[3,40,64,<n>] parameter(0)
  g = f32[3,64] parameter(1)
  gs = f32[3,40,64,<n>] broadcast(g), dimensions={0,2}
  ROOT r = f32[3,40,64,<n>] subtract(x, gs)
})",
                n));
  }
  // Long rows, where the quotient is a loop variable of its own.
  const std::string source = Check(R"(HloModule m
ENTRY e {
  x = f32[3,5,512] parameter(0)
  g = f32[3,32] parameter(1)
  w = f32[512] parameter(2)
  gs = f32[3,5,32,16] broadcast(g), dimensions={0,2}
  gr = f32[3,5,512] reshape(gs)
  ws = f32[3,5,512] broadcast(w), dimensions={2}
  d = f32[3,5,512] subtract(x, gr)
  ROOT r = f32[3,5,512] multiply(d, ws)
})");
  EXPECT_TRUE(absl::StrContains(source, "rdg_q")) << source;
}

TEST(StageWriterTest, LoopsEndWherePartsMeet) {
  for (int64_t n : {1, 7, 64, 300}) {
    SCOPED_TRACE(n);
    Check(Sized(R"(HloModule m
ENTRY e {
  a = bf16[5,<n>] parameter(0)
  b = bf16[5,9] parameter(1)
  c = bf16[5,<n>] parameter(2)
  zero = bf16[] constant(0.5)
  all = bf16[5,<m>] concatenate(a, b, c), dimensions={1}
  wide = bf16[5,<m>] pad(all, zero), padding=0_0x-2_2
  ROOT r = bf16[5,<m>] multiply(wide, all)
})",
                n, 2 * n + 9));
  }
}

TEST(StageWriterTest, TilesOfTransposedArrays) {
  for (int64_t n : {9, 63, 64, 65, 130}) {
    for (const char* type : {"f32", "bf16", "s32"}) {
      SCOPED_TRACE(absl::StrCat(type, n));
      Check(absl::StrReplaceAll(Sized(R"(HloModule m
ENTRY e {
  x = T[3,<n>,45] parameter(0)
  y = T[3,45,<n>] parameter(1)
  t = T[3,<n>,45] transpose(y), dimensions={0,2,1}
  m = T[3,<n>,45] multiply(t, x)
  ROOT r = T[3,<n>,45] add(m, t)
})",
                                      n),
                                {{"T[", absl::StrCat(type, "[")}}));
    }
  }
}

TEST(StageWriterTest, ProductsOfFewRows) {
  for (int64_t m : {1, 2, 8, 9}) {
    for (const char* type : {"f32", "bf16"}) {
      SCOPED_TRACE(absl::StrCat(type, m));
      Check(absl::StrReplaceAll(Sized(R"(HloModule m
ENTRY e {
  x = T[2,<m>,70] parameter(0)
  w = T[2,70,201] parameter(1)
  v = T[2,201,70] parameter(2)
  a = T[2,<m>,201] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  b = T[2,<m>,201] dot(x, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  ROOT r = T[2,<m>,201] add(a, b)
})",
                                      0, m),
                                {{"T[", absl::StrCat(type, "[")}}));
    }
  }
}

// One pass over the space for sums over each of its axes, whatever of them
// there are, and for maps beside them; chunks along the longer of the two axes.
TEST(StageWriterTest, SumsOverSeveralAxesPassOnce) {
  const std::vector<std::pair<std::string, std::string>> sums = {
      {"f32[<b>,<c>]", "{0}"},
      {"f32[<a>,<c>]", "{1}"},
      {"f32[<a>,<b>]", "{2}"},
      {"f32[<c>]", "{0,1}"}};
  struct Size {
    int64_t a, b, c;
  };
  for (const Size& size : {Size{6, 33, 40}, Size{3, 100, 127}, Size{300, 5, 64},
                           Size{1, 70, 2050}, Size{70, 1, 32}}) {
    for (unsigned which : {15u, 3u, 5u, 9u, 2u}) {
      SCOPED_TRACE(absl::StrCat(size.a, " ", size.b, " ", size.c, " ", which));
      std::string body, types = "f32[<a>,<b>,<c>]", names = "m";
      for (size_t k = 0; k < sums.size(); ++k) {
        if (((which >> k) & 1) == 0) continue;
        absl::StrAppend(&body, "  sum", k, " = ", sums[k].first,
                        " reduce(e, z), dimensions=", sums[k].second,
                        ", to_apply=add\n");
        absl::StrAppend(&types, ", ", sums[k].first);
        absl::StrAppend(&names, ", sum", k);
      }
      Check(absl::StrReplaceAll(
          absl::StrCat(R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[<a>,<b>,<c>] parameter(0)
  w = f32[<c>] parameter(1)
  wb = f32[<a>,<b>,<c>] broadcast(w), dimensions={2}
  p = f32[<a>,<b>,<c>] multiply(x, wb)
  e = f32[<a>,<b>,<c>] exponential(p)
  m = f32[<a>,<b>,<c>] log-plus-one(e)
  z = f32[] constant(0.5)
)",
                       body, "  ROOT r = (", types, ") tuple(", names, ")\n}"),
          {{"<a>", absl::StrCat(size.a)},
           {"<b>", absl::StrCat(size.b)},
           {"<c>", absl::StrCat(size.c)}}));
    }
  }
}

}  // namespace
}  // namespace ridge
