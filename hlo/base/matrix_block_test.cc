#include "hlo/base/matrix_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ridge {
namespace {

template <typename T>
class MatrixBlockTest : public ::testing::Test {};

using Types = ::testing::Types<float, double, std::complex<float>,
                               std::complex<double>, uint32_t, uint64_t>;
TYPED_TEST_SUITE(MatrixBlockTest, Types);

// Small integers, so that every sum is exact in every type.
template <typename T>
std::vector<T> Numbers(int64_t count, uint32_t state) {
  std::vector<T> numbers(count);
  for (T& x : numbers) {
    state = state * 1664525u + 1013904223u;
    x = T((state >> 24) % 9) - T(4);
  }
  return numbers;
}

template <typename T>
T At(const T* data, int64_t stride, bool transposed, int64_t i, int64_t j) {
  return transposed ? data[j * stride + i] : data[i * stride + j];
}

TYPED_TEST(MatrixBlockTest, EqualsTheSumsOfProducts) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size& s :
       {Size{1, 1, 1}, Size{1, 9, 5}, Size{7, 1, 33}, Size{1, 1, 70},
        Size{5, 3, 2}, Size{17, 19, 23}, Size{66, 35, 130}, Size{3, 4, 0}}) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      MatrixBlock<TypeParam> block;
      block.m = s.m;
      block.n = s.n;
      block.k = s.k;
      block.transpose_a = (transposes & 1) != 0;
      block.transpose_b = (transposes & 2) != 0;
      // Rows lie further apart than they are long.
      block.lda = (block.transpose_a ? s.m : s.k) + 3;
      block.ldb = (block.transpose_b ? s.k : s.n) + 2;
      block.ldd = s.n + 1;
      const std::vector<TypeParam> a =
          Numbers<TypeParam>(block.lda * std::max(s.m, s.k), 1);
      const std::vector<TypeParam> b =
          Numbers<TypeParam>(block.ldb * std::max(s.k, s.n), 2);
      std::vector<TypeParam> d(block.ldd * s.m, TypeParam(77));
      block.a = a.data();
      block.b = b.data();
      block.d = d.data();
      MultiplyBlock(block);
      for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < s.n; ++j) {
          TypeParam sum(0);
          for (int64_t p = 0; p < s.k; ++p) {
            sum += At(block.a, block.lda, block.transpose_a, i, p) *
                   At(block.b, block.ldb, block.transpose_b, p, j);
          }
          ASSERT_EQ(d[i * block.ldd + j], sum)
              << s.m << "x" << s.n << "x" << s.k << " transposes " << transposes
              << " at " << i << "," << j;
        }
        EXPECT_EQ(d[i * block.ldd + s.n], TypeParam(77)) << "beyond row " << i;
      }
    }
  }
}

TEST(MatrixBlockBitsTest, DoNotHangOnWhereTheMatricesLie) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size& s : {Size{13, 4, 1}, Size{3, 9, 5}, Size{5, 5, 9},
                        Size{1, 17, 31}, Size{19, 1, 33}, Size{21, 18, 40}}) {
    auto product = [&](int64_t shift_a, int64_t shift_b, int64_t shift_d) {
      // Fractions whose products round; every third a negative zero.
      auto fill = [](int64_t count, int64_t shift) {
        std::vector<float> x(count + shift);
        for (int64_t i = 0; i < count; ++i) {
          x[i + shift] = i % 3 == 2 ? -0.0f : 1.0f / static_cast<float>(i + 3);
        }
        return x;
      };
      const std::vector<float> a = fill(s.m * s.k, shift_a);
      const std::vector<float> b = fill(s.k * s.n, shift_b);
      std::vector<float> d(s.m * s.n + shift_d);
      MatrixBlock<float> block = {s.m,
                                  s.n,
                                  s.k,
                                  a.data() + shift_a,
                                  s.k,
                                  false,
                                  b.data() + shift_b,
                                  s.n,
                                  false,
                                  d.data() + shift_d,
                                  s.n};
      MultiplyBlock(block);
      std::vector<uint32_t> bits(s.m * s.n);
      std::memcpy(bits.data(), d.data() + shift_d, bits.size() * 4);
      return bits;
    };
    const std::vector<uint32_t> first = product(0, 0, 0);
    for (int64_t shift = 1; shift < 8; ++shift) {
      EXPECT_EQ(product(shift, 0, 0), first) << s.m << " a at " << shift;
      EXPECT_EQ(product(0, shift, 0), first) << s.m << " b at " << shift;
      EXPECT_EQ(product(0, 0, shift), first) << s.m << " d at " << shift;
    }
  }
}

}  // namespace
}  // namespace ridge
