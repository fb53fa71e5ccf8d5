// Matrix products through Eigen, or, with few rows, MultiplyThin.
#ifndef RIDGE_BACKENDS_CPU_GEMM_H_
#define RIDGE_BACKENDS_CPU_GEMM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/kernel/gemm.h"

namespace ridge {

// Runs `step` on physical matrices: A, B, then C where beta is not 0, then the
// bias where there is one; then D. Float types narrower than f32 are widened
// to it, and sums are kept in it; integers wrap in the result's width. Threads
// share rows and batches. Unimplemented, naming the types, where there is no
// such product.
absl::Status RunGemm(const GemmStep& step, const void* const* inputs,
                     void* output);

// OK if RunGemm can serve the types.
absl::Status CheckGemm(const GemmStep& step);

// How RunGemm computes it, for reports: "eigen" or "thin".
absl::string_view GemmSchedule(const GemmStep& step);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_GEMM_H_
