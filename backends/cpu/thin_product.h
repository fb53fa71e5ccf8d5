// Products with few rows, such as one token's, where reading the right operand
// is all that takes time: it is read once, in order, in the type it has.
#ifndef RIDGE_BACKENDS_CPU_THIN_PRODUCT_H_
#define RIDGE_BACKENDS_CPU_THIN_PRODUCT_H_

#include <cstdint>

namespace ridge {

// Rows of the left operand up to which this pays.
inline constexpr int64_t kThinRows = 8;

// d[m,n] = a[m,k] b[k,n], or b[n,k] if it is transposed; b is bf16 (as
// uint16_t) or float. Sums are taken in float: 256 terms at a time, then these.
template <typename B>
struct ThinProduct {
  int64_t m, n, k;  // m <= kThinRows, n <= ThinColumns
  const float* a;   // rows of k
  const B* b;
  int64_t ldb;
  bool transpose_b;
  float* d;  // rows of n
};

// Columns of one call such that accumulators stay in the first-level cache.
int64_t ThinColumns(int64_t m, int64_t n);

void MultiplyThin(const ThinProduct<uint16_t>& product);
void MultiplyThin(const ThinProduct<float>& product);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_THIN_PRODUCT_H_
