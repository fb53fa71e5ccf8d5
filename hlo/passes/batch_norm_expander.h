// Batch norms become reductions and elementwise instructions.
//
//   training   mean = sum(x)/n, var = sum((x - mean)^2)/n,
//              y = (x - mean) * rsqrt(var + epsilon) * scale + offset
//   inference  the last line, mean and variance given
//   grad       with t = rsqrt(var + epsilon), d = sum(dy),
//              s = sum(dy * (x - mean)):
//              dx = scale * t * (dy - (d + (x - mean) * t^2 * s) / n),
//              dscale = s * t, doffset = d
//
// (XLA's definition: xla/service/batchnorm_expander.cc.) Types narrower than
// f32 are computed in f32, as the evaluator does, so results agree to rounding.
#ifndef RIDGE_HLO_PASSES_BATCH_NORM_EXPANDER_H_
#define RIDGE_HLO_PASSES_BATCH_NORM_EXPANDER_H_

#include "absl/status/statusor.h"
#include "hlo/passes/pass.h"

namespace ridge {

absl::StatusOr<bool> ExpandBatchNorms(Module* module,
                                      const PassOptions& options);

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_BATCH_NORM_EXPANDER_H_
