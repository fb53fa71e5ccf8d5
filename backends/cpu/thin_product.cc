#include "backends/cpu/thin_product.h"

#include <algorithm>
#include <cstring>

namespace ridge {
namespace {

constexpr int64_t kTerms = 256;         // summed before they join the result
constexpr int64_t kMostColumns = 4096;  // of all rows together: 16 kB
constexpr int kLanes = 8;

#define RIDGE_INLINE inline __attribute__((always_inline))

RIDGE_INLINE float Widen(float x) { return x; }
RIDGE_INLINE float Widen(uint16_t x) {
  const uint32_t bits = static_cast<uint32_t>(x) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// part[0..n) += a[0..4) times four rows of b.
template <typename B>
RIDGE_INLINE void AddFour(const float* a, const B* __restrict b, int64_t ldb,
                          int64_t n, float* __restrict part) {
  const float a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  const B* __restrict b1 = b + ldb;
  const B* __restrict b2 = b + 2 * ldb;
  const B* __restrict b3 = b + 3 * ldb;
  for (int64_t j = 0; j < n; ++j) {
    part[j] += (a0 * Widen(b[j]) + a1 * Widen(b1[j])) +
               (a2 * Widen(b2[j]) + a3 * Widen(b3[j]));
  }
}

template <typename B>
RIDGE_INLINE void Columns(const ThinProduct<B>& g) {
  float part[kMostColumns];
  std::fill_n(g.d, g.m * g.n, 0.0f);
  for (int64_t begin = 0; begin < g.k; begin += kTerms) {
    const int64_t end = std::min(begin + kTerms, g.k);
    std::fill_n(part, g.m * g.n, 0.0f);
    int64_t p = begin;
    for (; p + 4 <= end; p += 4) {
      for (int64_t i = 0; i < g.m; ++i) {
        AddFour(g.a + i * g.k + p, g.b + p * g.ldb, g.ldb, g.n, part + i * g.n);
      }
    }
    for (; p < end; ++p) {
      for (int64_t i = 0; i < g.m; ++i) {
        const float x = g.a[i * g.k + p];
        const B* __restrict b = g.b + p * g.ldb;
        float* __restrict row = part + i * g.n;
        for (int64_t j = 0; j < g.n; ++j) row[j] += x * Widen(b[j]);
      }
    }
    for (int64_t j = 0; j < g.m * g.n; ++j) g.d[j] += part[j];
  }
}

// The sum of x[p] b[p], in lanes.
RIDGE_INLINE float Dot(const float* __restrict x, const float* __restrict b,
                       int64_t count) {
  float lanes[4 * kLanes] = {};
  int64_t p = 0;
  for (; p + 4 * kLanes <= count; p += 4 * kLanes) {
    for (int l = 0; l < 4 * kLanes; ++l) lanes[l] += x[p + l] * b[p + l];
  }
  float sum = 0;
  for (; p < count; ++p) sum += x[p] * b[p];
  for (int width = 2 * kLanes; width >= 1; width /= 2) {
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  }
  return sum + lanes[0];
}

template <typename B>
RIDGE_INLINE void Rows(const ThinProduct<B>& g) {
  float wide[kTerms];
  for (int64_t j = 0; j < g.n; ++j) {
    for (int64_t i = 0; i < g.m; ++i) g.d[i * g.n + j] = 0;
    for (int64_t begin = 0; begin < g.k; begin += kTerms) {
      const int64_t count = std::min(kTerms, g.k - begin);
      const B* __restrict b = g.b + j * g.ldb + begin;
      for (int64_t p = 0; p < count; ++p) wide[p] = Widen(b[p]);
      for (int64_t i = 0; i < g.m; ++i) {
        g.d[i * g.n + j] += Dot(g.a + i * g.k + begin, wide, count);
      }
    }
  }
}

template <typename B>
RIDGE_INLINE void Multiply(const ThinProduct<B>& g) {
  g.transpose_b ? Rows(g) : Columns(g);
}

#if defined(__x86_64__)
#define RIDGE_AVX2 __attribute__((target("avx2,fma")))
RIDGE_AVX2 void MultiplyAvx2(const ThinProduct<uint16_t>& g) { Multiply(g); }
RIDGE_AVX2 void MultiplyAvx2(const ThinProduct<float>& g) { Multiply(g); }
#endif

template <typename B>
void Dispatch(const ThinProduct<B>& g) {
#if defined(__x86_64__)
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has) return MultiplyAvx2(g);
#endif
  Multiply(g);
}

}  // namespace

int64_t ThinColumns(int64_t m, int64_t n) {
  // Two or more blocks, so that threads share them; whole cache lines.
  const int64_t half = ((n + 1) / 2 + 63) / 64 * 64;
  return std::min(kMostColumns / std::max<int64_t>(m, 1), half);
}

void MultiplyThin(const ThinProduct<uint16_t>& g) { Dispatch(g); }
void MultiplyThin(const ThinProduct<float>& g) { Dispatch(g); }

}  // namespace ridge
