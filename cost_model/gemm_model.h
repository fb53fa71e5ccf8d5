// The price of a matrix product run by the library.
#ifndef RIDGE_COST_MODEL_GEMM_MODEL_H_
#define RIDGE_COST_MODEL_GEMM_MODEL_H_

#include "backends/kernel/gemm.h"
#include "cost_model/device.h"
#include "cost_model/price.h"

namespace ridge {

// max(compute, memory) + launch.
// - compute: 2*batch*m*n*k over the matrix rate the device reaches, times the
//   loss from whole tiles and whole waves: the best over the tile shapes that
//   libraries carry (128x256, 128x128, 64x64 and the like), each with the share
//   of the full rate that its size can reach.
// - memory: A, B, C and bias read once, D written once.
Price PriceGemm(const GemmStep& gemm, const DeviceDescription& device,
                const PriceOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_COST_MODEL_GEMM_MODEL_H_
