// Maximum and sum of exponentials in one fold: the same results as in two, for
// infinities and NaN too.
#include "backends/kernel/schedules/online.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel/interpreter.h"
#include "backends/kernel/schedules/row_reduce.h"
#include "backends/kernel/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ridge {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

Kernel Built(const std::string& body) {
  auto kernel = BuildEntry(body, GroupPattern::kRowReduce);
  EXPECT_EQ(kernel.status(), absl::OkStatus());
  return kernel.ok() ? *kernel : Kernel();
}

// b is `reference` of the maximum m.
std::string SumOfExponentials(int64_t rows, int64_t columns,
                              const std::string& reference) {
  const std::string row = absl::StrCat("f32[", rows, "]");
  const std::string all = absl::StrCat("f32[", rows, ",", columns, "]");
  return absl::StrCat(
      "x = ", all, " parameter(0)\n", "low = f32[] constant(-inf)\n",
      "zero = f32[] constant(0)\n", "m = ", row,
      " reduce(x, low), dimensions={1}, to_apply=max\n", reference,
      "bb = ", all, " broadcast(b), dimensions={0}\n", "d = ", all,
      " subtract(x, bb)\n", "e = ", all, " exponential(d)\n", "s = ", row,
      " reduce(e, zero), dimensions={1}, to_apply=add\n");
}
std::string Plain(int64_t rows, int64_t columns) {
  return SumOfExponentials(rows, columns,
                           absl::StrCat("b = f32[", rows, "] copy(m)\n"));
}

void ExpectSame(const Kernel& kernel, const Literal& x) {
  std::optional<Kernel> online = Online(kernel);
  ASSERT_TRUE(online.has_value());
  ASSERT_EQ(ValidateKernel(*online), absl::OkStatus());
  auto expected = InterpretKernel(kernel, {x});
  auto got = InterpretKernel(*online, {x});
  ASSERT_EQ(expected.status(), absl::OkStatus());
  ASSERT_EQ(got.status(), absl::OkStatus());
  ASSERT_EQ(got->size(), expected->size());
  for (size_t k = 0; k < got->size(); ++k) {
    const auto a = (*expected)[k].data<float>();
    const auto b = (*got)[k].data<float>();
    for (size_t n = 0; n < a.size(); ++n) {
      if (std::isnan(a[n]) || std::isinf(a[n])) {
        EXPECT_EQ(std::isnan(a[n]), std::isnan(b[n])) << n;
        EXPECT_EQ(std::isinf(a[n]), std::isinf(b[n])) << n;
      } else {
        EXPECT_NEAR(b[n], a[n], 1e-5f * std::fabs(a[n]) + 1e-30f) << n;
      }
    }
  }
}

Literal Rows(std::vector<std::vector<float>> rows) {
  const auto columns = static_cast<int64_t>(rows[0].size());
  Literal x = Literal::Zeros(Shape::Array(
      ElementType::kF32, {static_cast<int64_t>(rows.size()), columns}));
  size_t n = 0;
  for (const auto& row : rows) {
    for (float v : row) x.mutable_data<float>()[n++] = v;
  }
  return x;
}

const std::vector<std::vector<float>>& Hostile() {
  static const auto& rows =
      *new std::vector<std::vector<float>>{{1, 2, 3, -4, 5},
                                           {-kInf, -kInf, -kInf, -kInf, -kInf},
                                           {-kInf, 3, -kInf, 3, 2},
                                           {kInf, 1, 2, 3, 4},
                                           {1, 2, kInf, -kInf, kInf},
                                           {1, kNan, 2, 3, 4},
                                           {-kInf, -kInf, -kInf, kNan, -kInf},
                                           {-3e38f, 3e38f, 0, 1, 2},
                                           {88, 89, 90, -90, -100},
                                           {0, -0.0f, 0, -0.0f, 0}};
  return rows;
}

TEST(OnlineTest, InfinitiesAndNanAsInTwoReadings) {
  ExpectSame(Built(absl::StrCat(Plain(10, 5), "ROOT l = f32[10] log(s)\n")),
             Rows(Hostile()));
}

TEST(OnlineTest, ReferenceThatIsFiniteWhereTheMaximumIsNot) {
  // As JAX's logsumexp: a maximum that is not finite is no reference.
  ExpectSame(
      Built(absl::StrCat(
          SumOfExponentials(10, 5,
                            "f = pred[10] is-finite(m)\n"
                            "z = f32[10] broadcast(zero), dimensions={}\n"
                            "b = f32[10] select(f, m, z)\n"),
          "l = f32[10] log(s)\nROOT r = f32[10] add(l, b)\n")),
      Rows(Hostile()));
}

TEST(OnlineTest, ExponentialsThatAreNeededAgain) {
  ExpectSame(Built(absl::StrCat(Plain(10, 5),
                                "sb = f32[10,5] broadcast(s), dimensions={0}\n",
                                "ROOT r = f32[10,5] divide(e, sb)\n")),
             Rows(Hostile()));
}

TEST(OnlineTest, OthersKeepTheirReadings) {
  // Starts from no neutral element.
  EXPECT_FALSE(Online(Built(R"(x = f32[8,64] parameter(0)
  low = f32[] constant(0)
  m = f32[8] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[8,64] broadcast(m), dimensions={0}
  d = f32[8,64] subtract(x, mb)
  e = f32[8,64] exponential(d)
  ROOT s = f32[8] reduce(e, low), dimensions={1}, to_apply=add
)"))
                   .has_value());
  // A maximum of something else.
  EXPECT_FALSE(Online(Built(R"(x = f32[8,64] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  a = f32[8,64] abs(x)
  m = f32[8] reduce(a, low), dimensions={1}, to_apply=max
  mb = f32[8,64] broadcast(m), dimensions={0}
  d = f32[8,64] subtract(x, mb)
  e = f32[8,64] exponential(d)
  ROOT s = f32[8] reduce(e, zero), dimensions={1}, to_apply=add
)"))
                   .has_value());
}

TEST(OnlineTest, ManyRowsThatNeedOneReadingTakeIt) {
  const Kernel loss =
      Built(absl::StrCat(Plain(4096, 131072), "ROOT l = f32[4096] log(s)\n"));
  RowGeometry g = RowGeometryOf(loss, {}, DeviceLimits());
  EXPECT_TRUE(g.online);
  EXPECT_EQ(g.cluster, 1);
  EXPECT_FALSE(g.cached);
  EXPECT_EQ(ChoiceOf(g).parameters.at("online"), 1);
  // A softmax needs the row once more in any case.
  const Kernel softmax =
      Built(absl::StrCat(Plain(4096, 131072),
                         "sb = f32[4096,131072] broadcast(s), dimensions={0}\n",
                         "ROOT r = f32[4096,131072] divide(e, sb)\n"));
  EXPECT_FALSE(RowGeometryOf(softmax, {}, DeviceLimits()).online);
  EXPECT_TRUE(
      RowGeometryOf(softmax, {"row_reduce", {{"online", 1}}}, DeviceLimits())
          .online);
}

}  // namespace
}  // namespace ridge
