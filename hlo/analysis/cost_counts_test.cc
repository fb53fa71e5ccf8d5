// Operation counts against counts made by hand.
#include "hlo/analysis/cost_counts.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

CostCounts RootCosts(const std::string& body) {
  const auto module = ParseModule(absl::StrCat(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
f {
  p = f32[8] parameter(0)
  e = f32[8] exponential(p)
  ROOT m = f32[8] multiply(e, p)
}
ENTRY e {
)",
                                               body, "\n}"));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  return CountCosts(*(*module)->entry()->root());
}

TEST(CostCountsTest, ElementwiseCountsElements) {
  const CostCounts c =
      RootCosts("x = f32[4,5] parameter(0)\n y = f32[4,5] add(x, x)");
  EXPECT_EQ(c.flops, 20);
  EXPECT_EQ(c.transcendentals, 0);
  EXPECT_EQ(c.bytes, 3 * 20 * 4);
}

TEST(CostCountsTest, TranscendentalsAreCountedApart) {
  const CostCounts c =
      RootCosts("x = f32[4,5] parameter(0)\n y = f32[4,5] tanh(x)");
  EXPECT_EQ(c.flops, 20);
  EXPECT_EQ(c.transcendentals, 20);
}

TEST(CostCountsTest, DotIsTwoMNK) {
  EXPECT_EQ(RootCosts("x = f32[3,4] parameter(0)\n z = f32[4,5] parameter(1)\n"
                      "y = f32[3,5] dot(x, z), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}")
                .flops,
            2 * 3 * 4 * 5);
}

TEST(CostCountsTest, ConvolutionIsTwoOutputsTimesKernel) {
  EXPECT_EQ(RootCosts("x = f32[1,8,8,3] parameter(0)\n"
                      "k = f32[3,3,3,16] parameter(1)\n"
                      "y = f32[1,6,6,16] convolution(x, k), window={size=3x3}, "
                      "dim_labels=b01f_01io->b01f")
                .flops,
            2 * (6 * 6 * 16) * (3 * 3 * 3));
}

TEST(CostCountsTest, ReduceAppliesItsReducer) {
  EXPECT_EQ(RootCosts("x = f32[6,7] parameter(0)\n z = f32[] constant(0)\n"
                      "y = f32[6] reduce(x, z), dimensions={1}, to_apply=add")
                .flops,
            42);
}

TEST(CostCountsTest, AFusionHasOperationsInsideAndBytesOutside) {
  const CostCounts c = RootCosts(
      "x = f32[8] parameter(0)\n y = f32[8] fusion(x), kind=kLoop, calls=f");
  EXPECT_EQ(c.flops, 16);
  EXPECT_EQ(c.transcendentals, 8);
  EXPECT_EQ(c.bytes, 2 * 8 * 4);
}

TEST(CostCountsTest, LoopsAreCountedOnceAndSaySo) {
  const auto module = ParseModule(R"(HloModule m
body {
  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p)
}
cond {
  p = f32[8] parameter(0)
  ROOT t = pred[] constant(true)
}
ENTRY e {
  x = f32[8] parameter(0)
  ROOT w = f32[8] while(x), condition=cond, body=body
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const CostCounts c = CountCosts(*(*module)->entry()->root());
  EXPECT_EQ(c.flops, 8);
  EXPECT_TRUE(c.loop_counted_once);
}

TEST(CostCountsTest, InPlaceUpdatesTouchTheUpdate) {
  EXPECT_EQ(RootCosts("x = f32[1000] parameter(0)\n u = f32[10] parameter(1)\n"
                      "i = s32[] constant(5)\n"
                      "y = f32[1000] dynamic-update-slice(x, u, i)")
                .bytes,
            2 * 10 * 4);
}

TEST(CostCountsTest, SumsSaturate) {
  EXPECT_EQ(RootCosts("x = f32[4000000000,4000000000] parameter(0)\n"
                      "y = f32[4000000000,4000000000] add(x, x)")
                .flops,
            INT64_MAX);
}

// Each computation calls the next one twice: 2^60 calls in all.
TEST(CostCountsTest, CallsWithinCallsTakeLinearTime) {
  std::string text =
      "HloModule m\nc0 {\n  p = f32[] parameter(0)\n  ROOT n = f32[] "
      "negate(p)\n}\n";
  for (int k = 1; k <= 60; ++k) {
    absl::StrAppend(&text, "c", k, " {\n  p = f32[] parameter(0)\n  a = f32[] ",
                    "call(p), to_apply=c", k - 1, "\n");
    absl::StrAppend(&text, "  ROOT b = f32[] call(a), to_apply=c", k - 1,
                    "\n}\n");
  }
  text +=
      "ENTRY e {\n  x = f32[] parameter(0)\n"
      "  ROOT y = f32[] call(x), to_apply=c60\n}";
  const auto module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Flops(*(*module)->entry()->root()), int64_t{1} << 60);
}

}  // namespace
}  // namespace ridge
