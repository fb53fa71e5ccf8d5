#define Eigen EigenAvx2
#define RIDGE_MULTIPLY MultiplyAvx2
#include "backends/cpu/gemm_block.inc"
