// Reductions, contractions, indexing, sorting, control flow and limits.
#include <cmath>

#include "absl/strings/substitute.h"
#include "hlo/base/status_matchers.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/evaluator/testing.h"

namespace ridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kAdd[] = R"(add { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
)";

std::string WithAdd(absl::string_view text) { return absl::StrCat(kAdd, text); }

TEST(Reduce, SumsAreKeptInDoubleAndRoundedOnce) {
  // In f32, 1e8 + 1 is 1e8: a running sum would end at 0.
  EXPECT_THAT(Values(WithAdd(R"(ENTRY e {
    x = f32[4] constant({1e8, 1, 1, -1e8})
    z = f32[] constant(0)
    ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add
  })")),
              IsOkAndHolds(ElementsAre(2)));
}

TEST(Reduce, OverAnyDimensions) {
  EXPECT_THAT(Values(WithAdd(R"(ENTRY e {
    x = f32[2,2,2] constant({{{1,2},{3,4}},{{5,6},{7,8}}})
    z = f32[] constant(100)
    a = f32[2] reduce(x, z), dimensions={0,2}, to_apply=add
    b = f32[2,2] reduce(x, z), dimensions={1}, to_apply=add
    ROOT t = (f32[2], f32[2,2]) tuple(a, b)
  })")),
              IsOkAndHolds(ElementsAre(114, 122, 104, 106, 112, 114)));
}

TEST(Reduce, OfNothingIsTheInitialValue) {
  EXPECT_THAT(Values(WithAdd(R"(ENTRY e {
    x = f32[2,0] constant({{},{}})
    z = f32[] constant(7)
    ROOT r = f32[2] reduce(x, z), dimensions={1}, to_apply=add
  })")),
              IsOkAndHolds(ElementsAre(7, 7)));
}

TEST(Reduce, VariadicArgmaxKeepsTheFirstOfEquals) {
  EXPECT_THAT(Values(R"(
  argmax {
    a = f32[] parameter(0)  i = s32[] parameter(1)
    b = f32[] parameter(2)  j = s32[] parameter(3)
    ge = pred[] compare(a, b), direction=GE
    v = f32[] select(ge, a, b)
    k = s32[] select(ge, i, j)
    ROOT t = (f32[], s32[]) tuple(v, k)
  }
  ENTRY e {
    x = f32[2,3] constant({{1, 5, 5}, {9, 2, 3}})
    n = s32[2,3] iota(), iota_dimension=1
    m = f32[] constant(-inf)
    z = s32[] constant(0)
    ROOT r = (f32[2], s32[2]) reduce(x, n, m, z), dimensions={1}, to_apply=argmax
  })"),
              IsOkAndHolds(ElementsAre(5, 9, 1, 0)));
}

TEST(Reduce, AnyReducerRunsInIndexOrder) {
  EXPECT_THAT(Values(R"(
  sub { a = f32[] parameter(0) b = f32[] parameter(1)
    ROOT s = f32[] subtract(a, b) }
  ENTRY e {
    x = f32[3] constant({1, 2, 3})
    z = f32[] constant(10)
    ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=sub
  })"),
              IsOkAndHolds(ElementsAre(4)));
}

TEST(ReduceWindow, StridePaddingAndDilation) {
  EXPECT_THAT(
      Values(WithAdd(R"(ENTRY e {
    x = f32[5] constant({1, 2, 3, 4, 5})
    z = f32[] constant(0)
    a = f32[3] reduce-window(x, z), window={size=2 stride=2 pad=0_1}, to_apply=add
    b = f32[3] reduce-window(x, z), window={size=2 rhs_dilate=2}, to_apply=add
    c = f32[9] reduce-window(x, z), window={size=1 lhs_dilate=2}, to_apply=add
    ROOT t = (f32[3], f32[3], f32[9]) tuple(a, b, c)
  })")),
      IsOkAndHolds(ElementsAre(3, 7, 5, 4, 6, 8, 1, 0, 2, 0, 3, 0, 4, 0, 5)));
}

TEST(SelectAndScatter, SendsTheSourceToTheLargestOfEachWindow) {
  EXPECT_THAT(Values(WithAdd(R"(
  ge { a = f32[] parameter(0) b = f32[] parameter(1)
    ROOT s = pred[] compare(a, b), direction=GE }
  ENTRY e {
    x = f32[4] constant({1, 3, 2, 0})
    s = f32[2] constant({10, 20})
    z = f32[] constant(0)
    ROOT r = f32[4] select-and-scatter(x, s, z),
      window={size=3 stride=1}, select=ge, scatter=add
  })")),
              IsOkAndHolds(ElementsAre(0, 30, 0, 0)));
}

TEST(Dot, AnyDimensionNumbers) {
  // batch 0 of lhs with 1 of rhs, contracting 1 with 0.
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,2] constant({{1,2},{3,4}})
    y = f32[2,2] constant({{5,6},{7,8}})
    ROOT d = f32[2] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1},
      lhs_contracting_dims={1}, rhs_contracting_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(19, 50)));
}

TEST(Dot, BytesToS32DoNotSaturateAndS32Wraps) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s8[2] constant({-128, 127})
    y = s8[2] constant({-128, 127})
    a = s32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    u = s32[1] constant({65536})
    b = s32[] dot(u, u), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    ROOT t = (s32[], s32[]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(16384 + 16129, 0)));
}

TEST(Dot, OfEmptyContractionIsZero) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,0] constant({{},{}})
    y = f32[0,1] constant({})
    ROOT d = f32[2,1] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(0, 0)));
}

TEST(Convolution, GroupsDilationAndReversal) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[1,4,2] constant({{{1,10},{2,20},{3,30},{4,40}}})
    k = f32[2,1,2] constant({{{1,1}},{{0,2}}})
    a = f32[1,3,2] convolution(x, k), window={size=2},
      dim_labels=b0f_0io->b0f, feature_group_count=2
    b = f32[1,3,2] convolution(x, k), window={size=2 rhs_reversal=1},
      dim_labels=b0f_0io->b0f, feature_group_count=2
    ROOT t = (f32[1,3,2], f32[1,3,2]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(1, 50, 2, 80, 3, 110,  //
                                       2, 40, 3, 70, 4, 100)));
}

TEST(Convolution, BatchGroupsSplitTheBatchAndTheOutputFeatures) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[2,1,1] constant({{{3}},{{5}}})
    k = f32[1,1,2] constant({{{10, 100}}})
    ROOT a = f32[1,1,2] convolution(x, k), window={size=1},
      dim_labels=b0f_0io->b0f, batch_group_count=2
  })"),
              IsOkAndHolds(ElementsAre(30, 500)));
}

TEST(Pad, NegativeAndInterior) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[3] constant({1, 2, 3})
    p = f32[] constant(9)
    a = f32[6] pad(x, p), padding=2_-1_1
    b = f32[2] pad(x, p), padding=-1_0
    ROOT t = (f32[6], f32[2]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(9, 9, 1, 9, 2, 9, 2, 3)));
}

TEST(DynamicSlice, ClampsItsStart) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s32[4] constant({1, 2, 3, 4})
    i = s32[] constant(9)
    j = s32[] constant(-5)
    u = s32[2] constant({7, 8})
    a = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
    b = s32[4] dynamic-update-slice(x, u, j)
    ROOT t = (s32[2], s32[4]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(3, 4, 7, 8, 3, 4)));
}

TEST(Gather, ClampsAndScatterSkipsWhatIsOutOfRange) {
  EXPECT_THAT(Values(R"(
  set { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }
  ENTRY e {
    x = s32[3] constant({1, 2, 3})
    i = s32[3,1] constant({{2}, {9}, {-1}})
    u = s32[3] constant({70, 80, 90})
    g = s32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0},
      start_index_map={0}, index_vector_dim=1, slice_sizes={1}
    s = s32[3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=set
    ROOT t = (s32[3], s32[3]) tuple(g, s)
  })"),
              IsOkAndHolds(ElementsAre(3, 3, 1, 1, 2, 70)));
}

TEST(Gather, BatchingDimensionsTieOperandAndIndices) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
    i = s32[2,1] constant({{2}, {0}})
    ROOT g = s32[2] gather(x, i), offset_dims={}, collapsed_slice_dims={1},
      start_index_map={1}, index_vector_dim=1, slice_sizes={1,1},
      operand_batching_dims={0}, start_indices_batching_dims={0}
  })"),
              IsOkAndHolds(ElementsAre(3, 4)));
}

TEST(Sort, StableVariadicByKey) {
  EXPECT_THAT(Values(R"(
  lt { a = s32[] parameter(0) b = s32[] parameter(1)
       c = s32[] parameter(2) d = s32[] parameter(3)
    ROOT l = pred[] compare(a, b), direction=LT }
  ENTRY e {
    k = s32[4] constant({3, 1, 3, 1})
    v = s32[4] constant({0, 1, 2, 3})
    ROOT s = (s32[4], s32[4]) sort(k, v), dimensions={0}, is_stable=true, to_apply=lt
  })"),
              IsOkAndHolds(ElementsAre(1, 1, 3, 3, 1, 3, 0, 2)));
}

TEST(Sort, NanUnderLessThanDoesNotCrash) {
  RIDGE_EXPECT_OK(
      RunText(R"(
  lt { a = f32[] parameter(0) b = f32[] parameter(1)
    ROOT l = pred[] compare(a, b), direction=LT }
  ENTRY e {
    k = f32[64] parameter(0)
    n = f32[64] log(k)
    ROOT s = f32[64] sort(n), dimensions={0}, to_apply=lt
  })",
              {RandomLiteral(Shape::Array(ElementType::kF32, {64}), 1)})
          .status());
}

TEST(TopK, LargestFirstAndTheEarlierOfEquals) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[5] constant({2, 7, 1, 7, 3})
    ROOT t = (f32[3], s32[3]) topk(x), k=3, largest=true
  })"),
              IsOkAndHolds(ElementsAre(7, 7, 3, 1, 3, 4)));
}

TEST(Fft, OfAnyLengthAndBack) {
  EXPECT_THAT(Values(R"(ENTRY e {
    x = f32[3] constant({1, 2, 4})
    f = c64[2] fft(x), fft_type=RFFT, fft_length={3}
    ROOT y = f32[3] fft(f), fft_type=IRFFT, fft_length={3}
  })"),
              IsOkAndHolds(ElementsAre(1, 2, 4)));
}

TEST(Linalg, CholeskyAndTriangularSolveInvertEachOther) {
  EXPECT_THAT(Values(R"(ENTRY e {
    a = f32[2,2] constant({{4, 2}, {2, 5}})
    l = f32[2,2] cholesky(a), lower=true
    b = f32[2,1] constant({{8}, {12}})
    y = f32[2,1] triangular-solve(l, b), left_side=true, lower=true,
      unit_diagonal=false, transpose_a=NO_TRANSPOSE
    x = f32[2,1] triangular-solve(l, y), left_side=true, lower=true,
      unit_diagonal=false, transpose_a=TRANSPOSE
    ROOT t = (f32[2,2], f32[2,1]) tuple(l, x)
  })"),
              IsOkAndHolds(ElementsAre(2, 0, 1, 2, 1, 2)));
}

TEST(RngBitGenerator, ThreeFryAndPhiloxGiveTheirPublishedVectors) {
  // Random123's known answers: counter and key zero.
  EXPECT_THAT(Values(R"(ENTRY e {
    s = u64[2] constant({0, 0})
    r = (u64[2], u32[2]) rng-bit-generator(s), algorithm=rng_three_fry
    p = u64[3] constant({0, 0, 0})
    q = (u64[3], u32[4]) rng-bit-generator(p), algorithm=rng_philox
    a = u32[2] get-tuple-element(r), index=1
    b = u32[4] get-tuple-element(q), index=1
    ROOT t = (u32[2], u32[4]) tuple(a, b)
  })"),
              IsOkAndHolds(ElementsAre(0x6b200159, 0x99ba4efe, 0x6627e8d5,
                                       0xe169c58d, 0xbc57ac4c, 0x9b00dbd8)));
}

TEST(While, CountsAndCarries) {
  EXPECT_THAT(Values(R"(
  cond { s = (s32[], f32[2]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(5)
    ROOT l = pred[] compare(i, n), direction=LT }
  body { s = (s32[], f32[2]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    x = f32[2] get-tuple-element(s), index=1
    o = s32[] constant(1)
    j = s32[] add(i, o)
    y = f32[2] add(x, x)
    ROOT t = (s32[], f32[2]) tuple(j, y) }
  ENTRY e {
    z = s32[] constant(0)
    x = f32[2] constant({1, 3})
    t = (s32[], f32[2]) tuple(z, x)
    ROOT w = (s32[], f32[2]) while(t), condition=cond, body=body
  })"),
              IsOkAndHolds(ElementsAre(5, 32, 96)));
}

TEST(While, WithoutEndIsAnError) {
  EvalOptions options;
  options.max_steps = 100;
  EXPECT_THAT(RunText(R"(
  cond { s = s32[] parameter(0) ROOT t = pred[] constant(true) }
  body { ROOT s = s32[] parameter(0) }
  ENTRY e { z = s32[] constant(0)
    ROOT forever = s32[] while(z), condition=cond, body=body })",
                      {}, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       testing::AllOf(HasSubstr("forever"),
                                      HasSubstr("max_steps = 100"))));
}

TEST(Conditional, OutOfRangeTakesTheLastBranch) {
  EXPECT_THAT(Values(R"(
  a { p = s32[] parameter(0) ROOT c = s32[] constant(1) }
  b { p = s32[] parameter(0) ROOT c = s32[] constant(2) }
  ENTRY e { i = s32[] constant(-3)
    z = s32[] constant(0)
    ROOT r = s32[] conditional(i, z, z), branch_computations={a, b} })"),
              IsOkAndHolds(ElementsAre(2)));
}

TEST(Limits, AShapeThatDoesNotFitIsAnError) {
  EXPECT_THAT(
      RunText(R"(ENTRY e { z = f32[] constant(0)
    ROOT huge = f32[1000000,1000000] broadcast(z), dimensions={} })"),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("huge")));
}

TEST(Limits, CollectivesOverSeveralDevicesAreRefusedAndOverOneAreCopies) {
  constexpr char kText[] = R"(ENTRY e { x = f32[2] constant({1, 2})
    ROOT r = f32[2] all-reduce(x), replica_groups=$0, to_apply=add })";
  EXPECT_THAT(Values(WithAdd(absl::Substitute(kText, "{{0}}"))),
              IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_THAT(RunText(WithAdd(absl::Substitute(kText, "{{0,1}}"))),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("r (")));
}

TEST(Async, IsDoneWhereItStarts) {
  EXPECT_THAT(Values(R"(ENTRY e { x = f32[2] constant({1, -2})
    s = ((f32[2]), f32[2], s32[]) abs-start(x)
    ROOT d = f32[2] abs-done(s) })"),
              IsOkAndHolds(ElementsAre(1, 2)));
}

}  // namespace
}  // namespace ridge
