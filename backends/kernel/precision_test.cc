// Which values may be computed loosely, by small kernels.
#include "backends/kernel/precision.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/kernel/schedules/row_again.h"
#include "backends/kernel/schedules/scaled_sum.h"
#include "backends/kernel/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

Kernel Built(const std::string& body) {
  auto kernel =
      BuildEntry("  z = f32[] constant(0)\n" + body, GroupPattern::kRowReduce);
  EXPECT_EQ(kernel.status(), absl::OkStatus());
  return kernel.ok() ? *kernel : Kernel();
}

NodeId Of(const Kernel& kernel, Opcode opcode) {
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    if (kernel.nodes[n].kind == NodeKind::kOp &&
        kernel.nodes[n].opcode == opcode) {
      return n;
    }
  }
  ADD_FAILURE() << ToString(kernel);
  return 0;
}
NodeId Sum(const Kernel& kernel, absl::string_view name) {
  for (NodeId n = 0; n < static_cast<NodeId>(kernel.nodes.size()); ++n) {
    if (kernel.nodes[n].kind == NodeKind::kReduce &&
        kernel.nodes[n].origin->name() == name) {
      return n;
    }
  }
  ADD_FAILURE() << ToString(kernel);
  return 0;
}

std::string Softmax(int64_t columns, const std::string& last) {
  const std::string all = absl::StrCat("f32[8,", columns, "]");
  return absl::StrCat("x = ", all, " parameter(0)\ne = ", all,
                      " exponential(x)\n"
                      "s = f32[8] reduce(e, z), dimensions={1}, to_apply=add\n"
                      "sb = ",
                      all, " broadcast(s), dimensions={0}\n", "ROOT o = ", all,
                      " ", last);
}

TEST(PrecisionTest, ADriftingFactorHidesTheOther) {
  const Kernel shares = Built(Softmax(2048, "divide(e, sb)"));
  EXPECT_TRUE(PrecisionOf(shares).loose[Of(shares, Opcode::kExp)]);
  // Short sums do not drift; differences show what a term lacks.
  const Kernel few = Built(Softmax(64, "divide(e, sb)"));
  EXPECT_FALSE(PrecisionOf(few).loose[Of(few, Opcode::kExp)]);
  const Kernel rest = Built(Softmax(2048, "subtract(e, sb)"));
  EXPECT_FALSE(PrecisionOf(rest).loose[Of(rest, Opcode::kExp)]);
}

TEST(PrecisionTest, LooseExponentialsAreCheapAgain) {
  const Kernel loose = Built(Softmax(2048, "divide(e, sb)"));
  const Kernel exact = Built(Softmax(2048, "subtract(e, sb)"));
  EXPECT_EQ(InstructionsAgain(loose), 2);
  EXPECT_EQ(InstructionsAgain(exact), 10);
}

TEST(ScaledSumTest, FactorsOfTheRowComeOff) {
  const Kernel kernel = Built(R"(
  x = f32[8,64] parameter(0)
  y = f32[8,64] parameter(1)
  s = f32[8] reduce(x, z), dimensions={1}, to_apply=add
  sb = f32[8,64] broadcast(s), dimensions={0}
  two = f32[] constant(2)
  tb = f32[8,64] broadcast(two), dimensions={}
  p = f32[8,64] multiply(y, tb)
  q = f32[8,64] negate(p)
  r = f32[8,64] multiply(sb, q)
  t = f32[8] reduce(r, z), dimensions={1}, to_apply=add
  xy = f32[8,64] multiply(x, y)
  u = f32[8] reduce(xy, z), dimensions={1}, to_apply=add
  ROOT o = (f32[8], f32[8]) tuple(t, u))");
  const std::optional<ScaledSum> t = ScaledSumOf(kernel, Sum(kernel, "t"));
  ASSERT_TRUE(t.has_value());
  EXPECT_EQ(kernel.nodes[t->term].kind, NodeKind::kLoad);
  EXPECT_EQ(t->factors.size(), 2u);
  EXPECT_TRUE(t->negative);
  EXPECT_FALSE(ScaledSumOf(kernel, Sum(kernel, "s")).has_value());
  EXPECT_FALSE(ScaledSumOf(kernel, Sum(kernel, "u")).has_value());
  EXPECT_TRUE(ProductTermOf(kernel, Sum(kernel, "u")).has_value());
  EXPECT_FALSE(ProductTermOf(kernel, Sum(kernel, "s")).has_value());
}

}  // namespace
}  // namespace ridge
