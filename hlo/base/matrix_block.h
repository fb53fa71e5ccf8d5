// Products of matrices that lie row-major in memory, on the caller's thread.
#ifndef RIDGE_HLO_BASE_MATRIX_BLOCK_H_
#define RIDGE_HLO_BASE_MATRIX_BLOCK_H_

#include <complex>
#include <cstdint>

namespace ridge {

// d[m,n] = a[m,k] b[k,n]; a transposed operand is stored as [k,m] or [n,k].
// Leading dimensions (the distance between rows as stored) are in elements.
template <typename T>
struct MatrixBlock {
  int64_t m, n, k;
  const T* a;
  int64_t lda;
  bool transpose_a;
  const T* b;
  int64_t ldb;
  bool transpose_b;
  T* d;
  int64_t ldd;
};

// Blocked for the caches; float and double use AVX2 and FMA where the
// processor has them. Sums are taken in T, in an order that depends on the
// sizes and the processor; integers wrap.
void MultiplyBlock(const MatrixBlock<float>& block);
void MultiplyBlock(const MatrixBlock<double>& block);
void MultiplyBlock(const MatrixBlock<std::complex<float>>& block);
void MultiplyBlock(const MatrixBlock<std::complex<double>>& block);
void MultiplyBlock(const MatrixBlock<uint32_t>& block);
void MultiplyBlock(const MatrixBlock<uint64_t>& block);

namespace internal {
// Only where the processor has AVX2 and FMA (matrix_block_avx2.cc).
void MultiplyBlockAvx2(const MatrixBlock<float>& block);
void MultiplyBlockAvx2(const MatrixBlock<double>& block);
}  // namespace internal

}  // namespace ridge

#endif  // RIDGE_HLO_BASE_MATRIX_BLOCK_H_
