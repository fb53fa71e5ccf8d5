// One-pass variances: where they are taken, and that they are no less exact.
#include "hlo/passes/moments.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

// sum((x - mean)^2) of x: f32[dims] over `reduced`; `kept` is what is left, the
// dimensions `at`.
std::string Variance(const std::string& dims, const std::string& reduced,
                     const std::string& kept, const std::string& at,
                     int64_t n) {
  return absl::StrCat(
      "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      "  ROOT s = f32[] add(a, b) }\nENTRY e {\n  x = f32[",
      dims, "] parameter(0)\n  z = f32[] constant(0)\n  s = f32[", kept,
      "] reduce(x, z), dimensions={", reduced,
      "}, to_apply=add\n  n = f32[] constant(", n, ")\n  nb = f32[", kept,
      "] broadcast(n), dimensions={}\n  m = f32[", kept,
      "] divide(s, nb)\n  mb = f32[", dims, "] broadcast(m), dimensions={", at,
      "}\n  d = f32[", dims, "] subtract(x, mb)\n  q = f32[", dims,
      "] multiply(d, d)\n  ROOT v = f32[", kept, "] reduce(q, z), dimensions={",
      reduced, "}, to_apply=add\n}\n");
}

std::unique_ptr<Module> Parsed(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_EQ(module.status(), absl::OkStatus());
  return module.ok() ? *std::move(module) : nullptr;
}

bool Merges(const std::string& text) {
  std::unique_ptr<Module> module = Parsed(text);
  absl::StatusOr<bool> changed = MergeMoments(module.get(), PassOptions());
  EXPECT_EQ(changed.status(), absl::OkStatus());
  EXPECT_EQ(VerifyStatus(*module), absl::OkStatus());
  return changed.ok() && *changed;
}

TEST(MomentsTest, OfColumnsAndGroupsTakeOnePass) {
  EXPECT_TRUE(Merges(Variance("8192,33", "0", "33", "1", 8192)));
  // Groups of more elements than stay, and of pieces that are no sectors.
  EXPECT_TRUE(Merges(Variance("2,4096,8,32", "1,3", "2,8", "0,2", 131072)));
  EXPECT_TRUE(Merges(Variance("4,4096,8,5", "1,3", "4,8", "0,2", 20480)));
}

TEST(MomentsTest, OfRowsThatStayAndOfSmallValuesTakeTwo) {
  EXPECT_FALSE(Merges(Variance("8192,33", "1", "8192", "0", 33)));
  EXPECT_FALSE(Merges(Variance("4,512,8,32", "1,3", "4,8", "0,2", 16384)));
  EXPECT_FALSE(Merges(Variance("64,33", "0", "33", "1", 64)));
}

TEST(MomentsTest, AnotherCentreIsNoMean) {
  EXPECT_FALSE(Merges(Variance("8192,33", "0", "33", "1", 8191)));
}

// Column sums of squares before and after, for given columns of 131072 rows.
std::vector<float> After(const std::vector<std::vector<float>>& columns,
                         bool merged) {
  const int64_t rows = columns[0].size(), width = columns.size();
  std::unique_ptr<Module> module = Parsed(Variance(
      absl::StrCat(rows, ",", width), "0", absl::StrCat(width), "1", rows));
  if (merged) {
    auto changed = MergeMoments(module.get(), PassOptions());
    EXPECT_TRUE(changed.ok() && *changed);
  }
  Literal x = Literal::Zeros(module->entry()->parameter(0)->shape());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < width; ++c) {
      x.mutable_data<float>()[r * width + c] = columns[c][r];
    }
  }
  auto result = Evaluate(*module, {std::move(x)});
  EXPECT_EQ(result.status(), absl::OkStatus());
  std::vector<float> v(width);
  for (int64_t c = 0; c < width; ++c) v[c] = result->data<float>()[c];
  return v;
}

// Within the bound of a float32 sum of so many elements; the textbook formula
// of sums of squares would be wrong by all digits.
TEST(MomentsTest, FarFromZeroAndBesideAnOutlierTheyKeepTheirDigits) {
  constexpr int kRows = 131072;
  std::vector<float> far(kRows), outlier(kRows);
  double exact_far = 0, mean_outlier = 0, exact_outlier = 0;
  for (int i = 0; i < kRows; ++i) {
    far[i] = 10000 + (i % 2 == 0 ? 1.f : -1.f);
    exact_far += 1;
    outlier[i] = i == 0 ? 1e6f : (i % 2 == 0 ? 1.f : -1.f);
    mean_outlier += outlier[i];
  }
  mean_outlier /= kRows;
  for (float o : outlier) {
    exact_outlier += (o - mean_outlier) * (o - mean_outlier);
  }
  const std::vector<float> v = After({far, outlier}, true);
  constexpr double kBound = kRows * 6e-8;
  EXPECT_NEAR(v[0] / exact_far, 1, kBound);
  EXPECT_NEAR(v[1] / exact_outlier, 1, kBound);
}

TEST(MomentsTest, InfinityAndNanGiveNanAsBefore) {
  constexpr int kRows = 131072;
  std::vector<std::vector<float>> columns;
  for (int at : {0, 77, kRows - 1}) {
    for (float bad : {std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> c(kRows, 0.5f);
      c[at] = bad;
      columns.push_back(c);
    }
  }
  for (bool merged : {false, true}) {
    for (float v : After(columns, merged)) {
      EXPECT_TRUE(std::isnan(v)) << merged;
    }
  }
}

}  // namespace
}  // namespace ridge
