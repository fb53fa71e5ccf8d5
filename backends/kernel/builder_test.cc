// Each test: HLO in; the kernel, interpreted, answers as the evaluator does.
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

using ::testing::HasSubstr;

std::string Entry(const std::string& body) {
  return "HloModule m\n"
         "add { a = f32[] parameter(0) b = f32[] parameter(1)\n"
         "  ROOT r = f32[] add(a, b) }\n"
         "max { a = f32[] parameter(0) b = f32[] parameter(1)\n"
         "  ROOT r = f32[] maximum(a, b) }\n"
         "keep { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\n"
         "ENTRY e {\n" +
         body + "}\n";
}

// A case of the table tests below.
struct Case {
  const char* name;
  GroupPattern pattern;
  const char* body;
};

class KernelCase : public ::testing::TestWithParam<Case> {};

TEST_P(KernelCase, AnswersAsTheEvaluator) {
  EXPECT_EQ(CheckKernel(Entry(GetParam().body), GetParam().pattern),
            absl::OkStatus());
}

constexpr GroupPattern kLoop = GroupPattern::kLoop;
constexpr GroupPattern kRow = GroupPattern::kRowReduce;
constexpr GroupPattern kColumn = GroupPattern::kColumnReduce;

constexpr Case kMoves[] = {
    {"Chain", kLoop, R"(
  x = f32[7,13] parameter(0)
  y = f32[7,13] parameter(1)
  s = f32[7,13] multiply(x, y)
  ROOT t = f32[7,13] tanh(s))"},
    {"BroadcastRow", kLoop, R"(
  x = f32[5,7,12] parameter(0)
  b = f32[12] parameter(1)
  bb = f32[5,7,12] broadcast(b), dimensions={2}
  ROOT t = f32[5,7,12] add(x, bb))"},
    {"BroadcastMiddle", kLoop, R"(
  b = f32[7] parameter(0)
  c = f32[5,12] parameter(1)
  bb = f32[5,7,12] broadcast(b), dimensions={1}
  cc = f32[5,7,12] broadcast(c), dimensions={0,2}
  ROOT t = f32[5,7,12] add(bb, cc))"},
    {"ReshapeTransposeReshape", kLoop, R"(
  x = f32[6,20] parameter(0)
  r = f32[2,3,4,5] reshape(x)
  t = f32[4,2,5,3] transpose(r), dimensions={2,0,3,1}
  ROOT o = f32[8,15] reshape(t))"},
    {"ColumnMajorInput", kLoop, R"(
  x = f32[6,10]{0,1} parameter(0)
  y = f32[6,10]{1,0} parameter(1)
  ROOT o = f32[6,10]{1,0} add(x, y))"},
    {"ColumnMajorRoot", kLoop, R"(
  x = f32[3,4,5]{2,1,0} parameter(0)
  ROOT o = f32[3,4,5]{0,2,1} negate(x))"},
    {"BitcastChangesLogicalOrder", kLoop, R"(
  x = f32[4,6]{0,1} parameter(0)
  n = f32[4,6]{0,1} negate(x)
  b = f32[6,4]{1,0} bitcast(n)
  ROOT o = f32[6,4]{1,0} exponential(b))"},
    {"BitcastType", kLoop, R"(
  x = f32[9] parameter(0)
  b = s32[9] bitcast-convert(x)
  c = s32[] constant(31)
  cc = s32[9] broadcast(c), dimensions={}
  ROOT o = s32[9] shift-right-logical(b, cc))"},
    {"BitcastConvertNarrow", kLoop, R"(
  x = f32[5] parameter(0)
  ROOT o = u8[5,4] bitcast-convert(x))"},
    {"BitcastConvertWide", kLoop, R"(
  x = s16[3,5,2] parameter(0)
  ROOT o = u32[3,5] bitcast-convert(x))"},
    {"Reverse", kLoop, R"(
  x = f32[4,5] parameter(0)
  ROOT o = f32[4,5] reverse(x), dimensions={0,1})"},
    {"StridedSlice", kLoop, R"(
  x = f32[10,9] parameter(0)
  ROOT o = f32[3,4] slice(x), slice={[1:9:3],[2:9:2]})"},
    {"PadEverywhere", kLoop, R"(
  x = f32[3,4] parameter(0)
  z = f32[] parameter(1)
  e = f32[3,4] exponential(x)
  ROOT o = f32[8,11] pad(e, z), padding=2_1_1x1_3_1)"},
    {"PadNegative", kLoop, R"(
  x = f32[6,7] parameter(0)
  z = f32[] constant(1)
  ROOT o = f32[4,6] pad(x, z), padding=-1_-1x2_-3)"},
    {"PadOfPad", kLoop, R"(
  x = f32[5] parameter(0)
  z = f32[] constant(0)
  p = f32[9] pad(x, z), padding=1_3
  n = f32[9] negate(p)
  ROOT o = f32[12] pad(n, z), padding=2_1)"},
    {"ConcatMinor", kLoop, R"(
  x = f32[4,3] parameter(0)
  y = f32[4,5] parameter(1)
  w = f32[4,1] parameter(2)
  ROOT o = f32[4,9] concatenate(x, y, w), dimensions={1})"},
    {"ConcatMajorOfSlices", kLoop, R"(
  x = f32[8,3] parameter(0)
  a = f32[4,3] slice(x), slice={[4:8],[0:3]}
  n = f32[4,3] negate(a)
  b = f32[4,3] slice(x), slice={[0:4],[0:3]}
  ROOT o = f32[8,3] concatenate(n, b), dimensions={0})"},
    {"ConcatWithEmptyPiece", kLoop, R"(
  x = f32[0,3] parameter(0)
  y = f32[2,3] parameter(1)
  ROOT o = f32[2,3] concatenate(x, y), dimensions={0})"},
    {"Iota", kLoop, R"(
  i = s32[3,5] iota(), iota_dimension=1
  j = s32[3,5] iota(), iota_dimension=0
  ROOT o = pred[3,5] compare(i, j), direction=GE)"},
    {"IotaOfNarrowTypes", kLoop, R"(
  i = bf16[300] iota(), iota_dimension=0
  f = f32[300] convert(i)
  j = s8[300] iota(), iota_dimension=0
  g = f32[300] convert(j)
  ROOT o = f32[300] add(f, g))"},
    {"SelectClampScalars", kLoop, R"(
  p = pred[] parameter(0)
  x = f32[6] parameter(1)
  y = f32[6] parameter(2)
  lo = f32[] constant(-1)
  hi = f32[] constant(1)
  c = f32[6] clamp(lo, x, hi)
  ROOT o = f32[6] select(p, c, y))"},
    {"Bf16RoundsEachStep", kLoop, R"(
  x = bf16[40] parameter(0)
  y = bf16[40] parameter(1)
  m = bf16[40] multiply(x, y)
  a = bf16[40] add(m, x)
  ROOT o = f32[40] convert(a))"},
    {"Complex", kLoop, R"(
  x = f32[6] parameter(0)
  y = f32[6] parameter(1)
  c = c64[6] complex(x, y)
  d = c64[6] multiply(c, c)
  r = f32[6] real(d)
  i = f32[6] imag(d)
  ROOT o = f32[6] add(r, i))"},
    {"ReducePrecision", kLoop, R"(
  x = f32[9] parameter(0)
  ROOT o = f32[9] reduce-precision(x), exponent_bits=5, mantissa_bits=3)"},
    {"SeveralRoots", kLoop, R"(
  x = f32[4,6] parameter(0)
  a = f32[4,6] exponential(x)
  b = f32[24] reshape(x)
  c = f32[24] negate(b)
  d = f32[4,6]{0,1} copy(a)
  ROOT o = (f32[4,6], f32[24], f32[4,6]{0,1}) tuple(a, c, d))"},
    {"Scalar", kLoop, R"(
  x = f32[] parameter(0)
  ROOT o = f32[] sqrt(x))"},
    {"UnitDimensions", kLoop, R"(
  x = f32[1,5,1] parameter(0)
  r = f32[5,1] reshape(x)
  b = f32[5,1,3] broadcast(r), dimensions={0,1}
  ROOT o = f32[5,1,3] negate(b))"},
    {"ZeroSize", kLoop, R"(
  x = f32[0,5] parameter(0)
  ROOT o = f32[0,5] negate(x))"},
    {"PadOfZeroSize", kLoop, R"(
  x = f32[0] parameter(0)
  z = f32[] constant(3)
  ROOT o = f32[4] pad(x, z), padding=1_3)"},
    {"TransposeAdd", GroupPattern::kTranspose, R"(
  x = f32[3,8,10] parameter(0)
  y = f32[3,10,8] parameter(1)
  t = f32[3,10,8] transpose(x), dimensions={0,2,1}
  ROOT o = f32[3,10,8] add(t, y))"},
};
INSTANTIATE_TEST_SUITE_P(Moves, KernelCase, ::testing::ValuesIn(kMoves),
                         [](const auto& i) { return i.param.name; });

constexpr Case kIndexed[] = {
    {"DynamicSliceClamps", kLoop, R"(
  x = f32[7,9] parameter(0)
  i = s32[] parameter(1)
  j = s32[] constant(100)
  ROOT o = f32[3,4] dynamic-slice(x, i, j), dynamic_slice_sizes={3,4})"},
    {"DynamicSliceUnsignedNarrow", kLoop, R"(
  x = f32[300] parameter(0)
  i = u8[] constant(255)
  ROOT o = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3})"},
    {"DynamicUpdateSliceInALoop", kLoop, R"(
  x = f32[7,9] parameter(0)
  u = f32[2,9] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  n = f32[7,9] negate(x)
  d = f32[7,9] dynamic-update-slice(n, u, i, z)
  ROOT o = f32[7,9] exponential(d))"},
    {"GatherRows", kLoop, R"(
  x = f32[10,6] parameter(0)
  i = s32[5,1] parameter(1)
  g = f32[5,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  ROOT o = f32[5,6] negate(g))"},
    {"GatherWithoutVectorDim", kLoop, R"(
  x = f32[10,6] parameter(0)
  i = s32[4,3] parameter(1)
  ROOT g = f32[4,3,2] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,2})"},
    {"GatherTwoIndices", kLoop, R"(
  x = f32[6,7,8] parameter(0)
  i = s32[2,5] parameter(1)
  ROOT g = f32[2,5,3] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={0}, start_index_map={2,0}, index_vector_dim=0, slice_sizes={1,2,3})"},
    {"GatherBatching", kLoop, R"(
  x = f32[3,10,4] parameter(0)
  i = s32[3,5,1] parameter(1)
  ROOT g = f32[3,5,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,4})"},
    {"GatherOfNothing", kLoop, R"(
  x = f32[0,2] parameter(0)
  i = s32[3] parameter(1)
  ROOT g = f32[3,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,2})"},
    {"GatherByIota", kLoop, R"(
  x = f32[10,6] parameter(0)
  i = s32[5,1] iota(), iota_dimension=0
  ROOT g = f32[5,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6})"},
    {"UpdateInPlace", GroupPattern::kScatter, R"(
  x = f32[7,9] parameter(0)
  u = f32[2,9] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  n = f32[2,9] negate(u)
  ROOT d = f32[7,9] dynamic-update-slice(x, n, i, z))"},
    {"UpdateOfAComputedOperand", GroupPattern::kScatter, R"(
  x = f32[7,9] parameter(0)
  u = f32[2,4] parameter(1)
  i = s32[] parameter(2)
  n = f32[7,9] negate(x)
  ROOT d = f32[7,9] dynamic-update-slice(n, u, i, i))"},
    {"UpdateOfAnotherLayout", GroupPattern::kScatter, R"(
  x = f32[7,9]{0,1} parameter(0)
  u = f32[2,4] parameter(1)
  i = s32[] parameter(2)
  ROOT d = f32[7,9]{1,0} dynamic-update-slice(x, u, i, i))"},
    {"UpdateOfNothing", GroupPattern::kScatter, R"(
  x = f32[7] parameter(0)
  u = f32[0] parameter(1)
  i = s32[] parameter(2)
  ROOT d = f32[7] dynamic-update-slice(x, u, i))"},
    {"ScatterAdd", GroupPattern::kScatter, R"(
  x = f32[8,5] parameter(0)
  i = s32[9,1] parameter(1)
  u = f32[9,5] parameter(2)
  ROOT s = f32[8,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"ScatterAddIntoZeros", GroupPattern::kScatter, R"(
  z = f32[] constant(0)
  x = f32[8,5] broadcast(z), dimensions={}
  i = s32[9,1] parameter(0)
  u = f32[9,5] parameter(1)
  ROOT s = f32[8,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"ScatterCountsEveryUpdate", GroupPattern::kScatter, R"(
  x = f32[6] parameter(0)
  j = s32[] parameter(1)
  i = s32[7,1] broadcast(j), dimensions={}
  one = f32[] constant(1)
  u = f32[7] broadcast(one), dimensions={}
  ROOT s = f32[6] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"ScatterWindowsPartlyOutside", GroupPattern::kScatter, R"(
  x = f32[8,9] parameter(0)
  i = s32[6,2] parameter(1)
  u = f32[6,2,3] parameter(2)
  ROOT s = f32[8,9] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=max)"},
    {"ScatterBatching", GroupPattern::kScatter, R"(
  x = f32[3,9] parameter(0)
  i = s32[3,4,1] parameter(1)
  u = f32[3,4] parameter(2)
  ROOT s = f32[3,9] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=add)"},
    {"ScatterSets", GroupPattern::kScatter, R"(
  x = f32[9] parameter(0)
  i = s32[3,1] iota(), iota_dimension=0
  u = f32[3] parameter(1)
  ROOT s = f32[9] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=keep)"},
};
INSTANTIATE_TEST_SUITE_P(Indexed, KernelCase, ::testing::ValuesIn(kIndexed),
                         [](const auto& i) { return i.param.name; });

constexpr Case kReductions[] = {
    {"RowSum", kRow, R"(
  x = f32[7,13] parameter(0)
  z = f32[] constant(0)
  e = f32[7,13] exponential(x)
  ROOT r = f32[7] reduce(e, z), dimensions={1}, to_apply=add)"},
    {"Softmax", kRow, R"(
  x = f32[6,5,17] parameter(0)
  m0 = f32[] constant(-inf)
  z = f32[] constant(0)
  m = f32[6,5] reduce(x, m0), dimensions={2}, to_apply=max
  mb = f32[6,5,17] broadcast(m), dimensions={0,1}
  d = f32[6,5,17] subtract(x, mb)
  e = f32[6,5,17] exponential(d)
  s = f32[6,5] reduce(e, z), dimensions={2}, to_apply=add
  sb = f32[6,5,17] broadcast(s), dimensions={0,1}
  ROOT o = f32[6,5,17] divide(e, sb))"},
    {"NormThroughReshapes", kRow, R"(
  x = f32[4,6,8] parameter(0)
  r = f32[4,48] reshape(x)
  z = f32[] constant(0)
  q = f32[4,48] multiply(r, r)
  s = f32[4] reduce(q, z), dimensions={1}, to_apply=add
  t = f32[4,1] reshape(s)
  u = f32[4] reshape(t)
  b = f32[4,6,8] broadcast(u), dimensions={0}
  ROOT o = f32[4,6,8] divide(x, b))"},
    {"ColumnSum", kColumn, R"(
  x = f32[11,6] parameter(0)
  z = f32[] constant(0)
  n = f32[11,6] negate(x)
  ROOT r = f32[6] reduce(n, z), dimensions={0}, to_apply=add)"},
    {"ColumnSumIsARowOfTheLayout", kRow, R"(
  x = f32[11,6]{0,1} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[6] reduce(x, z), dimensions={0}, to_apply=add)"},
    {"BatchNormStatistics", kColumn, R"(
  x = f32[3,4,5,2] parameter(0)
  z = f32[] constant(0)
  s = f32[4] reduce(x, z), dimensions={0,2,3}, to_apply=add
  q = f32[3,4,5,2] multiply(x, x)
  t = f32[4] reduce(q, z), dimensions={0,2,3}, to_apply=add
  ROOT o = (f32[4], f32[4]) tuple(s, t))"},
    {"RowsAndColumns", GroupPattern::kRowColumn, R"(
  x = f32[9,7] parameter(0)
  z = f32[] constant(0)
  s = f32[9] reduce(x, z), dimensions={1}, to_apply=add
  b = f32[9,7] broadcast(s), dimensions={0}
  d = f32[9,7] subtract(x, b)
  c = f32[7] reduce(d, z), dimensions={0}, to_apply=add
  ROOT o = (f32[9,7], f32[7]) tuple(d, c))"},
    {"ThreeAxes", GroupPattern::kRowColumn, R"(
  x = f32[4,5,6] parameter(0)
  z = f32[] constant(0)
  e = f32[4,5,6] exponential(x)
  a = f32[4,5] reduce(e, z), dimensions={2}, to_apply=add
  b = f32[4,6] reduce(e, z), dimensions={1}, to_apply=add
  c = f32[5,6] reduce(e, z), dimensions={0}, to_apply=add
  ROOT o = (f32[4,5], f32[4,6], f32[5,6]) tuple(a, b, c))"},
    {"RowsInPieces", kRow, R"(
  x = f32[3,5,4,6] parameter(0)
  z = f32[] constant(0)
  s = f32[3,4] reduce(x, z), dimensions={1,3}, to_apply=add
  sb = f32[3,5,4,6] broadcast(s), dimensions={0,2}
  d = f32[3,5,4,6] subtract(x, sb)
  q = f32[3,5,4,6] multiply(d, d)
  v = f32[3,4] reduce(q, z), dimensions={1,3}, to_apply=add
  vb = f32[3,5,4,6] broadcast(v), dimensions={0,2}
  ROOT o = f32[3,5,4,6] divide(d, vb))"},
    {"RowsInPiecesThroughReshapes", kRow, R"(
  x = bf16[3,5,7,12] parameter(0)
  g = f32[12] parameter(1)
  f = f32[3,5,7,12] convert(x)
  r = f32[3,35,4,3] reshape(f)
  z = f32[] constant(0)
  s = f32[3,4] reduce(r, z), dimensions={1,3}, to_apply=add
  sb = f32[3,35,4,3] broadcast(s), dimensions={0,2}
  d = f32[3,35,4,3] subtract(r, sb)
  b = f32[3,5,7,12] reshape(d)
  gb = f32[3,5,7,12] broadcast(g), dimensions={3}
  m = f32[3,5,7,12] multiply(b, gb)
  h = bf16[3,5,7,12] convert(m)
  ROOT o = (bf16[3,5,7,12], f32[3,4]) tuple(h, s))"},
    {"RowsInPiecesOfTheLayout", kRow, R"(
  x = f32[6,4,5,3]{0,2,1,3} parameter(0)
  y = f32[6,4,5,3]{3,2,1,0} parameter(1)
  z = f32[] constant(0)
  a = f32[6,4,5,3]{0,2,1,3} add(x, y)
  s = f32[5,3] reduce(a, z), dimensions={0,1}, to_apply=add
  sb = f32[6,4,5,3]{0,2,1,3} broadcast(s), dimensions={2,3}
  ROOT o = f32[6,4,5,3]{0,2,1,3} subtract(a, sb))"},
    {"EmptyRowsInPieces", kRow, R"(
  x = f32[3,0,4,8] parameter(0)
  z = f32[] constant(0)
  s = f32[3,4] reduce(x, z), dimensions={1,3}, to_apply=add
  sb = f32[3,0,4,8] broadcast(s), dimensions={0,2}
  d = f32[3,0,4,8] subtract(x, sb)
  ROOT o = (f32[3,4], f32[3,0,4,8]) tuple(s, d))"},
    {"ToScalar", kRow, R"(
  x = f32[9,7] parameter(0)
  z = f32[] constant(2)
  q = f32[9,7] multiply(x, x)
  s = f32[] reduce(q, z), dimensions={0,1}, to_apply=add
  ROOT o = f32[] sqrt(s))"},
    {"BroadcastIsTheRoot", kRow, R"(
  x = f32[9,7] parameter(0)
  z = f32[] constant(0)
  s = f32[9] reduce(x, z), dimensions={1}, to_apply=add
  ROOT o = f32[9,7] broadcast(s), dimensions={0})"},
    {"EmptyReduction", kRow, R"(
  x = f32[3,0] parameter(0)
  z = f32[] constant(5)
  ROOT s = f32[3] reduce(x, z), dimensions={1}, to_apply=add)"},
    {"UnitReduction", kRow, R"(
  x = f32[3,1] parameter(0)
  z = f32[] constant(5)
  ROOT s = f32[3] reduce(x, z), dimensions={1}, to_apply=add)"},
    {"ReduceInALoop", kLoop, R"(
  x = f32[5,4,3] parameter(0)
  z = f32[] constant(0)
  s = f32[4] reduce(x, z), dimensions={0,2}, to_apply=add
  ROOT o = f32[4] exponential(s))"},
    {"ReduceOfAReduceInALoop", kLoop, R"(
  x = f32[5,4,4] parameter(0)
  z = f32[] constant(0)
  m = f32[] constant(-inf)
  s = f32[5,4] reduce(x, z), dimensions={2}, to_apply=add
  t = f32[5] reduce(s, m), dimensions={1}, to_apply=max
  ROOT o = f32[5] negate(t))"},
    {"ReduceUnderAPad", kLoop, R"(
  x = f32[5,4] parameter(0)
  z = f32[] constant(0)
  s = f32[5] reduce(x, z), dimensions={1}, to_apply=add
  ROOT o = f32[9] pad(s, z), padding=1_3)"},
    {"SecondReduceOffTheSpace", kRow, R"(
  x = f32[6,8] parameter(0)
  y = f32[6,3] parameter(1)
  z = f32[] constant(0)
  s = f32[6] reduce(x, z), dimensions={1}, to_apply=add
  t = f32[6] reduce(y, z), dimensions={1}, to_apply=add
  u = f32[6] add(s, t)
  b = f32[6,8] broadcast(u), dimensions={0}
  ROOT o = f32[6,8] add(x, b))"},
    {"Window", kLoop, R"(
  x = f32[6,8] parameter(0)
  z = f32[] constant(0)
  n = f32[6,8] negate(x)
  ROOT o = f32[3,7] reduce-window(n, z), window={size=3x2 stride=2x1 pad=1_1x0_0 rhs_dilate=1x1}, to_apply=add)"},
    {"WindowDilated", kLoop, R"(
  x = f32[5] parameter(0)
  z = f32[] constant(-inf)
  ROOT o = f32[7] reduce-window(x, z), window={size=3 pad=1_1 lhs_dilate=2 rhs_dilate=2}, to_apply=max)"},
    {"Dot", kLoop, R"(
  a = f32[2,3,5] parameter(0)
  b = f32[2,5,4] parameter(1)
  c = f32[2,3,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT o = f32[2,3,4] negate(c))"},
    {"DotBf16", kLoop, R"(
  a = bf16[3,5] parameter(0)
  b = bf16[5] parameter(1)
  ROOT c = bf16[3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})"},
    {"DotInt8", kLoop, R"(
  a = s8[3,5] parameter(0)
  b = s8[4,5] parameter(1)
  ROOT c = s32[3,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1})"},
    {"Convolution", kLoop, R"(
  x = f32[2,6,7,4] parameter(0)
  k = f32[3,3,2,6] parameter(1)
  ROOT c = f32[2,3,7,6] convolution(x, k), window={size=3x3 stride=2x1 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=2)"},
    {"ConvolutionDilatedReversed", kLoop, R"(
  x = f32[2,5,3] parameter(0)
  k = f32[3,3,4] parameter(1)
  ROOT c = f32[2,11,4] convolution(x, k), window={size=3 pad=3_3 lhs_dilate=2 rhs_dilate=2 rhs_reversal=1}, dim_labels=b0f_0io->b0f)"},
};
INSTANTIATE_TEST_SUITE_P(Reductions, KernelCase,
                         ::testing::ValuesIn(kReductions),
                         [](const auto& i) { return i.param.name; });

TEST(BuildKernelTest, ArgmaxIsOneFoldOfTwoResults) {
  Kernel kernel;
  EXPECT_EQ(CheckKernel(R"(
HloModule m
argmax {
  v0 = f32[] parameter(0)
  i0 = s32[] parameter(1)
  v1 = f32[] parameter(2)
  i1 = s32[] parameter(3)
  gt = pred[] compare(v0, v1), direction=GE
  v = f32[] select(gt, v0, v1)
  i = s32[] select(gt, i0, i1)
  ROOT t = (f32[], s32[]) tuple(v, i)
}
ENTRY e {
  x = f32[7,13] parameter(0)
  n = s32[7,13] iota(), iota_dimension=1
  m = f32[] constant(-inf)
  z = s32[] constant(0)
  ROOT r = (f32[7], s32[7]) reduce(x, n, m, z), dimensions={1}, to_apply=argmax
})",
                        kRow, &kernel),
            absl::OkStatus());
  EXPECT_EQ(kernel.functions.size(), 1);
  EXPECT_FALSE(kernel.functions[0].simple.has_value());
  EXPECT_EQ(kernel.stores.size(), 2);
}

TEST(BuildKernelTest, NarrowSumsAccumulateInF32) {
  for (const char* reducer :
       {"ROOT r = bf16[] add(a, b)",
        "x = f32[] convert(a) y = f32[] convert(b) s = f32[] add(x, y) "
        "ROOT r = bf16[] convert(s)"}) {
    Kernel kernel;
    EXPECT_EQ(CheckKernel(absl::StrCat(R"(
HloModule m
sum { a = bf16[] parameter(0) b = bf16[] parameter(1) )",
                                       reducer, R"( }
ENTRY e {
  x = bf16[3,1000] parameter(0)
  q = bf16[3,1000] multiply(x, x)
  z = bf16[] constant(0)
  ROOT r = bf16[3] reduce(q, z), dimensions={1}, to_apply=sum
})"),
                          kRow, &kernel),
              absl::OkStatus());
  }
}

TEST(BuildKernelTest, RootThatNothingTiesToTheRowsLiesOverThem) {
  EXPECT_EQ(CheckKernel(Entry(R"(
  x = f32[6,8] parameter(0)
  i = s32[6,1] parameter(1)
  y = f32[9] parameter(2)
  z = f32[] constant(0)
  s = f32[6] reduce(x, z), dimensions={1}, to_apply=add
  g = f32[6] gather(y, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
  n = f32[2,3] reshape(g)
  ROOT t = (f32[6], f32[2,3]) tuple(s, n))"),
                        kRow),
            absl::OkStatus());
}

TEST(BuildKernelTest, MapIsInlined) {
  EXPECT_EQ(CheckKernel(R"(
HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] multiply(a, b)
  ROOT d = f32[] add(c, a)
}
ENTRY e {
  x = f32[9] parameter(0)
  y = f32[9] parameter(1)
  ROOT r = f32[9] map(x, y), dimensions={0}, to_apply=f
})",
                        kLoop),
            absl::OkStatus());
}

Kernel Built(const std::string& body, GroupPattern pattern) {
  auto module = KeepModule(Entry(body));
  EXPECT_EQ(module.status(), absl::OkStatus());
  auto kernel = BuildKernel(WholeEntry(**module, pattern));
  EXPECT_EQ(kernel.status(), absl::OkStatus());
  return kernel.ok() ? *kernel : Kernel();
}

absl::Status Refusal(const std::string& body, GroupPattern pattern) {
  auto module = KeepModule(Entry(body));
  if (!module.ok()) return module.status();
  return BuildKernel(WholeEntry(**module, pattern)).status();
}

// ---- The form of kernels ----

TEST(KernelFormTest, ElementwiseOverAnyRankIsOneVariable) {
  Kernel k = Built(kMoves[0].body, kLoop);
  ASSERT_EQ(k.vars.size(), 1);
  EXPECT_EQ(k.vars[0].extent, 7 * 13);
}

TEST(KernelFormTest, BroadcastKeepsTheVariablesItTellsApart) {
  Kernel k = Built(kMoves[1].body, kLoop);
  ASSERT_EQ(k.vars.size(), 2);
  EXPECT_EQ(k.vars[0].extent, 35);
  EXPECT_EQ(k.vars[1].extent, 12);
}

TEST(KernelFormTest, SoftmaxIsTheKernelOfTheHeader) {
  Kernel k = Built(R"(
  x = f32[6,5,17] parameter(0)
  m0 = f32[] constant(-inf)
  z = f32[] constant(0)
  m = f32[6,5] reduce(x, m0), dimensions={2}, to_apply=max
  mb = f32[6,5,17] broadcast(m), dimensions={0,1}
  d = f32[6,5,17] subtract(x, mb)
  e = f32[6,5,17] exponential(d)
  s = f32[6,5] reduce(e, z), dimensions={2}, to_apply=add
  sb = f32[6,5,17] broadcast(s), dimensions={0,1}
  ROOT o = f32[6,5,17] divide(e, sb))",
                   kRow);
  EXPECT_EQ(ToString(k), R"(test: row_reduce over v0 = 30 v1 = 17
  in0: f32[6,5,17] x
  out0: f32[6,5,17] o
  n0 = load in0[v0 * 17 + v1]  vars {0,1} phase 0
  n1 = const f32 -inf  vars {} phase 0
  n2 = reduce max f32 n0 n1 over {1}  vars {0} phase 1
  n3 = subtract f32 n0 n2  vars {0,1} phase 1
  n4 = exponential f32 n3  vars {0,1} phase 1
  n5 = const f32 0  vars {} phase 0
  n6 = reduce add f32 n4 n5 over {1}  vars {0} phase 2
  n7 = divide f32 n4 n6  vars {0,1} phase 2
  store out0[v0 * 17 + v1] = n7
)");
}

TEST(KernelFormTest, BatchNormHasThreeRuns) {
  Kernel k = Built(R"(
  x = f32[3,4,5,2] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[4] reduce(x, z), dimensions={0,2,3}, to_apply=add)",
                   kColumn);
  ASSERT_EQ(k.vars.size(), 3);
  EXPECT_EQ(k.vars[2].extent, 10);
  EXPECT_EQ(k.space_vars, 3);
}

TEST(KernelFormTest, RowsInPiecesAreOneVariableAfterWhatIsKept) {
  Kernel k = Built(R"(
  x = f32[3,5,4,6] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[3,4] reduce(x, z), dimensions={1,3}, to_apply=add)",
                   kRow);
  EXPECT_EQ(ToString(k),
            R"(test: row_reduce over v0 = 3 v1 = 4 v2 = 30, in pieces of 6
  in0: f32[3,5,4,6] x
  out0: f32[3,4] s
  n0 = const f32 0  vars {} phase 0
  n1 = load in0[v0 * 120 + v1 * 6 + v2 % 6 + (v2 / 6) * 24]  vars {0,1,2} phase 0
  n2 = reduce add f32 n1 n0 over {2}  vars {0,1} phase 1
  store out0[v0 * 4 + v1] = n2
)");
}

TEST(KernelFormTest, LayoutDecidesWhichVariableIsMinor) {
  Kernel k = Built(R"(
  x = f32[11,6]{0,1} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[6] reduce(x, z), dimensions={0}, to_apply=add)",
                   kRow);
  ASSERT_EQ(k.vars.size(), 2);
  EXPECT_EQ(k.vars[1].extent, 11);
  EXPECT_EQ(k.nodes.back().reduced, 2);
}

TEST(KernelFormTest, ReduceOffTheSpaceGetsAnInnerVariable) {
  Kernel k = Built(R"(
  x = f32[5,4] parameter(0)
  z = f32[] constant(0)
  s = f32[5] reduce(x, z), dimensions={1}, to_apply=add
  ROOT o = f32[5] exponential(s))",
                   kLoop);
  EXPECT_EQ(k.space_vars, 1);
  ASSERT_EQ(k.vars.size(), 2);
  EXPECT_EQ(k.vars[1].extent, 4);
}

TEST(KernelFormTest, EqualLoadsAreOneNode) {
  Kernel k = Built(R"(
  x = f32[9] parameter(0)
  a = f32[9] add(x, x)
  c = f32[9] copy(x)
  ROOT o = f32[9] multiply(a, c))",
                   kLoop);
  EXPECT_EQ(k.nodes.size(), 3);
}

TEST(KernelFormTest, LargeSpacesNeed64Bits) {
  const std::string body = R"(
  x = f32[65536,65536] parameter(0)
  ROOT o = f32[65536,65536] negate(x))";
  EXPECT_TRUE(NeedsInt64(Built(body, kLoop)));
  EXPECT_FALSE(NeedsInt64(Built(kMoves[0].body, kLoop)));
}

TEST(KernelFormTest, InPlaceUpdateAliasesItsOperand) {
  Kernel k = Built(R"(
  x = f32[7,9] parameter(0)
  u = f32[2,9] parameter(1)
  i = s32[] parameter(2)
  ROOT d = f32[7,9] dynamic-update-slice(x, u, i, i))",
                   GroupPattern::kScatter);
  EXPECT_EQ(k.buffers.back().aliases, 0);
  EXPECT_EQ(k.prologue, nullptr);
  EXPECT_EQ(PointCount(k, SpaceMask(k)), 18);
}

TEST(KernelFormTest, LongChainsDoNotRecurse) {
  std::string body = "  x0 = f32[8] parameter(0)\n";
  for (int i = 1; i <= 20000; ++i) {
    body += "  x" + std::to_string(i) + " = f32[8] negate(x" +
            std::to_string(i - 1) + ")\n";
  }
  body += "  ROOT o = f32[8] exponential(x20000)\n";
  EXPECT_EQ(Built(body, kLoop).nodes.size(), 20002);
}

// ---- Refusals ----

TEST(BuildKernelTest, ReasonNamesInstructionLineAndRule) {
  absl::Status s = Refusal(R"(
  x = f32[4,4] parameter(0)
  ROOT c = f32[4,4] cholesky(x), lower=true)",
                           kLoop);
  EXPECT_EQ(s.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("c (line 10): cholesky: no scalar form"));
}

TEST(BuildKernelTest, RootsOfDifferentSizesAreRefused) {
  absl::Status s = Refusal(R"(
  x = f32[4] parameter(0)
  y = f32[5] parameter(1)
  a = f32[4] negate(x)
  b = f32[5] negate(y)
  ROOT t = (f32[4], f32[5]) tuple(a, b))",
                           kLoop);
  EXPECT_THAT(std::string(s.message()), HasSubstr("5 and 4 elements"));
}

TEST(BuildKernelTest, RootOffTheSpaceIsRefused) {
  absl::Status s = Refusal(R"(
  x = f32[4,6] parameter(0)
  y = f32[5] parameter(1)
  z = f32[] constant(0)
  a = f32[4] reduce(x, z), dimensions={1}, to_apply=add
  b = f32[5] negate(y)
  ROOT t = (f32[4], f32[5]) tuple(a, b))",
                           kRow);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("is not over the space of a"));
}

// Each shift doubles the indices at which x is asked for.
TEST(BuildKernelTest, GrowthIsBounded) {
  std::string body =
      "  y0 = f32[65536] parameter(0)\n  z = f32[] constant(0)\n";
  for (int i = 1; i <= 40; ++i) {
    std::string a = std::to_string(i), b = std::to_string(i - 1);
    std::string shift = std::to_string(1 + 37 * i);
    body += "  shifted" + a + " = f32[65536] pad(y" + b +
            ", z), padding=" + shift + "_-" + shift + "\n  y" + a +
            " = f32[65536] add(y" + b + ", shifted" + a + ")\n";
  }
  body += "  ROOT o = f32[65536] negate(y40)\n";
  EXPECT_THAT(std::string(Refusal(body, kLoop).message()),
              HasSubstr("scalar operations >"));
}

}  // namespace
}  // namespace ridge
