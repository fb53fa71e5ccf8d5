#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/toolchain.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using OneArgument = void (*)(const float*, float*, int64_t);
using TwoArguments = void (*)(const float*, const float*, float*, int64_t);

struct Function {
  const char* name;
  double (*truth)(double);
  double bound;  // units in the last place, of either form
};

// Subnormal results become 0.
double LooseExp(double x) {
  const double y = std::exp(x);
  return y < 0x1p-126 ? 0 : y;
}

constexpr Function kFunctions[] = {
    {"exp", std::exp, 1.1},   {"expm1", std::expm1, 1.6},
    {"log", std::log, 1.1},   {"log1p", std::log1p, 1.8},
    {"tanh", std::tanh, 2.6}, {"erf", std::erf, 1.4},
    {"sin", std::sin, 1.7},   {"cos", std::cos, 1.7},
    {"round", std::round, 0}, {"loose_exp", LooseExp, 4.0},
};

std::string LoopsText() {
  std::string text = HostMath();
  for (const Function& f : kFunctions) {
    absl::StrAppend(&text, "extern \"C\" void loop_", f.name,
                    "(const float* x, float* y, int64_t n) {\n"
                    "  for (int64_t k = 0; k < n; ++k) y[k] = ",
                    absl::string_view(f.name) == "loose_exp"
                        ? "RDG_LOOSE_EXP"
                        : absl::StrCat(f.name, "f"),
                    "(x[k]);\n}\n");
  }
  return absl::StrCat(
      text,
      "extern \"C\" void loop_pow(const float* x, const float* y, float* z, "
      "int64_t n) {\n  for (int64_t k = 0; k < n; ++k) z[k] = "
      "powf(x[k], y[k]);\n}\n");
}

float FloatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

// How far `got` is from `want`, in units in the last place of a float there.
// Results that are wrong in kind (NaN, infinity, the sign of zero) are
// infinitely far; one side may round to infinity where the other does not.
double Distance(float got, double want) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (std::isnan(want) || std::isnan(got)) {
    return std::isnan(want) == std::isnan(got) ? 0 : kFar;
  }
  if (std::signbit(got) != std::signbit(want)) return kFar;
  constexpr double kOver = 0x1p128;
  if (std::isinf(want)) return std::isinf(got) ? 0 : kFar;
  if (want == 0) return got == 0 ? 0 : kFar;
  int exponent;
  std::frexp(want, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
  if (std::fabs(want) >= kOver) return std::isinf(got) ? 0 : kFar;
  const double value =
      std::isinf(got) ? std::copysign(kOver, got) : static_cast<double>(got);
  return std::fabs(value - want) / unit;
}

TEST(HostMathTest, DistanceTellsKindsApart) {
  EXPECT_EQ(Distance(1.0f, 1.0), 0);
  EXPECT_NEAR(Distance(1.0f, 1.0 + 0x1p-23), 1, 1e-6);
  EXPECT_TRUE(std::isinf(Distance(0.0f, -0.0)));
  EXPECT_TRUE(std::isinf(Distance(1.0f, std::nan(""))));
  EXPECT_TRUE(std::isinf(Distance(3e38f, INFINITY)));
}

// With fused multiply-add where the processor has it, and without.
class HostMathAccuracyTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    absl::StatusOr<Toolchain> toolchain = FindToolchain();
    if (!toolchain.ok()) GTEST_SKIP() << toolchain.status();
    ToolchainOptions options;
    options.fma_contraction = GetParam();
    const std::string text =
        absl::StrCat(GetParam() ? "" : "#undef __FMA__\n", LoopsText());
    RIDGE_ASSERT_OK_AND_ASSIGN(library_,
                               CompileAndLoad(*toolchain, text, options));
  }
  template <typename F>
  F Loop(const char* name) {
    absl::StatusOr<void*> symbol =
        library_->Symbol(absl::StrCat("loop_", name));
    EXPECT_TRUE(symbol.ok()) << symbol.status();
    return reinterpret_cast<F>(*symbol);
  }

  std::unique_ptr<LoadedLibrary> library_;
};

TEST_P(HostMathAccuracyTest, OneArgument) {
  // Every 509th float, and the neighbours of what is special.
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 509) {
    x.push_back(FloatOf(static_cast<uint32_t>(bits)));
  }
  for (float special : {0.0f,
                        1.0f,
                        0.5f,
                        2.0f,
                        88.72284f,
                        103.97208f,
                        87.33655f,
                        17.3f,
                        9.01f,
                        0.9f,
                        3.95f,
                        0x1p-126f,
                        0x1p-149f,
                        0x1p-26f,
                        0x1p-13f,
                        0x1p23f,
                        2.5f,
                        0x1p24f,
                        1.5707964f,
                        3.1415927f,
                        0x1.fffffep127f,
                        std::numeric_limits<float>::infinity(),
                        std::nanf("")}) {
    uint32_t bits;
    std::memcpy(&bits, &special, sizeof(bits));
    for (int32_t d = -300; d <= 300; ++d) {
      x.push_back(FloatOf(bits + d));
      x.push_back(-FloatOf(bits + d));
    }
  }
  std::vector<float> y(x.size());
  for (const Function& f : kFunctions) {
    Loop<OneArgument>(f.name)(x.data(), y.data(),
                              static_cast<int64_t>(x.size()));
    double most = 0;
    size_t at = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const double distance = Distance(y[k], f.truth(x[k]));
      if (distance > most) {
        most = distance;
        at = k;
      }
    }
    EXPECT_LE(most, f.bound) << f.name << "(" << x[at] << ") = " << y[at]
                             << ", is " << f.truth(x[at]);
  }
}

TEST_P(HostMathAccuracyTest, Power) {
  std::vector<float> x;
  std::vector<float> y;
  const float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {
      0.0f,    1.0f,     2.0f,        0.5f,       3.0f,
      0x1p24f, 0x1p23f,  8388607.5f,  1e-40f,     1e30f,
      1e-30f,  -0.0f,    -1.0f,       -2.0f,      -0.5f,
      -3.0f,   -1e-40f,  0.99999994f, 1.0000001f, -0.99999994f,
      -1e30f,  -0x1p24f, kInfinity,   -kInfinity, std::nanf("")};
  for (float a : special) {
    for (float b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  uint64_t state = 1;
  auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 32);
  };
  for (int k = 0; k < 4'000'000; ++k) {
    // Any base; near 1 for a half. Exponents so that most results are finite.
    float a = FloatOf(next());
    if (k % 2 == 0) a = 1 + static_cast<int32_t>(next()) * 0x1p-33f;
    const double size = std::fabs(std::log2(std::fabs(a)));
    float b = static_cast<float>(static_cast<int32_t>(next()) * 0x1p-31 * 150 /
                                 (size > 0 ? size : 1));
    if (k % 3 == 0) b = std::rint(b);
    x.push_back(a);
    y.push_back(b);
  }
  std::vector<float> z(x.size());
  Loop<TwoArguments>("pow")(x.data(), y.data(), z.data(),
                            static_cast<int64_t>(x.size()));
  double most = 0;
  size_t at = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    const double distance = Distance(
        z[k], std::pow(static_cast<double>(x[k]), static_cast<double>(y[k])));
    if (distance > most) {
      most = distance;
      at = k;
    }
  }
  EXPECT_LE(most, 0.51) << "pow(" << x[at] << ", " << y[at] << ") = " << z[at];
}

INSTANTIATE_TEST_SUITE_P(Forms, HostMathAccuracyTest, ::testing::Bool());

}  // namespace
}  // namespace ridge
