// Compiled with -mavx2 -mfma; called only where the processor has both.
#define Eigen EigenAvx2
#include "hlo/base/matrix_block.inc"

namespace ridge {
namespace internal {

void MultiplyBlockAvx2(const MatrixBlock<float>& block) { Multiply(block); }
void MultiplyBlockAvx2(const MatrixBlock<double>& block) { Multiply(block); }

}  // namespace internal
}  // namespace ridge
