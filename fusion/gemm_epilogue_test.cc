#include "fusion/gemm_epilogue.h"

#include "fusion/testing.h"
#include "gtest/gtest.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

constexpr char kDot[] = R"(
  x = f32[4,8] parameter(0)
  w = f32[8,16] parameter(1)
  b = f32[16] parameter(2)
  c = f32[4,16] parameter(3)
  p = f32[4,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)";

class GemmEpilogueTest : public ::testing::Test {
 protected:
  GemmEpilogueMatch Match(absl::string_view rest, Numerics numerics,
                          absl::string_view head = kDot) {
    auto module = EntryModule(absl::StrCat(head, rest));
    EXPECT_THAT(module, IsOk());
    module_ = *std::move(module);
    return MatchGemmEpilogue(*Named(*module_, "p")[0], numerics);
  }
  std::unique_ptr<Module> module_;
};

constexpr char kBias[] = R"(
  bb = f32[4,16] broadcast(b), dimensions={1}
  ROOT r = f32[4,16] add(p, bb))";

TEST_F(GemmEpilogueTest, AnF32BiasIsAsWritten) {
  GemmEpilogueMatch m = Match(kBias, Numerics::kAsWritten);
  EXPECT_EQ(m.root->name(), "r");
  EXPECT_EQ(m.bias->name(), "b");
}

TEST_F(GemmEpilogueTest, ABiasOverRowsIsNoLibraryForm) {
  GemmEpilogueMatch m = Match(R"(
  v = f32[4] parameter(4)
  vb = f32[4,16] broadcast(v), dimensions={0}
  ROOT r = f32[4,16] add(p, vb))",
                              Numerics::kFusedEpilogue);
  EXPECT_EQ(m.root->name(), "p");
  EXPECT_EQ(m.decision.rule, Rule::kEpilogue);
}

TEST_F(GemmEpilogueTest, ABiasIsReadThroughAReshape) {
  GemmEpilogueMatch m = Match(R"(
  v = f32[1,16] parameter(4)
  f = f32[16] reshape(v)
  vb = f32[4,16] broadcast(f), dimensions={1}
  ROOT r = f32[4,16] add(p, vb))",
                              Numerics::kAsWritten);
  EXPECT_EQ(m.root->name(), "r");
  EXPECT_EQ(m.bias->name(), "v");
}

TEST_F(GemmEpilogueTest, ABiasThatIsConvertedOnTheWayIsNone) {
  GemmEpilogueMatch m = Match(R"(
  v = bf16[16] parameter(4)
  f = f32[16] convert(v)
  vb = f32[4,16] broadcast(f), dimensions={1}
  ROOT r = f32[4,16] add(p, vb))",
                              Numerics::kAsWritten);
  EXPECT_EQ(m.root->name(), "p");
  EXPECT_EQ(m.decision.rule, Rule::kEpilogue);
}

TEST_F(GemmEpilogueTest, AResidualIsBetaTimesC) {
  GemmEpilogueMatch m =
      Match("ROOT r = f32[4,16] add(p, c)", Numerics::kAsWritten);
  EXPECT_EQ(m.root->name(), "r");
  EXPECT_EQ(m.beta, 1);
  EXPECT_EQ(m.c->name(), "c");
}

TEST_F(GemmEpilogueTest, AScaleAfterTheBiasIsNoAlpha) {
  // alpha * (A*B + bias) is not alpha*A*B + bias.
  GemmEpilogueMatch m = Match(R"(
  bb = f32[4,16] broadcast(b), dimensions={1}
  s = f32[4,16] add(p, bb)
  two = f32[] constant(2)
  t = f32[4,16] broadcast(two), dimensions={}
  ROOT r = f32[4,16] multiply(s, t))",
                              Numerics::kFusedEpilogue);
  EXPECT_EQ(m.root->name(), "s");
  EXPECT_EQ(m.alpha, 1);
  EXPECT_EQ(m.decision.rule, Rule::kEpilogue);
}

TEST_F(GemmEpilogueTest, AScaleBeforeTheBiasIsAlpha) {
  GemmEpilogueMatch m = Match(R"(
  two = f32[] constant(2)
  t = f32[4,16] broadcast(two), dimensions={}
  s = f32[4,16] multiply(p, t)
  bb = f32[4,16] broadcast(b), dimensions={1}
  ROOT r = f32[4,16] add(s, bb))",
                              Numerics::kFusedEpilogue);
  EXPECT_EQ(m.root->name(), "r");
  EXPECT_EQ(m.alpha, 2);
  EXPECT_EQ(m.bias->name(), "b");
}

TEST_F(GemmEpilogueTest, ReluKeepsItsNanUnlessAskedOtherwise) {
  constexpr char kRelu[] = R"(
  zero = f32[] constant(0)
  z = f32[4,16] broadcast(zero), dimensions={}
  ROOT r = f32[4,16] maximum(p, z))";
  EXPECT_EQ(Match(kRelu, Numerics::kAsWritten).decision.rule, Rule::kRounding);
  EXPECT_EQ(Match(kRelu, Numerics::kFusedEpilogue).activation,
            GemmActivation::kRelu);
}

std::string Gelu(absl::string_view cubed, absl::string_view root) {
  return absl::StrCat(R"(
  bb = f32[4,16] broadcast(b), dimensions={1}
  h = f32[4,16] add(p, bb)
  h2 = f32[4,16] multiply(h, h)
  h3 = f32[4,16] multiply(h2, h)
  k0 = f32[] constant()",
                      cubed, R"()
  k0b = f32[4,16] broadcast(k0), dimensions={}
  t0 = f32[4,16] multiply(h3, k0b)
  t1 = f32[4,16] add(h, t0)
  k1 = f32[] constant()",
                      root, R"()
  k1b = f32[4,16] broadcast(k1), dimensions={}
  t2 = f32[4,16] multiply(t1, k1b)
  t3 = f32[4,16] tanh(t2)
  one = f32[] constant(1)
  oneb = f32[4,16] broadcast(one), dimensions={}
  t4 = f32[4,16] add(t3, oneb)
  half = f32[] constant(0.5)
  halfb = f32[4,16] broadcast(half), dimensions={}
  t5 = f32[4,16] multiply(t4, halfb)
  ROOT r = f32[4,16] multiply(h, t5))");
}

TEST_F(GemmEpilogueTest, TanhGeluWithItsConstants) {
  GemmEpilogueMatch m =
      Match(Gelu("0.044715", "0.797884583"), Numerics::kFusedEpilogue);
  EXPECT_EQ(m.activation, GemmActivation::kGeluTanh);
  EXPECT_EQ(m.root->name(), "r");
}

TEST_F(GemmEpilogueTest, OtherConstantsAreNoGelu) {
  GemmEpilogueMatch m =
      Match(Gelu("0.05", "0.797884583"), Numerics::kFusedEpilogue);
  EXPECT_EQ(m.activation, GemmActivation::kNone);
  EXPECT_EQ(m.root->name(), "h");
}

TEST_F(GemmEpilogueTest, ErfGeluIsNeverMatched) {
  GemmEpilogueMatch m = Match(R"(
  k = f32[] constant(0.707106769)
  kb = f32[4,16] broadcast(k), dimensions={}
  s = f32[4,16] multiply(p, kb)
  e = f32[4,16] erf(s)
  one = f32[] constant(1)
  oneb = f32[4,16] broadcast(one), dimensions={}
  t = f32[4,16] add(e, oneb)
  half = f32[] constant(0.5)
  halfb = f32[4,16] broadcast(half), dimensions={}
  u = f32[4,16] multiply(t, halfb)
  ROOT r = f32[4,16] multiply(p, u))",
                              Numerics::kFusedEpilogue);
  EXPECT_EQ(m.activation, GemmActivation::kNone);
  EXPECT_EQ(m.root->name(), "p");
}

constexpr char kNarrow[] = R"(
  x = bf16[4,8] parameter(0)
  w = bf16[8,16] parameter(1)
  b = bf16[16] parameter(2)
  p = bf16[4,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = bf16[4,16] broadcast(b), dimensions={1}
  ROOT r = bf16[4,16] add(p, bb))";

TEST_F(GemmEpilogueTest, ABf16BiasRoundsTwiceAsWritten) {
  GemmEpilogueMatch m = Match("", Numerics::kAsWritten, kNarrow);
  EXPECT_EQ(m.root->name(), "p");
  EXPECT_EQ(m.decision.rule, Rule::kRounding);
}

TEST_F(GemmEpilogueTest, ABf16BiasFusesWhenAskedFor) {
  GemmEpilogueMatch m = Match("", Numerics::kFusedEpilogue, kNarrow);
  EXPECT_EQ(m.root->name(), "r");
}

TEST_F(GemmEpilogueTest, ASecondReaderOfTheSumForbidsTheActivation) {
  GemmEpilogueMatch m = Match(R"(
  bb = f32[4,16] broadcast(b), dimensions={1}
  s = f32[4,16] add(p, bb)
  t = f32[4,16] tanh(s)
  n = f32[4,16] negate(s)
  ROOT o = (f32[4,16], f32[4,16]) tuple(t, n))",
                              Numerics::kFusedEpilogue);
  EXPECT_EQ(m.root->name(), "s");
}

}  // namespace
}  // namespace ridge
