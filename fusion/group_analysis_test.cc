#include "fusion/group_analysis.h"

#include "fusion/testing.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

struct Case {
  const char* name;
  const char* entry;
  const char* roots;
  Rule rule;
  GroupPattern pattern;  // where allowed
};

class RulesTest : public ::testing::TestWithParam<Case> {};

TEST_P(RulesTest, Decides) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module,
                             EntryModule(GetParam().entry));
  // What the rules say where every schedule has an emitter.
  FusionLimits limits;
  limits.row_column = limits.mixed_columns = true;
  GroupAnalysis a = AnalyzeAll(*module, GetParam().roots, limits);
  EXPECT_EQ(RuleId(a.decision.rule), RuleId(GetParam().rule))
      << a.decision.ToString();
  if (GetParam().rule == Rule::kAllowed) {
    EXPECT_STREQ(PatternName(a.pattern), PatternName(GetParam().pattern));
  }
}

constexpr Case kCases[] = {
    {"ElementwiseIsALoop", R"(
  x = f32[8,16] parameter(0)
  e = f32[8,16] exponential(x)
  ROOT n = f32[8,16] negate(e))",
     "e n", Rule::kAllowed, GroupPattern::kLoop},
    {"SoftmaxIsOneRowReduction", R"(
  x = f32[64,128] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[64] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[64,128] broadcast(m), dimensions={0}
  s = f32[64,128] subtract(x, mb)
  e = f32[64,128] exponential(s)
  t = f32[64] reduce(e, zero), dimensions={1}, to_apply=add
  tb = f32[64,128] broadcast(t), dimensions={0}
  ROOT d = f32[64,128] divide(e, tb))",
     "d", Rule::kAllowed, GroupPattern::kRowReduce},
    {"RowsAndColumnsOfOneSpace", R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  s = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
  sb = f32[64,128] broadcast(s), dimensions={0}
  d = f32[64,128] subtract(x, sb)
  c = f32[128] reduce(d, zero), dimensions={0}, to_apply=add
  ROOT o = (f32[64,128], f32[128]) tuple(d, c))",
     "d c", Rule::kAllowed, GroupPattern::kRowColumn},
    {"AColumnMeanIsNotSubtractedInTheSamePass", R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  c = f32[128] reduce(x, zero), dimensions={0}, to_apply=add
  cb = f32[64,128] broadcast(c), dimensions={1}
  ROOT d = f32[64,128] subtract(x, cb))",
     "d", Rule::kAfterColumns, GroupPattern::kLoop},
    {"GroupsOfWholeSectorsAreRowsInPieces", R"(
  x = f32[4,64,8,16] parameter(0)
  zero = f32[] constant(0)
  s = f32[4,8] reduce(x, zero), dimensions={1,3}, to_apply=add
  sb = f32[4,64,8,16] broadcast(s), dimensions={0,2}
  ROOT d = f32[4,64,8,16] subtract(x, sb))",
     "d", Rule::kAllowed, GroupPattern::kRowReduce},
    {"SoAreTheirTwoFoldsInTurn", R"(
  x = f32[4,64,8,16] parameter(0)
  zero = f32[] constant(0)
  s = f32[4,8] reduce(x, zero), dimensions={1,3}, to_apply=add
  sb = f32[4,64,8,16] broadcast(s), dimensions={0,2}
  d = f32[4,64,8,16] subtract(x, sb)
  q = f32[4,64,8,16] multiply(d, d)
  ROOT v = f32[4,8] reduce(q, zero), dimensions={1,3}, to_apply=add)",
     "v", Rule::kAllowed, GroupPattern::kRowReduce},
    {"ASumOfGroupsAloneIsAColumnReduction", R"(
  x = f32[4,64,8,16] parameter(0)
  zero = f32[] constant(0)
  s = f32[4,8] reduce(x, zero), dimensions={1,3}, to_apply=add
  ROOT n = f32[4,8] negate(s))",
     "n", Rule::kAllowed, GroupPattern::kColumnReduce},
    {"PiecesOfPartsOfSectorsAreNoRows", R"(
  x = f32[4,64,8,12] parameter(0)
  zero = f32[] constant(0)
  s = f32[4,8] reduce(x, zero), dimensions={1,3}, to_apply=add
  sb = f32[4,64,8,12] broadcast(s), dimensions={0,2}
  ROOT d = f32[4,64,8,12] subtract(x, sb))",
     "d", Rule::kAfterColumns, GroupPattern::kLoop},
    {"NorAreGroupsThatNoClusterHolds", R"(
  x = f32[4,16384,8,16] parameter(0)
  zero = f32[] constant(0)
  s = f32[4,8] reduce(x, zero), dimensions={1,3}, to_apply=add
  sb = f32[4,16384,8,16] broadcast(s), dimensions={0,2}
  ROOT d = f32[4,16384,8,16] subtract(x, sb))",
     "d", Rule::kAfterColumns, GroupPattern::kLoop},
    {"NorGroupsBesideOtherFolds", R"(
  x = f32[4,64,8,16] parameter(0)
  zero = f32[] constant(0)
  s = f32[4,8] reduce(x, zero), dimensions={1,3}, to_apply=add
  c = f32[8,16] reduce(x, zero), dimensions={0,1}, to_apply=add
  sb = f32[4,64,8,16] broadcast(s), dimensions={0,2}
  d = f32[4,64,8,16] subtract(x, sb)
  ROOT o = (f32[4,64,8,16], f32[8,16]) tuple(d, c))",
     "d c", Rule::kReductions, GroupPattern::kLoop},
    {"AColumnSumHasAnEpilogueOfItsOwnSize", R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  c = f32[128] reduce(x, zero), dimensions={0}, to_apply=add
  ROOT n = f32[128] negate(c))",
     "n", Rule::kAllowed, GroupPattern::kColumnReduce},
    {"AColumnSumBesideTheValueItSums", R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  e = f32[64,128] exponential(x)
  c = f32[128] reduce(e, zero), dimensions={0}, to_apply=add
  ROOT o = (f32[64,128], f32[128]) tuple(e, c))",
     "e c", Rule::kAllowed, GroupPattern::kRowColumn},
    {"SumsOverEachOfThreeAxes", R"(
  x = f32[8,16,32] parameter(0)
  zero = f32[] constant(0)
  e = f32[8,16,32] exponential(x)
  a = f32[16,32] reduce(e, zero), dimensions={0}, to_apply=add
  b = f32[8,32] reduce(e, zero), dimensions={1}, to_apply=add
  c = f32[8,16] reduce(e, zero), dimensions={2}, to_apply=add
  d = f32[32] reduce(e, zero), dimensions={0,1}, to_apply=add
  ROOT o = (f32[16,32], f32[8,32], f32[8,16], f32[32], f32[8,16,32])
    tuple(a, b, c, d, e))",
     "e a b c d", Rule::kAllowed, GroupPattern::kRowColumn},
    {"ThreeRunsOfColumnAxesAreTooMany", R"(
  x = f32[8,4,4,32] parameter(0)
  zero = f32[] constant(0)
  e = f32[8,4,4,32] exponential(x)
  a = f32[4,4,32] reduce(e, zero), dimensions={0}, to_apply=add
  b = f32[8,4,32] reduce(e, zero), dimensions={1}, to_apply=add
  c = f32[8,4,32] reduce(e, zero), dimensions={2}, to_apply=add
  ROOT o = (f32[4,4,32], f32[8,4,32], f32[8,4,32]) tuple(a, b, c))",
     "a b c", Rule::kReductions, GroupPattern::kLoop},
    {"SumsOfMemorysInnermostAxisAreNoColumns", R"(
  x = f32[8,16,32]{0,1,2} parameter(0)
  zero = f32[] constant(0)
  e = f32[8,16,32]{0,1,2} exponential(x)
  a = f32[16] reduce(e, zero), dimensions={0,2}, to_apply=add
  b = f32[8,32]{0,1} reduce(e, zero), dimensions={1}, to_apply=add
  ROOT o = (f32[16], f32[8,32]{0,1}) tuple(a, b))",
     "a b", Rule::kReductions, GroupPattern::kLoop},
    {"ASecondPassOverTheRowsOfSeveralSums", R"(
  x = f32[8,16,32] parameter(0)
  zero = f32[] constant(0)
  c = f32[8,16] reduce(x, zero), dimensions={2}, to_apply=add
  cb = f32[8,16,32] broadcast(c), dimensions={0,1}
  d = f32[8,16,32] subtract(x, cb)
  a = f32[16,32] reduce(d, zero), dimensions={0}, to_apply=add
  b = f32[8,32] reduce(d, zero), dimensions={1}, to_apply=add
  ROOT o = (f32[16,32], f32[8,32]) tuple(a, b))",
     "a b", Rule::kReductions, GroupPattern::kLoop},
    {"AMeanOfRowSumsIsAnotherKernel", R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  s = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
  ROOT t = f32[] reduce(s, zero), dimensions={0}, to_apply=add)",
     "t", Rule::kNestedFold, GroupPattern::kLoop},
    {"ASoftmaxIsNotTransposedAcrossItsRows", R"(
  x = f32[64,64] parameter(0)
  zero = f32[] constant(0)
  s = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
  sb = f32[64,64] broadcast(s), dimensions={0}
  d = f32[64,64] divide(x, sb)
  t = f32[64,64] transpose(d), dimensions={1,0}
  ROOT a = f32[64,64] add(d, t))",
     "a", Rule::kOtherRows, GroupPattern::kLoop},
    {"AGatherAlongTheRowStaysInTheRow", R"(
  x = f32[64,128] parameter(0)
  i = s32[64,1] parameter(1)
  zero = f32[] constant(0)
  s = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
  sb = f32[64,128] broadcast(s), dimensions={0}
  d = f32[64,128] subtract(x, sb)
  g = f32[64] gather(d, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
  ROOT n = f32[64] add(g, s))",
     "n", Rule::kAllowed, GroupPattern::kRowReduce},
    {"TwoSizesAreNoLoop", R"(
  x = f32[8,16] parameter(0)
  y = f32[8] parameter(1)
  a = f32[8,16] negate(x)
  b = f32[8] negate(y)
  ROOT o = (f32[8,16], f32[8]) tuple(a, b))",
     "a b", Rule::kSpace, GroupPattern::kLoop},
    {"ADearVectorIsNotComputedForEveryRow", R"(
  y = f32[128] parameter(0)
  x = f32[64,128] parameter(1)
  s = f32[128] sine(y)
  b = f32[64,128] broadcast(s), dimensions={1}
  ROOT a = f32[64,128] add(x, b))",
     "a", Rule::kRecompute, GroupPattern::kLoop},
    {"ACheapVectorIs", R"(
  y = f32[128] parameter(0)
  x = f32[64,128] parameter(1)
  s = f32[128] negate(y)
  b = f32[64,128] broadcast(s), dimensions={1}
  ROOT a = f32[64,128] add(x, b))",
     "a", Rule::kAllowed, GroupPattern::kLoop},
    {"RopeReadsTwoHalvesOfOneProducer", R"(
  x = f32[4,8] parameter(0)
  n = f32[4,8] negate(x)
  l = f32[4,4] slice(n), slice={[0:4], [0:4]}
  r = f32[4,4] slice(n), slice={[0:4], [4:8]}
  d = f32[4,4] subtract(l, r)
  s = f32[4,4] add(l, r)
  ROOT c = f32[4,8] concatenate(d, s), dimensions={1})",
     "c", Rule::kAllowed, GroupPattern::kLoop},
    {"ATransposeWithMapsOnBothSides", R"(
  x = f32[64,128] parameter(0)
  e = f32[64,128] exponential(x)
  t = f32[128,64] transpose(e), dimensions={1,0}
  ROOT n = f32[128,64] negate(t))",
     "n", Rule::kAllowed, GroupPattern::kTranspose},
    {"ATransposeByLayoutIsOneToo", R"(
  x = f32[64,128]{1,0} parameter(0)
  y = f32[64,128]{0,1} parameter(1)
  ROOT a = f32[64,128]{1,0} add(x, y))",
     "a", Rule::kAllowed, GroupPattern::kTranspose},
    {"MajorDimensionsMayMoveInALoop", R"(
  x = f32[4,8,64] parameter(0)
  t = f32[8,4,64] transpose(x), dimensions={1,0,2}
  ROOT n = f32[8,4,64] negate(t))",
     "n", Rule::kAllowed, GroupPattern::kLoop},
    {"ATransformIsAWall", R"(
  x = f32[64] parameter(0)
  n = f32[64] negate(x)
  ROOT f = c64[33] fft(n), fft_type=RFFT, fft_length={64})",
     "f", Rule::kWall, GroupPattern::kOpaque},
    {"AnUpdateTakesItsProducer", R"(
  x = f32[64,8] parameter(0)
  u = f32[1,8] parameter(1)
  i = s32[] parameter(2)
  zero = s32[] constant(0)
  n = f32[1,8] negate(u)
  ROOT d = f32[64,8] dynamic-update-slice(x, n, i, zero))",
     "d", Rule::kAllowed, GroupPattern::kScatter},
    {"ButNotOneThatReadsItsTarget", R"(
  x = f32[64,8] parameter(0)
  i = s32[] parameter(1)
  zero = s32[] constant(0)
  s = f32[1,8] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,8}
  n = f32[1,8] negate(s)
  ROOT d = f32[64,8] dynamic-update-slice(x, n, i, zero))",
     "d", Rule::kUpdate, GroupPattern::kScatter},
};

INSTANTIATE_TEST_SUITE_P(All, RulesTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(GroupAnalysisTest, RowsAndColumnsAreApartUnlessTheirScheduleIsOn) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, EntryModule(R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  s = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
  c = f32[128] reduce(x, zero), dimensions={0}, to_apply=add
  ROOT o = (f32[64], f32[128]) tuple(s, c))"));
  FusionLimits limits;
  limits.row_column = false;
  EXPECT_EQ(AnalyzeAll(*module, "s c", limits).decision.rule,
            Rule::kReductions);
  limits.row_column = true;
  EXPECT_EQ(AnalyzeAll(*module, "s c", limits).pattern,
            GroupPattern::kRowColumn);
}

TEST(GroupAnalysisTest, AColumnSumAloneStoresNothingOfTheWhole) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, EntryModule(R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  e = f32[64,128] exponential(x)
  c = f32[128] reduce(e, zero), dimensions={0}, to_apply=add
  ROOT o = (f32[64,128], f32[128]) tuple(e, c))"));
  FusionLimits limits;
  limits.row_column = false;
  EXPECT_EQ(AnalyzeAll(*module, "e c", limits).decision.rule,
            Rule::kColumnOutput);
}

TEST(GroupAnalysisTest, LimitsSayValueAndLimit) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, EntryModule(R"(
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  a = f32[8] add(x, y)
  ROOT n = f32[8] negate(a))"));
  FusionLimits limits;
  limits.max_operands = 2;
  GroupAnalysis a = AnalyzeAll(*module, "n", limits);
  EXPECT_EQ(a.decision.ToString(),
            "operands: 3 against 2 (too many kernel parameters)");
}

TEST(GroupAnalysisTest, ASliceReadsOnlyWhatItTakes) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, EntryModule(R"(
  x = f32[1024] parameter(0)
  s = f32[8] slice(x), slice={[0:8]}
  ROOT n = f32[8] negate(s))"));
  GroupAnalysis a = AnalyzeAll(*module, "n");
  EXPECT_EQ(a.bytes_read, 8 * 4);
  EXPECT_EQ(a.bytes_written, 8 * 4);
}

TEST(GroupAnalysisTest, CountsThePassesOfARow) {
  RIDGE_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Module> module, EntryModule(R"(
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  s = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
  sb = f32[64,128] broadcast(s), dimensions={0}
  d = f32[64,128] subtract(x, sb)
  q = f32[64,128] multiply(d, d)
  v = f32[64] reduce(q, zero), dimensions={1}, to_apply=add
  vb = f32[64,128] broadcast(v), dimensions={0}
  ROOT r = f32[64,128] divide(d, vb))"));
  GroupAnalysis a = AnalyzeAll(*module, "r");
  EXPECT_EQ(a.rows, 64);
  EXPECT_EQ(a.columns, 128);
  EXPECT_EQ(a.phases, 2);
  EXPECT_TRUE(a.row_kept);
}

}  // namespace
}  // namespace ridge
