// What RowPasses writes for sums that wait for a factor, for maxima and stores
// of narrow floats, for comparisons with an index, and for rings of one stage.
// Results are checked on a GPU, by the tests of the tools.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cuda/emit/emit.h"
#include "backends/kernel/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge::cuda {
namespace {

EmittedKernel Emitted(const std::string& body,
                      const ScheduleChoice& choice = {}) {
  auto kernel = BuildEntry(body, GroupPattern::kRowReduce);
  EXPECT_EQ(kernel.status(), absl::OkStatus());
  auto emitted = EmitKernel(*kernel, choice, DeviceLimits());
  EXPECT_EQ(emitted.status(), absl::OkStatus());
  return emitted.ok() ? *emitted : EmittedKernel();
}

int Count(const std::string& text, const std::string& what) {
  return static_cast<int>(
             std::vector<std::string>(absl::StrSplit(text, what)).size()) -
         1;
}

// t = sum of y * (sum of x): needs two sums in a row as written.
std::string SumOfScaled(const std::string& last) {
  return absl::StrCat(R"(
  x = f32[4096,4096] parameter(0)
  y = f32[4096,4096] parameter(1)
  z = f32[] constant(0)
  s = f32[4096] reduce(x, z), dimensions={1}, to_apply=add
  sb = f32[4096,4096] broadcast(s), dimensions={0}
)",
                      last, R"(
  t = f32[4096] reduce(p, z), dimensions={1}, to_apply=add
  tb = f32[4096,4096] broadcast(t), dimensions={0}
  ROOT o = f32[4096,4096] subtract(y, tb))");
}

TEST(RowPassesTest, SumsDoNotWaitForAFactorOfTheRow) {
  const std::string text =
      Emitted(SumOfScaled("p = f32[4096,4096] multiply(y, sb)")).source;
  // One barrier for both sums, and the one of the sum as written.
  EXPECT_EQ(Count(text, "__syncthreads()"), 2) << text;
  EXPECT_EQ(Count(text, "rdg_isfinite(n"), 1) << text;
}

TEST(RowPassesTest, SumsOfOtherTermsWait) {
  const std::string text =
      Emitted(SumOfScaled("p = f32[4096,4096] maximum(y, sb)")).source;
  EXPECT_EQ(Count(text, "__syncthreads()"), 2) << text;
  EXPECT_EQ(Count(text, "rdg_isfinite(n"), 0) << text;
}

TEST(RowPassesTest, RowsThatShareBarriersFoldAsWritten) {
  ScheduleChoice choice;
  choice.name = "row_reduce";
  choice.parameters = {{"threads", 128}, {"rows", 2}};
  const std::string text =
      Emitted(SumOfScaled("p = f32[4096,4096] multiply(y, sb)"), choice).source;
  EXPECT_EQ(Count(text, "rdg_isfinite(n"), 0) << text;
}

TEST(RowPassesTest, ProductsAreAddedInOneInstruction) {
  const std::string text = Emitted(R"(
  x = f32[4096,1024] parameter(0)
  y = f32[4096,1024] parameter(1)
  z = f32[] constant(0)
  p = f32[4096,1024] multiply(x, y)
  ROOT s = f32[4096] reduce(p, z), dimensions={1}, to_apply=add)")
                               .source;
  EXPECT_EQ(Count(text, " = fmaf("), 1) << text;
}

TEST(RowPassesTest, MaximaAndStoresOfBf16TakePairs) {
  auto text = [](int64_t columns) {
    const std::string all = absl::StrCat("[4096,", columns, "]");
    return Emitted(absl::StrCat(
                       "\n  x = bf16", all, " parameter(0)\n  f = f32", all,
                       " convert(x)\n  low = f32[] constant(-inf)\n"
                       "  m = f32[4096] reduce(f, low), dimensions={1}, "
                       "to_apply=max\n  mb = f32",
                       all, " broadcast(m), dimensions={0}\n  d = f32", all,
                       " subtract(f, mb)\n  ROOT o = bf16", all, " convert(d)"))
        .source;
  };
  EXPECT_EQ(Count(text(4096), "= rdg_max_bf16x2("), 1) << text(4096);
  EXPECT_EQ(Count(text(4096), ", rdg_pack_bf16("), 1) << text(4096);
  // One element at a time.
  EXPECT_EQ(Count(text(1027), "rdg_max_bf16x2("), 0) << text(1027);
  EXPECT_EQ(Count(text(1027), "rdg_pack_bf16("), 0) << text(1027);
}

TEST(RowPassesTest, ElementsThatAreAllAlikeAreFolded) {
  const std::string text = Emitted(R"(
  x = f32[] parameter(0)
  xb = f32[128,4096] broadcast(x), dimensions={}
  z = f32[] constant(0)
  ROOT s = f32[128] reduce(xb, z), dimensions={1}, to_apply=add)")
                               .source;
  EXPECT_EQ(Count(text, "[j] + n1);"), 1) << text;
}

TEST(RowPassesTest, AnIndexIsComparedByItsUnrolledPart) {
  const std::string text = Emitted(R"(
  x = f32[4096,4096] parameter(0)
  y = s32[4096] parameter(1)
  i = s32[4096,4096] iota(), iota_dimension=1
  yb = s32[4096,4096] broadcast(y), dimensions={0}
  h = pred[4096,4096] compare(i, yb), direction=EQ
  z = f32[] constant(0)
  s = f32[4096] reduce(x, z), dimensions={1}, to_apply=add
  sb = f32[4096,4096] broadcast(s), dimensions={0}
  ROOT v = f32[4096,4096] select(h, x, sb))")
                               .source;
  EXPECT_EQ(Count(text, " - (uint32_t)(x * 4) == (uint32_t)(q * 1024 + j))"), 1)
      << text;
}

// Where a pass can compute again what an earlier one had.
TEST(RowPassesTest, ARingOfOneStageIsFilledAsItIsRead) {
  const EmittedKernel emitted = Emitted(R"(
  x = bf16[4096,131072] parameter(0)
  f = f32[4096,131072] convert(x)
  e = f32[4096,131072] exponential(f)
  z = f32[] constant(0)
  s = f32[4096] reduce(e, z), dimensions={1}, to_apply=add
  sb = f32[4096,131072] broadcast(s), dimensions={0}
  d = f32[4096,131072] divide(e, sb)
  ROOT o = bf16[4096,131072] convert(d))");
  ASSERT_EQ(emitted.launches.size(), 1u);
  const Launch& launch = emitted.launches[0];
  EXPECT_TRUE(launch.resident);
  EXPECT_GT(emitted.choice.parameters.at("resident"), 1);
  EXPECT_EQ(emitted.choice.parameters.at("stages"), 1);
  EXPECT_EQ(launch.shared_bytes, 131072 * 2 / launch.cluster);
  // The first turn's copy, and the next one's in the last pass.
  const size_t last = emitted.source.find("// Pass 1");
  ASSERT_NE(last, std::string::npos);
  EXPECT_EQ(Count(emitted.source, "rdg_copy_async(h"), 2) << emitted.source;
  EXPECT_EQ(Count(emitted.source.substr(last), "rdg_copy_async(h"), 1)
      << emitted.source;
}

}  // namespace
}  // namespace ridge::cuda
