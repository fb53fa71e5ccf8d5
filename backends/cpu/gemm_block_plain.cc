#define RIDGE_MULTIPLY MultiplyPlain
#include "backends/cpu/gemm_block.inc"
