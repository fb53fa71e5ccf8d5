#include "hlo/base/matrix_block.inc"

namespace ridge {
namespace {

bool HasAvx2() {
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

}  // namespace

void MultiplyBlock(const MatrixBlock<float>& block) {
  HasAvx2() ? internal::MultiplyBlockAvx2(block) : Multiply(block);
}
void MultiplyBlock(const MatrixBlock<double>& block) {
  HasAvx2() ? internal::MultiplyBlockAvx2(block) : Multiply(block);
}
void MultiplyBlock(const MatrixBlock<std::complex<float>>& block) {
  Multiply(block);
}
void MultiplyBlock(const MatrixBlock<std::complex<double>>& block) {
  Multiply(block);
}
void MultiplyBlock(const MatrixBlock<uint32_t>& block) { Multiply(block); }
void MultiplyBlock(const MatrixBlock<uint64_t>& block) { Multiply(block); }

}  // namespace ridge
