// Concatenations of pieces of one size: HLO in; what the kernel loads and
// stores, and that it answers as the evaluator does.
#include "backends/kernel/pieces.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/kernel/testing.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

std::string Entry(const std::string& body) {
  return "HloModule m\nENTRY e {\n" + body + "}\n";
}

struct Counts {
  int64_t points = 0;  // of the space
  int64_t loads = 0;
  int64_t stores = 0;
};

// Also checks the answer.
Counts CountsOf(const std::string& body) {
  Kernel kernel;
  EXPECT_EQ(CheckKernel(Entry(body), GroupPattern::kLoop, &kernel),
            absl::OkStatus());
  Counts counts;
  counts.points = PointCount(kernel, SpaceMask(kernel));
  counts.loads =
      std::count_if(kernel.nodes.begin(), kernel.nodes.end(),
                    [](const Node& n) { return n.kind == NodeKind::kLoad; });
  counts.stores = kernel.stores.size();
  EXPECT_EQ(HasPieces(kernel), counts.stores > 1);
  return counts;
}

// Rotary embedding of f32[3,5,2h], with a table of h.
std::string Rotary(int64_t half, const std::string& layout = "{2,1,0}") {
  return absl::Substitute(R"(
  x = f32[3,5,$1]$2 parameter(0)
  c = f32[5,$0] parameter(1)
  s = f32[5,$0] parameter(2)
  x1 = f32[3,5,$0] slice(x), slice={[0:3], [0:5], [0:$0]}
  x2 = f32[3,5,$0] slice(x), slice={[0:3], [0:5], [$0:$1]}
  cb = f32[3,5,$0] broadcast(c), dimensions={1,2}
  sb = f32[3,5,$0] broadcast(s), dimensions={1,2}
  a = f32[3,5,$0] multiply(x1, cb)
  b = f32[3,5,$0] multiply(x2, sb)
  d = f32[3,5,$0] multiply(x2, cb)
  e = f32[3,5,$0] multiply(x1, sb)
  p = f32[3,5,$0] subtract(a, b)
  q = f32[3,5,$0] add(d, e)
  ROOT o = f32[3,5,$1]$2 concatenate(p, q), dimensions={2}
)",
                          half, 2 * half, layout);
}

TEST(PiecesTest, HalvesThatShareTheirReadsAreMadeTogether) {
  const Counts counts = CountsOf(Rotary(32));
  EXPECT_EQ(counts.points, 3 * 5 * 32);
  EXPECT_EQ(counts.loads, 4);
  EXPECT_EQ(counts.stores, 2);
}

TEST(PiecesTest, ElementwiseWorkAfterTheConcatenationGoesToEachPiece) {
  const Counts counts = CountsOf(R"(
  x = f32[7,64] parameter(0)
  w = f32[64] parameter(1)
  a = f32[7,32] slice(x), slice={[0:7], [0:32]}
  b = f32[7,32] slice(x), slice={[0:7], [32:64]}
  n = f32[7,32] negate(b)
  r = f32[7,64] concatenate(n, a), dimensions={1}
  wb = f32[7,64] broadcast(w), dimensions={1}
  m = f32[7,64] multiply(r, wb)
  ROOT o = f32[7,64] add(x, m))");
  EXPECT_EQ(counts.points, 7 * 32);
  // Halves of x and of w, where each half alone reads three.
  EXPECT_EQ(counts.loads, 4);
  EXPECT_EQ(counts.stores, 2);
}

// Pieces of one row: the variable that counts them goes.
TEST(PiecesTest, StackOfArraysBecomesOneSpace) {
  const Counts counts = CountsOf(R"(
  x = f32[8,16] parameter(0)
  y = f32[8,16] parameter(1)
  s = f32[8,16] add(x, y)
  d = f32[8,16] subtract(x, y)
  sr = f32[1,8,16] reshape(s)
  dr = f32[1,8,16] reshape(d)
  ROOT o = f32[2,8,16] concatenate(sr, dr), dimensions={0})");
  EXPECT_EQ(counts.points, 8 * 16);
  EXPECT_EQ(counts.loads, 2);
  EXPECT_EQ(counts.stores, 2);
}

TEST(PiecesTest, FourPieces) {
  const Counts counts = CountsOf(R"(
  x = f32[6,16] parameter(0)
  a = f32[6,16] negate(x)
  b = f32[6,16] multiply(x, x)
  c = f32[6,16] abs(x)
  ROOT o = f32[6,64] concatenate(x, a, b, c), dimensions={1})");
  EXPECT_EQ(counts.points, 6 * 16);
  EXPECT_EQ(counts.loads, 1);
  EXPECT_EQ(counts.stores, 4);
}

// The pieces repeat within the variable that a reshape made.
TEST(PiecesTest, PiecesUnderAReshape) {
  const Counts counts = CountsOf(R"(
  x = f32[5,3,32] parameter(0)
  w = f32[96] parameter(1)
  a = f32[5,3,16] slice(x), slice={[0:5], [0:3], [0:16]}
  b = f32[5,3,16] slice(x), slice={[0:5], [0:3], [16:32]}
  s = f32[5,3,16] subtract(a, b)
  p = f32[5,3,16] add(a, b)
  c = f32[5,3,32] concatenate(s, p), dimensions={2}
  r = f32[5,96] reshape(c)
  wb = f32[5,96] broadcast(w), dimensions={1}
  ROOT o = f32[5,96] multiply(r, wb))");
  EXPECT_EQ(counts.points, 5 * 3 * 16);
  EXPECT_EQ(counts.loads, 4);
  EXPECT_EQ(counts.stores, 2);
}

TEST(PiecesTest, SeveralOutputsAndGatheredRows) {
  const Counts counts = CountsOf(R"(
  x = f32[9,32] parameter(0)
  i = s32[6] parameter(1)
  j = s32[6,1] reshape(i)
  g = f32[6,32] gather(x, j), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}
  a = f32[6,16] slice(g), slice={[0:6], [0:16]}
  b = f32[6,16] slice(g), slice={[0:6], [16:32]}
  s = f32[6,16] add(a, b)
  d = f32[6,16] subtract(a, b)
  c = f32[6,32] concatenate(s, d), dimensions={1}
  n = f32[6,32] negate(c)
  ROOT o = (f32[6,32], f32[6,32]) tuple(c, n))");
  EXPECT_EQ(counts.points, 6 * 16);
  EXPECT_EQ(counts.loads, 3);
  EXPECT_EQ(counts.stores, 4);
}

TEST(PiecesTest, OtherLayoutsAreInPhysicalOrder) {
  // The pieces lie along the slowest variable, runs of fifteen elements.
  EXPECT_EQ(CountsOf(Rotary(32, "{1,0,2}")).stores, 2);
  EXPECT_EQ(CountsOf(Rotary(32, "{1,2,0}")).stores, 2);
}

TEST(PiecesTest, PiecesOffWholeVectorsStayApart) {
  for (int64_t half : {1, 3, 8, 31, 33, 127}) {
    const Counts counts = CountsOf(Rotary(half));
    EXPECT_EQ(counts.stores, 1) << half;
    EXPECT_EQ(counts.points, 3 * 5 * 2 * half) << half;
  }
}

// Their common measure counts, if there are few of it.
TEST(PiecesTest, PiecesOfDifferentSizesAreCutToOneSize) {
  auto stores = [](int64_t large) {
    return CountsOf(absl::Substitute(R"(
  x = f32[4,$0] parameter(0)
  a = f32[4,16] slice(x), slice={[0:4], [0:16]}
  b = f32[4,16] negate(a)
  ROOT o = f32[4,$1] concatenate(b, x), dimensions={1})",
                                     large, large + 16))
        .stores;
  };
  EXPECT_EQ(stores(32), 3);
  EXPECT_EQ(stores(40), 1);
  EXPECT_EQ(stores(80), 1);
}

TEST(PiecesTest, PiecesThatShareNothingStayApart) {
  EXPECT_EQ(CountsOf(R"(
  x = f32[4,32] parameter(0)
  y = f32[4,32] parameter(1)
  ROOT o = f32[4,64] concatenate(x, y), dimensions={1})")
                .stores,
            1);
}

TEST(PiecesTest, WhatIsBoundInsideAPieceIsStillAsked) {
  // Half of the second piece is padding.
  const Counts counts = CountsOf(R"(
  x = f32[4,32] parameter(0)
  z = f32[] constant(7)
  a = f32[4,16] slice(x), slice={[0:4], [0:16]}
  p = f32[4,32] pad(a, z), padding=0_0x0_16
  s = f32[4,32] add(x, p)
  d = f32[4,32] subtract(x, p)
  ROOT o = f32[4,64] concatenate(s, d), dimensions={1})");
  EXPECT_GE(counts.loads, 2);
}

TEST(PiecesTest, NoElements) {
  EXPECT_EQ(CountsOf(R"(
  x = f32[0,32] parameter(0)
  n = f32[0,32] negate(x)
  ROOT o = f32[0,64] concatenate(x, n), dimensions={1})")
                .stores,
            0);
}

}  // namespace
}  // namespace ridge
