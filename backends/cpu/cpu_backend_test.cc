// HLO text in; the CPU back end's results against the evaluator's, for plans
// without and with fusion.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/runtime/backend.h"
#include "backends/runtime/physical.h"
#include "fusion/strategies.h"
#include "gtest/gtest.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/passes/pipeline.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

struct Prepared {
  std::unique_ptr<Module> written;
  std::unique_ptr<Module> canonical;
  Plan plan;
  std::unique_ptr<Executable> executable;
};

Backend& Cpu() {
  static Backend* backend = [] {
    setenv("RIDGE_CACHE_DIR",
           absl::StrCat(::testing::TempDir(), "/ridge_cache").c_str(), 1);
    return MakeCpuBackend().value().release();
  }();
  return *backend;
}

absl::StatusOr<Prepared> Prepare(const std::string& text,
                                 absl::string_view strategy) {
  Prepared p;
  RIDGE_ASSIGN_OR_RETURN(p.written, ParseModule(text));
  p.canonical = p.written->Clone();
  RIDGE_RETURN_IF_ERROR(Canonicalize(p.canonical.get()));
  RIDGE_ASSIGN_OR_RETURN(p.plan, MakePlan(*p.canonical, strategy));
  RIDGE_ASSIGN_OR_RETURN(p.executable, Cpu().Compile(*p.canonical, p.plan, {}));
  return p;
}

absl::StatusOr<Literal> Run(const Prepared& p,
                            const std::vector<Literal>& arguments) {
  RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> leaves,
                         p.executable->Run(FlattenLiterals(arguments)));
  size_t next = 0;
  return UnflattenLiteral(p.written->entry()->root()->shape(), leaves, &next);
}

void ExpectAgrees(const std::string& text,
                  std::vector<Literal> arguments = {}) {
  for (const char* strategy : {"none", "greedy"}) {
    SCOPED_TRACE(strategy);
    absl::StatusOr<Prepared> p = Prepare(text, strategy);
    RIDGE_ASSERT_OK(p);
    std::vector<Literal> inputs = arguments;
    if (inputs.empty()) {
      RIDGE_ASSERT_OK_AND_ASSIGN(inputs, MakeInputs(*p->written));
    }
    RIDGE_ASSERT_OK_AND_ASSIGN(Literal got, Run(*p, inputs));
    RIDGE_ASSERT_OK_AND_ASSIGN(Comparison c,
                               CompareWithEvaluator(*p->written, inputs, got));
    EXPECT_TRUE(c.ok) << c.ToString();
    std::string sources;
    for (const CompiledStep& s : p->executable->steps()) sources += s.source;
    if (!c.ok) ADD_FAILURE() << sources;
  }
}

Literal Floats(std::vector<int64_t> dims, std::vector<float> values) {
  Literal l = Literal::Zeros(Shape::Array(ElementType::kF32, dims));
  std::copy(values.begin(), values.end(), l.mutable_data<float>().begin());
  return l;
}

std::string Schedules(const Executable& e) {
  std::string all;
  for (const CompiledStep& s : e.steps()) {
    absl::StrAppend(&all, s.schedule, s.is_fallback ? "(fallback)" : "", ";");
  }
  return all;
}

constexpr char kAdd[] = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
)";

std::string Module1(const std::string& entry, const std::string& more = "") {
  return absl::StrCat("HloModule m\n", kAdd, more, "ENTRY e {\n", entry, "}\n");
}

TEST(CpuBackendTest, ElementwiseChainOfOddLength) {
  ExpectAgrees(Module1(R"(
    x = f32[3,1237] parameter(0)
    y = f32[3,1237] parameter(1)
    t = f32[3,1237] tanh(x)
    m = f32[3,1237] multiply(t, y)
    ROOT r = f32[3,1237] subtract(m, x)
  )"));
}

TEST(CpuBackendTest, NarrowFloatsRoundAtEveryInstruction) {
  for (const char* type : {"bf16", "f16", "f8e4m3fn", "f8e5m2"}) {
    SCOPED_TRACE(type);
    ExpectAgrees(absl::StrReplaceAll(Module1(R"(
      x = T[1021] parameter(0)
      y = T[1021] parameter(1)
      m = T[1021] multiply(x, y)
      a = T[1021] add(m, x)
      ROOT r = T[1021] subtract(a, y)
    )"),
                                     {{"T[", absl::StrCat(type, "[")}}));
  }
}

TEST(CpuBackendTest, IntegersFollowHlosRules) {
  ExpectAgrees(Module1(R"(
    x = s32[97] parameter(0)
    y = s32[97] parameter(1)
    five = s32[] constant(5)
    fives = s32[97] broadcast(five), dimensions={}
    d = s32[97] subtract(y, fives)
    q = s32[97] divide(x, d)
    r = s32[97] remainder(x, d)
    s = s32[97] shift-left(q, y)
    ROOT t = (s32[97], s32[97], s32[97]) tuple(q, r, s)
  )"));
}

TEST(CpuBackendTest, NotANumberAndInfinityPassThrough) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values(2 * 40, 1.5f);
  values[3] = kNan;
  values[41] = kInf;
  values[47] = -kInf;
  ExpectAgrees(Module1(R"(
    x = f32[2,40] parameter(0)
    ninf = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[2] reduce(x, ninf), dimensions={1}, to_apply=max
    s = f32[2] reduce(x, zero), dimensions={1}, to_apply=add
    b = f32[2,40] broadcast(m), dimensions={0}
    d = f32[2,40] minimum(x, b)
    ROOT t = (f32[2], f32[2], f32[2,40]) tuple(m, s, d)
  )"),
               {Floats({2, 40}, values)});
}

TEST(CpuBackendTest, ArraysWithoutElements) {
  ExpectAgrees(Module1(R"(
    x = f32[0,7] parameter(0)
    y = f32[5,0] parameter(1)
    one = f32[] constant(1)
    n = f32[0,7] negate(x)
    c = f32[7] reduce(x, one), dimensions={0}, to_apply=add
    r = f32[5] reduce(y, one), dimensions={1}, to_apply=add
    d = f32[5,7] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT t = (f32[0,7], f32[7], f32[5], f32[5,7]) tuple(n, c, r, d)
  )"));
}

TEST(CpuBackendTest, SoftmaxReadsEachRowInOneStage) {
  const std::string text = Module1(R"(
    x = f32[37,1531] parameter(0)
    ninf = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[37] reduce(x, ninf), dimensions={1}, to_apply=max
    mb = f32[37,1531] broadcast(m), dimensions={0}
    d = f32[37,1531] subtract(x, mb)
    e = f32[37,1531] exponential(d)
    s = f32[37] reduce(e, zero), dimensions={1}, to_apply=add
    sb = f32[37,1531] broadcast(s), dimensions={0}
    ROOT r = f32[37,1531] divide(e, sb)
  )");
  ExpectAgrees(text);
  absl::StatusOr<Prepared> p = Prepare(text, "greedy");
  RIDGE_ASSERT_OK(p);
  EXPECT_EQ(Schedules(*p->executable), "row_reduce;");
}

// Rows in pieces: of two fields, channels and positions of a group.
TEST(CpuBackendTest, GroupNorm) {
  for (const char* type : {"f32", "bf16"}) {
    std::string text = R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = TYPE[2,9,16,48] parameter(0)
  g = f32[48] parameter(1)
  f = f32[2,9,16,48] convert(x)
  r = f32[2,144,3,16] reshape(f)
  zero = f32[] constant(0)
  n = f32[] constant(2304)
  nb = f32[2,3] broadcast(n), dimensions={}
  s = f32[2,3] reduce(r, zero), dimensions={1,3}, to_apply=add
  mean = f32[2,3] divide(s, nb)
  mb = f32[2,144,3,16] broadcast(mean), dimensions={0,2}
  d = f32[2,144,3,16] subtract(r, mb)
  q = f32[2,144,3,16] multiply(d, d)
  v = f32[2,3] reduce(q, zero), dimensions={1,3}, to_apply=add
  var = f32[2,3] divide(v, nb)
  inv = f32[2,3] rsqrt(var)
  ib = f32[2,144,3,16] broadcast(inv), dimensions={0,2}
  y = f32[2,144,3,16] multiply(d, ib)
  z = f32[2,9,16,48] reshape(y)
  gb = f32[2,9,16,48] broadcast(g), dimensions={3}
  w = f32[2,9,16,48] multiply(z, gb)
  ROOT o = TYPE[2,9,16,48] convert(w)
})";
    text = absl::StrReplaceAll(text, {{"TYPE", type}});
    RIDGE_ASSERT_OK_AND_ASSIGN(Prepared p, Prepare(text, "greedy"));
    ASSERT_EQ(p.plan.computations[0].groups.size(), 1);
    EXPECT_EQ(p.plan.computations[0].groups[0].pattern,
              GroupPattern::kRowReduce);
    ExpectAgrees(text);
  }
}

TEST(CpuBackendTest, LayoutsOtherThanRowMajor) {
  ExpectAgrees(Module1(R"(
    x = f32[33,70]{0,1} parameter(0)
    y = f32[33,70]{1,0} parameter(1)
    cx = f32[33,70]{1,0} copy(x)
    s = f32[33,70]{1,0} add(cx, y)
    e = f32[33,70]{1,0} exponential(s)
    ROOT r = f32[33,70]{0,1} copy(e)
  )"));
}

TEST(CpuBackendTest, Transposes) {
  ExpectAgrees(Module1(R"(
    x = f32[67,45,19] parameter(0)
    y = f32[19,67,45] parameter(1)
    t = f32[19,67,45] transpose(x), dimensions={2,0,1}
    a = f32[19,67,45] add(t, y)
    ROOT u = f32[45,67,19] transpose(a), dimensions={2,1,0}
  )"));
}

TEST(CpuBackendTest, ColumnSums) {
  ExpectAgrees(Module1(R"(
    x = f32[1013,77] parameter(0)
    y = f32[1013,77] parameter(1)
    zero = f32[] constant(0)
    m = f32[1013,77] multiply(x, y)
    c = f32[77] reduce(m, zero), dimensions={0}, to_apply=add
    g = f32[77] reduce(x, zero), dimensions={0}, to_apply=max
    b = f32[1013,77] broadcast(c), dimensions={1}
    d = f32[1013,77] subtract(x, b)
    ROOT t = (f32[77], f32[77], f32[1013,77]) tuple(c, g, d)
  )"));
}

TEST(CpuBackendTest, RowStatisticsAndColumnSumsTogether) {
  ExpectAgrees(Module1(R"(
    x = f32[311,129] parameter(0)
    zero = f32[] constant(0)
    s = f32[311] reduce(x, zero), dimensions={1}, to_apply=add
    sb = f32[311,129] broadcast(s), dimensions={0}
    d = f32[311,129] subtract(x, sb)
    c = f32[129] reduce(d, zero), dimensions={0}, to_apply=add
    ROOT t = (f32[311,129], f32[129]) tuple(d, c)
  )"));
}

TEST(CpuBackendTest, ALongSumIsSplitAndStaysExactEnough) {
  const std::string text = Module1(R"(
    x = f32[1000003] parameter(0)
    zero = f32[] constant(0)
    s = f32[1000003] multiply(x, x)
    ROOT r = f32[] reduce(s, zero), dimensions={0}, to_apply=add
  )");
  ExpectAgrees(text);
  absl::StatusOr<Prepared> p = Prepare(text, "greedy");
  RIDGE_ASSERT_OK(p);
  EXPECT_THAT(Schedules(*p->executable), HasSubstr("split="));
}

TEST(CpuBackendTest, TheMiddleDimensionIsReduced) {
  ExpectAgrees(Module1(R"(
    x = f32[7,211,33] parameter(0)
    zero = f32[] constant(0)
    s = f32[7,33] reduce(x, zero), dimensions={1}, to_apply=add
    o = f32[211] reduce(x, zero), dimensions={0,2}, to_apply=add
    ROOT t = (f32[7,33], f32[211]) tuple(s, o)
  )"));
}

TEST(CpuBackendTest, ArgmaxKeepsTheFirstOfEqualValues) {
  ExpectAgrees(R"(
HloModule m
argmax {
  av = f32[] parameter(0)
  ai = s32[] parameter(1)
  bv = f32[] parameter(2)
  bi = s32[] parameter(3)
  ge = pred[] compare(av, bv), direction=GE
  v = f32[] select(ge, av, bv)
  i = s32[] select(ge, ai, bi)
  ROOT t = (f32[], s32[]) tuple(v, i)
}
ENTRY e {
  x = f32[11,301] parameter(0)
  i = s32[11,301] iota(), iota_dimension=1
  ninf = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[11], s32[11]) reduce(x, i, ninf, zero), dimensions={1}, to_apply=argmax
}
)");
}

TEST(CpuBackendTest, PadSliceConcatenateReverse) {
  ExpectAgrees(Module1(R"(
    x = f32[13,29] parameter(0)
    z = f32[] constant(-1)
    p = f32[16,61] pad(x, z), padding=1_2x3_1_1
    s = f32[8,20] slice(p), slice={[0:16:2], [1:61:3]}
    v = f32[8,20] reverse(s), dimensions={1}
    ROOT c = f32[8,40] concatenate(s, v), dimensions={1}
  )"));
}

TEST(CpuBackendTest, GatherAndDynamicSliceClampTheirIndices) {
  ExpectAgrees(Module1(R"(
    x = f32[50,16] parameter(0)
    i = s32[9] parameter(1)
    k = s32[] parameter(2)
    g = f32[9,16] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}
    zero = s32[] constant(0)
    d = f32[9,16] dynamic-slice(x, k, zero), dynamic_slice_sizes={9,16}
    ROOT a = f32[9,16] add(g, d)
  )"));
}

TEST(CpuBackendTest, ScatterAddsEveryUpdate) {
  ExpectAgrees(Module1(R"(
    x = f32[20,8] parameter(0)
    i = s32[64,1] parameter(1)
    u = f32[64,8] parameter(2)
    n = f32[20,8] negate(x)
    ROOT s = f32[20,8] scatter(n, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  )"));
}

TEST(CpuBackendTest, AnUpdateInPlaceLeavesItsOtherReadersAlone) {
  ExpectAgrees(Module1(R"(
    x = f32[40,8] parameter(0)
    u = f32[3,8] parameter(1)
    k = s32[] parameter(2)
    zero = s32[] constant(0)
    n = f32[40,8] exponential(x)
    d = f32[40,8] dynamic-update-slice(n, u, k, zero)
    o = f32[40,8] subtract(n, d)
    ROOT t = (f32[40,8], f32[40,8]) tuple(d, o)
  )"));
}

TEST(CpuBackendTest, WhileLoopsCarryTheirState) {
  ExpectAgrees(R"(
HloModule m
cond {
  p = (s32[], f32[6,5], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(6)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[6,5], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[6,5] get-tuple-element(p), index=1
  v = f32[5] get-tuple-element(p), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  w = f32[5] sine(v)
  r = f32[1,5] reshape(w)
  b = f32[6,5] dynamic-update-slice(a, r, i, zero)
  ROOT t = (s32[], f32[6,5], f32[5]) tuple(j, b, w)
}
ENTRY e {
  a = f32[6,5] parameter(0)
  v = f32[5] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[6,5], f32[5]) tuple(zero, a, v)
  ROOT w = (s32[], f32[6,5], f32[5]) while(t), condition=cond, body=body
}
)");
}

TEST(CpuBackendTest, ALoopThatSwapsItsState) {
  ExpectAgrees(R"(
HloModule m
cond {
  p = (s32[], f32[5], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[5], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[5] get-tuple-element(p), index=1
  b = f32[5] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[5], f32[5]) tuple(j, b, a)
}
ENTRY e {
  a = f32[5] parameter(0)
  b = f32[5] parameter(1)
  i = s32[] parameter(2)
  t = (s32[], f32[5], f32[5]) tuple(i, a, b)
  ROOT w = (s32[], f32[5], f32[5]) while(t), condition=cond, body=body
}
)");
}

TEST(CpuBackendTest, ConditionalsTakeOneBranch) {
  for (int index : {0, 1, 2, 7, -1}) {
    SCOPED_TRACE(index);
    ExpectAgrees(R"(
HloModule m
b0 { x = f32[5] parameter(0)
  ROOT r = f32[5] negate(x) }
b1 { x = f32[5] parameter(0)
  ROOT r = f32[5] exponential(x) }
b2 { x = f32[5] parameter(0)
  ROOT r = f32[5] add(x, x) }
ENTRY e {
  i = s32[] parameter(0)
  x = f32[5] parameter(1)
  ROOT c = f32[5] conditional(i, x, x, x), branch_computations={b0, b1, b2}
}
)",
                 {FullLiteral(Shape::Scalar(ElementType::kS32), index),
                  Floats({5}, {1, 2, 3, 4, 5})});
  }
}

TEST(CpuBackendTest, LayoutsThatDifferAcrossLoopsAndBranches) {
  // What JAX writes for `lambda x: x.T * 2` in a switch, and a loop whose body
  // leaves its state transposed.
  ExpectAgrees(R"(HloModule m
turned {
  x = f32[5,5] parameter(0)
  t = f32[5,5]{0,1} transpose(x), dimensions={1,0}
  ROOT r = f32[5,5]{0,1} add(t, t)
}
plain {
  x = f32[5,5]{0,1} parameter(0)
  ROOT s = f32[5,5] sine(x)
}
body {
  s = (s32[], f32[5,5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[5,5] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  t = f32[5,5]{0,1} transpose(x), dimensions={1,0}
  y = f32[5,5]{0,1} cosine(t)
  ROOT o = (s32[], f32[5,5]{0,1}) tuple(n, y)
}
condition {
  s = (s32[], f32[5,5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(i, three), direction=LT
}
ENTRY e {
  p = pred[] parameter(0)
  x = f32[5,5] parameter(1)
  zero = s32[] constant(0)
  a = f32[5,5] conditional(p, x, x), true_computation=turned, false_computation=plain
  init = (s32[], f32[5,5]) tuple(zero, a)
  w = (s32[], f32[5,5]) while(init), condition=condition, body=body
  ROOT r = f32[5,5] get-tuple-element(w), index=1
})");
}

TEST(CpuBackendTest, MatrixProductsOfEveryForm) {
  for (const char* type : {"f32", "bf16", "f16", "f64", "s32", "c64"}) {
    SCOPED_TRACE(type);
    ExpectAgrees(absl::StrReplaceAll(
        R"(
HloModule m
ENTRY e {
  a = T[3,33,50] parameter(0)
  b = T[3,70,50] parameter(1)
  c = T[50,33] parameter(2)
  v = T[50] parameter(3)
  bt = T[3,33,70] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  ac = T[3,33,33] dot(a, c), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  cv = T[33] dot(c, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  vv = T[] dot(v, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (T[3,33,70], T[3,33,33], T[33], T[]) tuple(bt, ac, cv, vv)
}
)",
        {{"T[", absl::StrCat(type, "[")}}));
  }
}

TEST(CpuBackendTest, MatrixProductWithEpilogue) {
  ExpectAgrees(Module1(R"(
    a = f32[65,129] parameter(0)
    b = f32[129,200] parameter(1)
    v = f32[200] parameter(2)
    d = f32[65,200] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    vb = f32[65,200] broadcast(v), dimensions={1}
    s = f32[65,200] add(d, vb)
    zero = f32[] constant(0)
    zb = f32[65,200] broadcast(zero), dimensions={}
    ROOT r = f32[65,200] maximum(s, zb)
  )"));
}

TEST(CpuBackendTest, WhatNoKernelCoversIsEvaluatedAndSaidSo) {
  const std::string text = R"(
HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[9,31] parameter(0)
  s = f32[9,31] sort(x), dimensions={1}, to_apply=less
  ROOT r = f32[9,31] negate(s)
}
)";
  ExpectAgrees(text);
  absl::StatusOr<Prepared> p = Prepare(text, "greedy");
  RIDGE_ASSERT_OK(p);
  EXPECT_THAT(Schedules(*p->executable), HasSubstr("(fallback)"));
}

TEST(CpuBackendTest, ACollectiveIsRefusedWithItsLine) {
  absl::StatusOr<Prepared> p = Prepare(Module1(R"(
    x = f32[8] parameter(0)
    ROOT r = f32[8] all-reduce(x), replica_groups={{0,1}}, to_apply=add
  )"),
                                       "greedy");
  EXPECT_THAT(
      p, StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("collective")));
}

TEST(CpuBackendTest, ArgumentsOfAnotherShapeAreRefused) {
  absl::StatusOr<Prepared> p = Prepare(Module1(R"(
    x = f32[8] parameter(0)
    ROOT r = f32[8] negate(x)
  )"),
                                       "none");
  RIDGE_ASSERT_OK(p);
  EXPECT_THAT(
      p->executable->Run({Floats({3}, {1, 2, 3})}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("f32[3]")));
  EXPECT_THAT(p->executable->Run({}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CpuBackendTest, MeasuringTimesEveryKernel) {
  absl::StatusOr<Prepared> p = Prepare(Module1(R"(
    x = f32[300,300] parameter(0)
    zero = f32[] constant(0)
    e = f32[300,300] exponential(x)
    d = f32[300,300] dot(e, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = f32[300] reduce(d, zero), dimensions={1}, to_apply=add
  )"),
                                       "none");
  RIDGE_ASSERT_OK(p);
  RIDGE_ASSERT_OK_AND_ASSIGN(std::vector<Literal> inputs,
                             MakeInputs(*p->written));
  MeasureOptions options;
  options.min_repetitions = options.max_repetitions = 3;
  RIDGE_ASSERT_OK_AND_ASSIGN(Measurement m,
                             p->executable->Measure(inputs, options));
  EXPECT_EQ(m.total().us_size(), 3);
  EXPECT_GT(m.total().median_us(), 0);
  ASSERT_EQ(m.kernels_size(), 3);
  for (const KernelMeasurement& k : m.kernels()) {
    EXPECT_GT(k.samples().median_us(), 0) << k.name();
  }
}

template <typename T>
Literal Values(ElementType type, const std::vector<T>& values) {
  Literal l =
      Literal::Zeros(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), l.mutable_data<T>().begin());
  return l;
}

TEST(CpuBackendTest, NarrowingRoundsOnce) {
  // Through a float, each of these would round up and then away.
  ExpectAgrees(Module1(R"(
    d = f64[6] parameter(0)
    i = s32[4] parameter(1)
    u = u64[3] parameter(2)
    h = f16[6] convert(d)
    b = bf16[6] convert(d)
    q = f8e4m3fn[6] convert(d)
    p = f8e5m2[6] convert(d)
    bi = bf16[4] convert(i)
    bu = bf16[3] convert(u)
    ROOT t = (f16[6], bf16[6], f8e4m3fn[6], f8e5m2[6], bf16[4], bf16[3]) tuple(h, b, q, p, bi, bu)
  )"),
               {Values<double>(ElementType::kF64,
                               {65519.99999999, 1 + 0x1p-11 + 0x1p-30,
                                1 + 0x1p-8 + 0x1p-30, -1 - 0x1p-4 - 0x1p-40,
                                0x1p-26, -1e300}),
                Values<int32_t>(ElementType::kS32,
                                {(1 << 30) + (1 << 22) + 1,
                                 -(1 << 30) - (1 << 22) - 1, 7, -16777217}),
                Values<uint64_t>(ElementType::kU64,
                                 {(uint64_t{1} << 62) + (uint64_t{1} << 54) + 1,
                                  ~uint64_t{0}, 12345678901234567})});
}

TEST(CpuBackendTest, ProductsOfHalvesMayEndOnEitherSide) {
  ExpectAgrees(Module1(R"(
    x = f32[7] parameter(0)
    h = f16[7] convert(x)
    one = f16[] constant(1)
    ROOT r = f16[] reduce(h, one), dimensions={0}, to_apply=mul
  )",
                       "mul { a = f16[] parameter(0) b = f16[] parameter(1)\n"
                       "  ROOT r = f16[] multiply(a, b) }\n"),
               {Floats({7}, {-0.2548828125f, -0.6484375f, -0.422119140625f,
                             0.2568359375f, -0.6396484375f, -0.2705078125f,
                             -0.578125f})});
}

TEST(CpuBackendTest, AnInterruptEndsMeasuring) {
  absl::StatusOr<Prepared> p = Prepare(Module1(R"(
    x = f32[8] parameter(0)
    ROOT r = f32[8] negate(x)
  )"),
                                       "none");
  RIDGE_ASSERT_OK(p);
  std::atomic<bool> interrupted{true};
  MeasureOptions options;
  options.interrupted = &interrupted;
  EXPECT_THAT(
      p->executable->Measure({Floats({8}, {1, 2, 3, 4, 5, 6, 7, 8})}, options),
      StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace ridge
