// One block of a matrix product, compiled twice: for any x86-64 processor, and
// for those with AVX2 and FMA. Row-major: d[m,n] = a[m,k] b[k,n], where a
// transposed operand is stored as [k,m] or [n,k]. Leading dimensions are in
// elements.
#ifndef RIDGE_BACKENDS_CPU_GEMM_BLOCK_H_
#define RIDGE_BACKENDS_CPU_GEMM_BLOCK_H_

#include <cstdint>

namespace ridge {

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

void MultiplyPlain(const MatrixBlock<float>& block);
void MultiplyPlain(const MatrixBlock<double>& block);
void MultiplyAvx2(const MatrixBlock<float>& block);
void MultiplyAvx2(const MatrixBlock<double>& block);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_GEMM_BLOCK_H_
