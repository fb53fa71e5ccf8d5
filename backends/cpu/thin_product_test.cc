#include "backends/cpu/thin_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ridge {
namespace {

struct Size {
  int64_t m, n, k;
};

// Numbers of 8 bits, exact as bf16.
std::vector<float> Numbers(int64_t count, uint32_t state) {
  std::vector<float> numbers(count);
  for (float& x : numbers) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(state) >> 24) / 16;
  }
  return numbers;
}

template <typename B>
std::vector<B> As(const std::vector<float>& numbers) {
  std::vector<B> out;
  for (float x : numbers) {
    if constexpr (sizeof(B) == 2) {
      uint32_t bits;
      std::memcpy(&bits, &x, sizeof(bits));
      out.push_back(static_cast<uint16_t>(bits >> 16));
    } else {
      out.push_back(x);
    }
  }
  return out;
}

template <typename B>
void Check(const Size& s, bool transposed) {
  ThinProduct<B> g;
  g.m = s.m;
  g.n = s.n;
  g.k = s.k;
  g.transpose_b = transposed;
  g.ldb = (transposed ? s.k : s.n) + 3;
  const std::vector<float> a = Numbers(s.m * s.k, 1);
  const std::vector<float> b = Numbers(g.ldb * (transposed ? s.n : s.k), 2);
  const std::vector<B> typed = As<B>(b);
  std::vector<float> d(s.m * s.n + 1, 77.0f);
  g.a = a.data();
  g.b = typed.data();
  g.d = d.data();
  MultiplyThin(g);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      double size = 0;
      for (int64_t p = 0; p < s.k; ++p) {
        const double term = double{a[i * s.k + p]} *
                            b[transposed ? j * g.ldb + p : p * g.ldb + j];
        sum += term;
        size += std::fabs(term);
      }
      // 256 terms, then as many sums: far below k roundings.
      ASSERT_NEAR(d[i * s.n + j], sum, 64 * 0x1p-24 * size)
          << s.m << "x" << s.n << "x" << s.k << (transposed ? " t" : "")
          << " at " << i << "," << j;
    }
  }
  EXPECT_EQ(d.back(), 77.0f) << "beyond the result";
}

TEST(ThinProductTest, EqualsTheSumsOfProducts) {
  for (const Size& s : {Size{1, 1, 1}, Size{1, 70, 5}, Size{3, 33, 300},
                        Size{8, 512, 67}, Size{2, 5, 0}, Size{1, 130, 4100}}) {
    for (bool transposed : {false, true}) {
      Check<float>(s, transposed);
      Check<uint16_t>(s, transposed);
    }
  }
}

TEST(ThinProductTest, BlocksFit) {
  for (int64_t m = 1; m <= kThinRows; ++m) {
    for (int64_t n : {1, 63, 4096, 100000}) {
      const int64_t columns = ThinColumns(m, n);
      EXPECT_GE(columns, 1);
      EXPECT_LE(m * columns, 4096);
    }
  }
}

}  // namespace
}  // namespace ridge
